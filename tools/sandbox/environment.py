"""The small, fixed environment of a command. Nothing of the server's own is passed on."""

from __future__ import annotations

from collections.abc import Mapping

SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
USER = "agent"


def build_environment(
    *, home: str, tmp: str, path: str, extra: Mapping[str, str]
) -> dict[str, str]:
    """Build the environment of a command, `extra` last."""
    return {
        "PATH": path,
        "HOME": home,
        "TMPDIR": tmp,
        "USER": USER,
        "LOGNAME": USER,
        "SHELL": "/bin/bash",
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        # Nobody can answer a prompt or leave a pager.
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_PAGER": "cat",
        # A folder with the files of a bare repository is none yet: its config names programs to
        # run, and no rule about commands sees those.
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "safe.bareRepository",
        "GIT_CONFIG_VALUE_0": "explicit",
        "PAGER": "cat",
        "DEBIAN_FRONTEND": "noninteractive",
        **extra,
    }
