"""Our own cost of a trivial turn: behind a long history, and with plugins that do nothing."""

from __future__ import annotations

import json
import subprocess
import sys

from bench.server import Server

TURNS = 10
_TIMEOUT_S = 300


def measure_history(server: Server, *, turns: int) -> dict[str, float]:
    """Returns: for each size `history<size>.statements` and `.ms`, medians of a turn."""
    return _run(server, f"from bench.turn_cost import measure_turns; measure_turns({turns})")


def measure_plugins(server: Server, *, turns: int) -> dict[str, float]:
    """Returns: what `bench.plugin_cost` prints."""
    return _run(server, f"from bench.plugin_cost import measure_plugins; measure_plugins({turns})")


def _run(server: Server, code: str) -> dict[str, float]:
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
