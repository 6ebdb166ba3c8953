"""What one command, with all that it starts, may use of the host."""

from __future__ import annotations

import signal
from dataclasses import dataclass, replace

from opencode_web.lib.reasons import Cause
from tools.sandbox.places import ANY_NUMBER, Places
from tools.sandbox.stop_reasons import StopReason

_MIB = 1024 * 1024
# What `ulimit -f` counts in.
_BLOCK_BYTES = 512
_SIGNALLED = 128
# How many more processes the kernel allows: the watchdog must see that there are too many, and say
# so, while the kernel keeps a bomb small.
MARGIN = 200


@dataclass(frozen=True)
class Limits:
    """Bounds of one command. The kernel keeps `file_bytes`, `watchdog.py` the rest but `places`."""

    memory_bytes: int = 4_096 * _MIB
    """Memory of all its processes together, and of what it keeps in /dev/shm."""
    processes: int = 1_024
    """Processes and threads at the same time."""
    cpu_s: int | None = 3_600
    """Processor time of all its processes together; None for what lasts, like a terminal."""
    file_bytes: int = 4_096 * _MIB
    """Size of one file."""
    home_bytes: int = 4_096 * _MIB
    """What the session may keep in its home and its /tmp."""
    free_disk_bytes: int = 512 * _MIB
    """What has to stay free on the disks that a command can write to."""
    places: Places = ANY_NUMBER
    """How many commands of its team may run beside it."""

    def lowered(self, *, memory_bytes: int | None, processes: int | None) -> Limits:
        """Get these limits with lower ones in their place; a higher one changes nothing."""
        return replace(
            self,
            memory_bytes=min(self.memory_bytes, memory_bytes or self.memory_bytes),
            processes=min(self.processes, processes or self.processes),
        )


def shell_limits(limits: Limits) -> str:
    """Build the shell commands that set what the kernel keeps for each single process."""
    processes = limits.processes + MARGIN
    lines = [
        "ulimit -c 0",
        f"ulimit -f {limits.file_bytes // _BLOCK_BYTES} 2>/dev/null",
        # dash spells the process limit -p. It holds for the whole sandbox; before Linux 5.14 for
        # all processes of the user, the server's too; for root never: see process_cap.py.
        f"{{ ulimit -u {processes} || ulimit -p {processes}; }} 2>/dev/null",
        # The kernel is to end a command before it ends the server.
        "echo 500 2>/dev/null >/proc/self/oom_score_adj",
    ]
    if limits.cpu_s is not None:
        # At the hard limit comes a kill, which tells nothing.
        lines.append(f"{{ ulimit -Ht {limits.cpu_s + 5}; ulimit -St {limits.cpu_s}; }} 2>/dev/null")
    return "; ".join(lines)


def exceeded(code: int | None, limits: Limits) -> Cause | None:
    """Tell from an exit code which of the kernel's limits ended a command, if one did."""
    if code == _SIGNALLED + signal.SIGXFSZ:
        return StopReason.FILE.over_bytes(limits.file_bytes)
    if code == _SIGNALLED + signal.SIGXCPU and limits.cpu_s is not None:
        return StopReason.PROCESSOR.over(limits.cpu_s)
    return None
