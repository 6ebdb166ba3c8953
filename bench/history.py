"""Our own cost of a trivial turn behind a long history, measured by `bench.turn_cost`."""

from __future__ import annotations

import json
import subprocess
import sys

from bench.server import Server

TURNS = 10
_TIMEOUT_S = 300


def measure_history(server: Server, *, turns: int) -> dict[str, float]:
    """Returns: for each size `history<size>.statements` and `.ms`, medians of a turn."""
    code = f"from bench.turn_cost import measure_turns; measure_turns({turns})"
    done = subprocess.run(
        [sys.executable, "manage.py", "shell", "--no-imports", "-c", code],
        cwd=server.cwd,
        env=server.env,
        capture_output=True,
        text=True,
        timeout=_TIMEOUT_S,
    )
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    found: dict[str, float] = json.loads(done.stdout.strip().splitlines()[-1])
    return found
