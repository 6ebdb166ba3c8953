"""Many sessions at once, each with a three-step turn: read, grep, text."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass

from bench.api import Api, Json
from bench.processes import Child
from bench.stats import median

# Sessions at once, and how often.
LEVELS = ((1, 10), (10, 3), (50, 1))


@dataclass(frozen=True)
class Parallel:
    """Units: seconds, bytes. `turn_s` is the median of the single turns."""

    sessions: int
    turns_per_s: float
    turn_s: float
    cpu_s: float
    rss: int
    errors: tuple[str, ...]


async def measure_parallel(
    api: Api, child: Child, *, file: str, sessions: int, rounds: int
) -> Parallel:
    walls: list[float] = []
    errors: list[str] = []
    wall, cpu, rss = 0.0, 0.0, 0
    for _ in range(rounds):
        ids = [await api.create_session() for _ in range(sessions)]
        await child.settle()
        before, started = child.cpu_s(), time.monotonic()
        results = await asyncio.gather(*(_turn(api, one, file) for one in ids))
        wall += time.monotonic() - started
        rss = max(rss, child.memory().rss)
        await child.settle()
        cpu += child.cpu_s() - before
        walls += [took for took, _ in results]
        errors += [error for _, error in results if error]
        errors += [error for one in ids if (error := _problem(await api.messages(one)))]
    turns = sessions * rounds
    return Parallel(sessions, turns / wall, median(walls), cpu / turns, rss, tuple(errors))


async def _turn(api: Api, session: str, file: str) -> tuple[float, str]:
    started = time.monotonic()
    error = ""
    try:
        await api.prompt(session, f"BENCH steps {file}")
    except (OSError, RuntimeError, TimeoutError) as exc:
        error = f"{type(exc).__name__} {exc}"
    return time.monotonic() - started, error


def _problem(messages: list[Json]) -> str:
    """What is missing in a finished turn; empty when it is whole."""
    parts = [part for message in messages for part in message["parts"]]
    tools = [f"{one['tool']} {one['state']['status']}" for one in parts if one["type"] == "tool"]
    if tools != ["read completed", "grep completed"]:
        return f"tools: {tools}"
    last = messages[-1]["parts"]
    texts = [part["text"] for part in last if part["type"] == "text"]
    return "" if texts == ["Done."] else f"last text: {texts}"
