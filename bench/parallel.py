"""Many sessions at once, each with a three-step turn: read, grep, text."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from bench.api import Api, Json
from bench.processes import Child
from bench.repository import Repository
from bench.stats import median

T = TypeVar("T")

# Sessions at once, and how often.
LEVELS = ((1, 10), (10, 3), (100, 1))
# Sessions at once, each in a repository of its own.
REPOSITORIES = 50
# All turns of a round; the genuine program needs about a minute for 100 in one repository.
_ROUND_S = 150


class Unfinished(RuntimeError):
    """The turns of a round did not all end in time."""


@dataclass(frozen=True)
class TurnTarget:
    """Where one of the turns works."""

    api: Api
    file: str


@dataclass(frozen=True)
class Parallel:
    """Units: seconds, bytes. `turn_s` is the median of the single turns."""

    turns_per_s: float
    turn_s: float
    cpu_s: float
    rss: int
    errors: tuple[str, ...]


def targets_of(api: Api, repositories: Sequence[Repository]) -> list[TurnTarget]:
    return [TurnTarget(api.at(one.directory), one.file) for one in repositories]


async def measure_parallel(
    targets: Sequence[TurnTarget], child: Child, *, rounds: int = 1
) -> Parallel:
    """A fresh session in every place at once, each with one turn.

    Raises: Unfinished.
    """
    walls: list[float] = []
    errors: list[str] = []
    wall, cpu, rss = 0.0, 0.0, 0
    for _ in range(rounds):
        ids = await _in_time([target.api.create_session() for target in targets])
        await child.settle()
        before, started = child.cpu_s(), time.monotonic()
        results = await _in_time(
            [_turn(target, one) for target, one in zip(targets, ids, strict=True)]
        )
        wall += time.monotonic() - started
        rss = max(rss, child.memory().rss)
        await child.settle()
        cpu += child.cpu_s() - before
        walls += [took for took, _ in results]
        errors += [error for _, error in results if error]
        for target, one in zip(targets, ids, strict=True):
            if error := _problem(await target.api.messages(one)):
                errors.append(error)
    turns = len(targets) * rounds
    return Parallel(turns / wall, median(walls), cpu / turns, rss, tuple(errors))


async def _in_time(work: Sequence[Awaitable[T]]) -> list[T]:
    try:
        async with asyncio.timeout(_ROUND_S):
            return await asyncio.gather(*work)
    except TimeoutError as exc:
        raise Unfinished(f"does not finish within {_ROUND_S} s") from exc


async def _turn(target: TurnTarget, session: str) -> tuple[float, str]:
    started = time.monotonic()
    error = ""
    try:
        await target.api.prompt(session, f"BENCH steps {target.file}")
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
