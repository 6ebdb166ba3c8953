"""How much a process grows while a command of the tool bash prints far more than anybody reads.

    python -m bench.flood

Each command runs through the real tool and the real sandbox, in a process of its own.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from bench.ours import ROOT
from tests.fakes import FakeToolContext
from tools.sandbox.select import select_sandbox

BUDGET_MB = 50
COMMANDS: Mapping[str, str] = {
    "2 GB without a line end": "head -c 2G /dev/zero | tr '\\0' x",
    "2 GB of short lines": "yes | head -c 2G",
    "2 GB of characters of three bytes": "yes € | head -c 2G",
}
# A flood is slowed down, so it is cut off by this rather than by its end.
TIMEOUT_S = 20
_LOOK_S = 0.02


@dataclass
class _Peak:
    process: psutil.Process = field(default_factory=psutil.Process)
    most: int = 0

    async def watch(self) -> None:
        while True:
            self.most = max(self.most, self.process.memory_info().rss)
            await asyncio.sleep(_LOOK_S)


class _Unwatched(FakeToolContext):
    """Nobody looks on, so nothing of the live output is remembered."""

    async def progress(self, *, title: str | None = None, metadata: object = None) -> None: ...


async def measure_flood(command: str) -> float:
    """Returns: MB that this process has grown by at most while it ran the command."""
    with tempfile.TemporaryDirectory() as work:
        root = Path(work)
        for name in ("project", "outputs", "session"):
            (root / name).mkdir()
        sandbox = select_sandbox(
            worktree=root / "project",
            session_dir=root / "session",
            network=False,
            allow_unsafe=False,
            hidden=(),
        )
        context = _Unwatched(
            worktree=root / "project", output_dir=root / "outputs", sandbox=sandbox
        )
        await context.call("bash", command="echo warm")
        peak = _Peak()
        before = peak.process.memory_info().rss
        watching = asyncio.create_task(peak.watch())
        await context.call("bash", command=command, timeout=TIMEOUT_S * 1000)
        watching.cancel()
        return max(0, peak.most - before) / 1024 / 1024


def main() -> None:
    """Measure every command, each in a fresh process, and print what came."""
    if sys.argv[1:]:
        print(f"{asyncio.run(measure_flood(COMMANDS[sys.argv[1]])):.1f}")
        return
    for title in COMMANDS:
        done = subprocess.run(
            [sys.executable, "-m", "bench.flood", title],
            cwd=ROOT,
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        )
        print(f"{title}: {done.stdout.strip()} MB more (budget {BUDGET_MB} MB)", flush=True)


if __name__ == "__main__":
    main()
