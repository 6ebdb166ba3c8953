"""Child processes with everything below them: what they use, and that they end."""

from __future__ import annotations

import asyncio
import ctypes
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

_STOP_S = 20
_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True)
class Memory:
    """Units: bytes, over all processes. `pss` counts shared pages once; None where unknown."""

    rss: int
    pss: int | None


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


class Child:
    """A server with its descendants. `others` names processes that work for it elsewhere."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        env: Mapping[str, str],
        cwd: Path,
        log: Path,
        others: Callable[[], list[psutil.Process]] = list,
    ) -> None:
        self.log = log
        self._others = others
        self._known: dict[int, psutil.Process] = {}
        with log.open("ab") as output:
            self.process = subprocess.Popen(
                command,
                cwd=cwd,
                env=dict(env),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=_die_with_parent if sys.platform == "linux" else None,
            )

    @property
    def is_running(self) -> bool:
        return self.process.poll() is None

    def tree(self) -> list[psutil.Process]:
        try:
            root = psutil.Process(self.process.pid)
            found = [root, *root.children(recursive=True)]
        except psutil.NoSuchProcess:
            return []
        self._known.update({one.pid: one for one in found})
        return [*found, *self._others()]

    def cpu_s(self) -> float:
        """CPU seconds so far, with those of descendants that have ended."""
        total = 0.0
        for one in self.tree():
            try:
                times = one.cpu_times()
            except psutil.NoSuchProcess:
                continue
            total += times.user + times.system + times.children_user + times.children_system
        return total

    def memory(self) -> Memory:
        rss, pss = 0, 0
        complete = True
        for one in self.tree():
            try:
                rss += one.memory_info().rss
                pss += one.memory_full_info().pss
            except (psutil.AccessDenied, AttributeError):
                complete = False
            except psutil.NoSuchProcess:
                continue
        return Memory(rss, pss if complete else None)

    def worker_rss(self) -> int:
        """Bytes that our worker holds: its own process, or the only one that there is."""
        tree = self.tree()
        workers = [one for one in tree if one.name().startswith("ocw-worker")]
        return sum(one.memory_info().rss for one in workers or tree[:1])

    async def settle(self, *, quiet_s: float = 0.75, timeout_s: float = 30) -> None:
        """Wait until the processes have had nothing to do for a moment."""
        deadline = time.monotonic() + timeout_s
        last = self.cpu_s()
        while time.monotonic() < deadline:
            await asyncio.sleep(quiet_s)
            now = self.cpu_s()
            if now - last < 0.06 * quiet_s:
                return
            last = now

    async def stop(self) -> None:
        """SIGTERM, then SIGKILL to whatever is left."""
        self.tree()
        if self.is_running:
            self.process.terminate()
            deadline = time.monotonic() + _STOP_S
            while self.is_running and time.monotonic() < deadline:
                await asyncio.sleep(0.05)
        self.kill()

    def kill(self) -> None:
        """End everything that was seen below this process. Safe to call twice."""
        for one in self._known.values():
            try:
                # `is_running` compares start times too, so a number used again is left alone.
                if one.is_running():
                    one.kill()
            except psutil.NoSuchProcess:
                continue
        if self.is_running:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(5)
