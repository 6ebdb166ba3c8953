"""Single turns: what a person waits for, and how much of it is the server's own time."""

from __future__ import annotations

import time
from dataclasses import dataclass

from bench.api import Api, Events, Json
from bench.processes import Child
from bench.stats import median, percentile

TRIVIAL = 50
DELTAS = 20
WARM_UP = 3
# The same answer from the provider that plays scripts inside our own process.
INLINE_MODEL = {"providerID": "demo", "modelID": "inline"}
INLINE_TEXT = '<<script {"turns": [[{"events": [{"text": "Done."}]}]]} >>'


@dataclass(frozen=True)
class Trivial:
    """Units: milliseconds of wall time, CPU seconds of all processes per turn."""

    p50_ms: float
    p95_ms: float
    cpu_s: float


@dataclass(frozen=True)
class Deltas:
    """Units: milliseconds, medians. The two `own` figures leave the model's time out."""

    first_delta_ms: float
    own_before_ms: float
    own_after_ms: float


def _check(answer: Json) -> None:
    texts = [part.get("text") for part in answer["parts"] if part["type"] == "text"]
    if texts != ["Done."]:
        raise RuntimeError(f"not the scripted answer: {str(answer)[:400]}")


async def measure_trivial(
    api: Api, child: Child, *, fresh: bool, inline: bool = False, count: int = TRIVIAL
) -> Trivial:
    """Turns one after the other, each in a session of its own or all in one."""
    model, text = (INLINE_MODEL, INLINE_TEXT) if inline else (None, "BENCH text")
    session = await api.create_session()
    for _ in range(WARM_UP):
        _check(await api.prompt(session, text, model=model))
    sessions = [await api.create_session() if fresh else session for _ in range(count)]
    await child.settle()
    cpu = child.cpu_s()
    walls = []
    for one in sessions:
        started = time.monotonic()
        answer = await api.prompt(one, text, model=model)
        walls.append((time.monotonic() - started) * 1000)
        _check(answer)
    # What a server does after its answer is part of the turn's price.
    await child.settle()
    used = child.cpu_s() - cpu
    return Trivial(median(walls), percentile(walls, 0.95), used / count)


async def measure_deltas(api: Api, *, inline: bool = False, count: int = DELTAS) -> Deltas:
    """Prompt without waiting and follow the event stream."""
    async with api.events() as events:
        for _ in range(WARM_UP):
            await _one(api, events, inline=inline)
        rows = [await _one(api, events, inline=inline) for _ in range(count)]
    first, before, after = zip(*rows, strict=True)
    return Deltas(median(first), median(before), median(after))


async def _one(api: Api, events: Events, *, inline: bool) -> tuple[float, float, float]:
    session = await api.create_session()
    model, text = (INLINE_MODEL, INLINE_TEXT) if inline else (None, "BENCH stamp")
    started = time.monotonic_ns()
    await api.prompt_async(session, text, model=model)
    arrived, delta = await events.wait_for(session, "message.part.delta")
    idle, _ = await events.wait_for(session, "session.idle")
    received, sent = (0, arrived) if inline else _stamps(delta)
    model_ns = 0 if inline else sent - received
    first = arrived - started
    return first / 1e6, (first - model_ns) / 1e6, (idle - sent) / 1e6


def _stamps(delta: Json) -> tuple[int, int]:
    """When the endpoint got the request and when the chunk left."""
    _, received, sent = str(delta["delta"]).split("@")
    return int(received), int(sent)
