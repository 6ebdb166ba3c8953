"""From the start of the process to answers, and what it then holds."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import aiohttp

from bench.api import Api, connect
from bench.processes import Child, Memory
from bench.server import Server
from bench.stats import median

RUNS = 5
TURNS = 20
_START_S = 60
_POLL_S = 0.01
# A request that reaches the genuine server between bind and listen is never answered.
_PROBE = aiohttp.ClientTimeout(total=2)


class StartFailed(Exception):
    pass


@dataclass(frozen=True)
class Startup:
    """Units: seconds, medians. `turn_s` is from the start to the first prompt's whole answer."""

    health_s: float
    health_cpu_s: float
    page_s: float
    turn_s: float
    turn_cpu_s: float
    idle: Memory
    settled_cpu_s: float
    # After so many turns as `TURNS`, each in a session of its own.
    used: Memory


async def _answers(http: aiohttp.ClientSession, url: str, child: Child) -> None:
    deadline = time.monotonic() + _START_S
    while time.monotonic() < deadline:
        if not child.is_running:
            raise StartFailed(child.log.read_text(errors="replace")[-2000:])
        try:
            async with http.get(url, timeout=_PROBE) as answer:
                await answer.read()
                if answer.status == 200:
                    return
        except (aiohttp.ClientError, TimeoutError):
            await asyncio.sleep(_POLL_S)
    raise StartFailed(f"{url} did not answer within {_START_S} s")


@asynccontextmanager
async def running(server: Server) -> AsyncIterator[tuple[Child, Api]]:
    """Start a server, wait until it answers and is idle, and end it."""
    child = server.start()
    try:
        async with connect(server.address) as api:
            await _answers(api.http, f"{server.address.url}/global/health", child)
            await child.settle()
            yield child, api
    finally:
        await child.stop()


async def _until_page(server: Server) -> tuple[float, float, float]:
    """Returns: seconds to the first healthy answer, its CPU seconds, seconds to the first page."""
    started = time.monotonic()
    child = server.start()
    try:
        async with aiohttp.ClientSession() as http:
            await _answers(http, f"{server.address.url}/global/health", child)
            health, cpu = time.monotonic() - started, child.cpu_s()
            await _answers(http, server.address.url + server.page, child)
        return health, cpu, time.monotonic() - started
    finally:
        await child.stop()


async def _until_turn(server: Server) -> tuple[float, float]:
    started = time.monotonic()
    child = server.start()
    try:
        async with connect(server.address) as api:
            await _answers(api.http, f"{server.address.url}/global/health", child)
            await api.prompt(await api.create_session(), "BENCH text")
        return time.monotonic() - started, child.cpu_s()
    finally:
        await child.stop()


async def _memory(server: Server) -> tuple[Memory, float, Memory]:
    """Returns: what it holds when idle, its CPU seconds until then, and what it holds later."""
    async with running(server) as (child, api):
        # What starts a little later than the first page counts as part of an idle server.
        await asyncio.sleep(5)
        await child.settle()
        idle, cpu = child.memory(), child.cpu_s()
        for _ in range(TURNS):
            await api.prompt(await api.create_session(), "BENCH text")
        await child.settle()
        return idle, cpu, child.memory()


async def measure_startup(server: Server, *, runs: int = RUNS) -> Startup:
    await _until_turn(server)  # warms the disk and makes what is made once; not counted
    pages = [await _until_page(server) for _ in range(runs)]
    turns = [await _until_turn(server) for _ in range(max(1, runs - 2))]
    idle, cpu, used = await _memory(server)
    return Startup(
        health_s=median([health for health, _, _ in pages]),
        health_cpu_s=median([cpu for _, cpu, _ in pages]),
        page_s=median([page for _, _, page in pages]),
        turn_s=median([wall for wall, _ in turns]),
        turn_cpu_s=median([cpu for _, cpu in turns]),
        idle=idle,
        settled_cpu_s=cpu,
        used=used,
    )
