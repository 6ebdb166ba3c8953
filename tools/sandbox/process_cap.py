"""A bound of the kernel on the processes of a sandbox, where its ordinary one does not bind.

RLIMIT_NPROC holds for a whole sandbox, because that has a user namespace of its own, but never for
root. Under a server that runs as root a command is root to the kernel, and a fork bomb would use up
the process numbers of the host before anything could be done about it. So there the numbers of
the sandbox's process namespace are bounded.

Source: kernel.pid_max has belonged to the process namespace since Linux 6.14; namespaces(7).
"""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
from pathlib import Path

from tools.sandbox.status import Status

# Numbers below are not given out again after the first round (RESERVED_PIDS of the kernel).
_RESERVED = 301
_SETTING = Path("/proc/sys/kernel/pid_max")
_WRITE = f'echo "$1" >{_SETTING}'
_TIMEOUT_S = 2


@functools.cache
def caps_processes() -> bool:
    """Whether `cap_processes` works here, tried for real. Blocks; asks for nothing but as root."""
    if os.getuid() != 0 or not shutil.which("nsenter") or not shutil.which("unshare"):
        return False
    host = _read_setting()
    # One less than the host's own: on an older kernel, where this is the host's, no harm is done.
    _call("unshare", "--pid", "--fork", "sh", "-c", _WRITE, "sh", str(host - 1))
    if _read_setting() == host:
        return True
    _SETTING.write_text(f"{host}\n", encoding="ascii")
    return False


def cap_processes(status: Status, count: int) -> None:
    """Bound the processes and threads of a sandbox to about `count`. Blocks for milliseconds."""
    try:
        namespace = os.open(f"/proc/{status.pid}/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return
    try:
        # Alive after it was opened: the namespace is that of the sandbox. Never the server's own.
        if status.alive and os.fstat(namespace).st_ino != Path("/proc/self/ns/pid").stat().st_ino:
            # A process number may be the host's by now; the open namespace is what it is.
            place = f"--pid=/proc/self/fd/{namespace}"
            _call("nsenter", place, "sh", "-c", _WRITE, "sh", str(_RESERVED + count), fd=namespace)
    finally:
        os.close(namespace)


def _read_setting() -> int:
    return int(_SETTING.read_text(encoding="ascii"))


def _call(*argv: str, fd: int | None = None) -> None:
    try:
        subprocess.run(  # noqa: S603  our own arguments
            argv,
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_TIMEOUT_S,
            check=False,
            pass_fds=() if fd is None else (fd,),
        )
    except (OSError, subprocess.TimeoutExpired):
        # Then the watchdog alone keeps the limit; `doctor` says so.
        return
