"""Run the server's own git commands: a clean environment, no hooks, no prompts, no system settings.

They run outside the sandbox, so they must never run inside a worktree whose `.git` somebody else
could have written: its config can name programs to start.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from django.conf import settings

from opencode_web.lib.errors import Unavailable

AUTHOR_NAME = "OpenCode Web"
AUTHOR_EMAIL = "opencode-web@localhost"
BRANCH = "main"
_TIMEOUT_S = 60
# Settings of every command, whatever the machine's own git configuration says.
_CONFIG = {
    "core.hooksPath": os.devnull,
    "core.fsmonitor": "false",
    "init.defaultBranch": BRANCH,
    "init.templateDir": "",
    "user.name": AUTHOR_NAME,
    "user.email": AUTHOR_EMAIL,
    "commit.gpgSign": "false",
    "gc.auto": "0",
    "protocol.allow": "never",
    "submodule.recurse": "false",
    # A redirect could lead to a host that was never judged, and takes a credential along.
    "http.followRedirects": "false",
    # A transfer below 1 kB/s for a minute counts as dead.
    "http.lowSpeedLimit": "1000",
    "http.lowSpeedTime": "60",
}
# Not git://, which proves nobody's identity and cannot be held to one address.
_PROTOCOLS = ("https", "http", "ssh")


def allowed_protocols() -> tuple[str, ...]:
    """Returns: the URL schemes that may be cloned."""
    return (*_PROTOCOLS, "file") if settings.GIT_ALLOW_FILE else _PROTOCOLS


def git_environment(
    config: Mapping[str, str] | None = None, *, ssh_options: tuple[str, ...] = ()
) -> dict[str, str]:
    """The whole environment of a git process. `config` values reach this one command only.

    They travel in the environment: an argument could be read by every user of the machine.
    """
    entries = {
        **_CONFIG,
        **{f"protocol.{name}.allow": "always" for name in allowed_protocols()},
        **(config or {}),
    }
    numbered = dict(enumerate(entries.items()))
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": os.devnull,
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "",
        "GIT_SSH_COMMAND": _ssh_command(ssh_options),
        "GIT_ALLOW_PROTOCOL": ":".join(allowed_protocols()),
        "GIT_CONFIG_COUNT": str(len(numbered)),
        **{f"GIT_CONFIG_KEY_{n}": key for n, (key, _) in numbered.items()},
        **{f"GIT_CONFIG_VALUE_{n}": value for n, (_, value) in numbered.items()},
        **_proxy_environment(),
    }


def _ssh_command(more: tuple[str, ...]) -> str:
    """Never the keys of the user who runs the server: only the one an operator gave for cloning."""
    known_hosts = settings.DATA_DIR / "known_hosts"
    options = (
        "BatchMode=yes",
        "StrictHostKeyChecking=accept-new",
        f'UserKnownHostsFile="{known_hosts}"',
        "IdentitiesOnly=yes",
        "IdentityAgent=none",
        f'IdentityFile="{settings.GIT_SSH_KEY or os.devnull}"',
        "ForwardAgent=no",
        "ConnectTimeout=20",
        *more,
    )
    return " ".join(["ssh -F /dev/null", *(f"-o '{option}'" for option in options)])


def _proxy_environment() -> dict[str, str]:
    """How this machine reaches the network, and the certificates it trusts."""
    names = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR")
    wanted = {*names, *(name.lower() for name in names), "GIT_SSL_CAINFO", "GIT_SSL_CAPATH"}
    return {name: value for name, value in os.environ.items() if name in wanted}


def _run(arguments: list[str], *, cwd: Path) -> None:
    try:
        done = subprocess.run(  # noqa: S603 - our own arguments, no shell
            ["git", *arguments],  # noqa: S607 - found on PATH on purpose
            cwd=cwd,
            env=git_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as exc:
        raise Unavailable(f"git could not run on this server: {exc}") from exc
    if done.returncode:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise Unavailable(f"git {arguments[0]} failed: {lines[-1] if lines else done.returncode}")


def init_repository(folder: Path) -> None:
    """Make `folder` a git repository without a commit. Raises: Unavailable."""
    _run(["init", "--quiet"], cwd=folder)


def commit_all(folder: Path, *, message: str) -> None:
    """Commit what is in a repository that this server has just made. Raises: Unavailable."""
    _run(["add", "--all"], cwd=folder)
    _run(["commit", "--quiet", "--allow-empty", "--message", message], cwd=folder)
