"""Limits that the kernel keeps for a whole command, where the operator has a cgroup to give.

Without one, `watchdog.py` measures and ends. With one, memory cannot be exceeded even for a moment,
and the processes of a server that runs as root are bounded on every kernel.

Source: Linux Documentation/admin-guide/cgroup-v2.rst; systemd.resource-control(5) on Delegate=.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from opencode_web.lib.reasons import Cause
from tools.sandbox.limits import MARGIN, Limits
from tools.sandbox.stop_reasons import StopReason

logger = logging.getLogger(__name__)

_NEEDED = ("memory", "pids")
# A process has ended for us a moment before it has left its group.
_REMOVE_TRIES = 20
_REMOVE_PAUSE_S = 0.01
# Run before bubblewrap: the shell moves itself, so all that follows is born in the group.
_JOIN = 'echo 0 >"$1/cgroup.procs" || exit 1; shift; exec "$@"'


class CgroupError(Exception):
    """The cgroup cannot be used. The message says why, and what it takes."""


@dataclass(frozen=True)
class Group:
    """The cgroup of one command."""

    path: Path
    limits: Limits

    def join(self, argv: tuple[str, ...]) -> tuple[str, ...]:
        """Get what starts `argv` in this group."""
        return ("/bin/sh", "-c", _JOIN, "sh", str(self.path), *argv)

    def exceeded(self) -> Cause | None:
        """Tell what the kernel has ended the command for, if for anything."""
        try:
            events = (self.path / "memory.events").read_text(encoding="ascii")
        except OSError:
            return None
        counts = dict(line.split() for line in events.splitlines())
        if int(counts.get("oom_kill", 0)):
            return StopReason.MEMORY.over_bytes(self.limits.memory_bytes)
        return None

    def remove(self) -> None:
        """Remove the group. Every process of the command must have ended."""
        for _ in range(_REMOVE_TRIES):
            try:
                self.path.rmdir()
            except FileNotFoundError:
                return
            except OSError:
                time.sleep(_REMOVE_PAUSE_S)
            else:
                return
        logger.warning("the cgroup %s could not be removed", self.path)


@contextlib.asynccontextmanager
async def open_group(parent: Path | None, limits: Limits) -> AsyncIterator[Group | None]:
    """Make a cgroup for a command, and remove it afterwards.

    Yields: None without a parent, or where none can be made: then the log says why.
    """
    group = None
    try:
        # Not in a thread: it takes a tenth of a millisecond, and a cancel could not undo it.
        group = None if parent is None else make_group(parent, limits)
    except CgroupError as exc:
        logger.warning("a command runs without a cgroup: %s", exc)
    try:
        yield group
    finally:
        if group is not None:
            await asyncio.to_thread(group.remove)


def make_group(parent: Path, limits: Limits) -> Group:
    """Make a cgroup with these limits below another.

    Raises: CgroupError.
    """
    group = Group(parent / f"sandbox-{secrets.token_hex(8)}", limits)
    settings = {
        "memory.max": str(limits.memory_bytes),
        # All of a command or nothing: a build without one of its compilers only puzzles.
        "memory.oom.group": "1",
        "pids.max": str(limits.processes + MARGIN),
    }
    try:
        _hand_down(parent)
        group.path.mkdir()
        for name, value in settings.items():
            (group.path / name).write_text(value, encoding="ascii")
    except OSError as exc:
        group.remove()
        raise CgroupError(
            f"{parent} cannot be used ({exc.strerror}). It has to be a cgroup v2 that belongs to "
            "this user, has the controllers memory and pids, and holds no process itself; of a "
            "systemd service with Delegate=yes and DelegateSubgroup=server it is the service's own"
        ) from exc
    # Absent on kernels without swap.
    with contextlib.suppress(OSError):
        (group.path / "memory.swap.max").write_text("0", encoding="ascii")
    return group


def _hand_down(parent: Path) -> None:
    control = parent / "cgroup.subtree_control"
    present = control.read_text(encoding="ascii").split()
    if missing := [f"+{name}" for name in _NEEDED if name not in present]:
        control.write_text(" ".join(missing), encoding="ascii")
