"""All measurements of one server, as a figure or the reason why there is none, by row."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from subprocess import SubprocessError

import aiohttp
import psutil
from playwright.async_api import Error as PlaywrightError

from bench.api import Api
from bench.browser import LOADS, chromium, measure_load, measure_long, measure_paint
from bench.growth import EARLY, LATE, measure_growth
from bench.history import TURNS, measure_history, measure_plugins
from bench.live import LONG_CHUNKS, measure_first_delta, measure_lag
from bench.navigation import measure_busy, measure_navigation
from bench.npm import Unavailable
from bench.parallel import (
    LEVELS,
    REPOSITORIES,
    TurnTarget,
    Unfinished,
    measure_parallel,
    targets_of,
)
from bench.processes import Child
from bench.requests import (
    CALLS,
    CLIENTS,
    MESSAGES,
    SESSIONS,
    make_document,
    measure_list,
    measure_page,
    measure_streams,
)
from bench.rows import ROWS
from bench.server import Server
from bench.startup import StartFailed, Startup, measure_startup, running
from bench.tool_calls import COUNT, measure_calls
from bench.turns import DELTAS, TRIVIAL, measure_deltas, measure_trivial

Values = dict[str, float | str]
FAULTS = (
    RuntimeError,
    OSError,
    SubprocessError,
    psutil.Error,
    TimeoutError,
    aiohttp.ClientError,
    StartFailed,
    KeyError,
    ValueError,
    Unavailable,
    PlaywrightError,
)
# A whole group of rows; the longest is 100 turns of the genuine program.
_GROUP_S = 420
_SHOWN_ERRORS = 5


@dataclass(frozen=True)
class Plan:
    """How much is measured. A quick run shows that it works; its figures are rough."""

    quick: bool = False
    # Just this group of rows; all of them without.
    only: str = ""

    def of(self, count: int) -> int:
        return max(1, count // 5) if self.quick else count


async def measure(server: Server, plan: Plan, say: Callable[[str], None]) -> Values:
    """Everything about one server, on fresh processes for each group."""
    values: Values = {}
    for group, rows in _GROUPS.items():
        if plan.only in ("", group):
            say(f"{server.title}: {group}")
            await rows(values, server, plan)
    if plan.only:
        return values
    say(f"{server.title}: start")
    async with _group(values, "start.", "idle.", "used."):
        values |= _of_startup(await measure_startup(server, runs=plan.of(5)))
    say(f"{server.title}: single turns")
    async with _group(values, "fresh.", "same.", "delta."), running(server) as (child, api):
        await _single_turns(values, api, child, plan)
    for sessions, rounds in LEVELS:
        say(f"{server.title}: {sessions} at once")
        async with _group(values, f"p{sessions}."), running(server) as (child, api):
            targets = targets_of(api, [server.repository] * sessions)
            await _warm_up(targets, child)
            values |= await _parallel(f"p{sessions}", targets, child, say, rounds=plan.of(rounds))
    say(f"{server.title}: {REPOSITORIES} repositories")
    async with _group(values, "repos."):
        more = await asyncio.to_thread(server.add_repositories, plan.of(REPOSITORIES))
        async with running(server) as (child, api):
            await _warm_up(targets_of(api, [server.repository]), child)
            values |= await _parallel("repos", targets_of(api, more), child, say)
    if server.is_ours:
        say(f"{server.title}: memory")
        async with _group(values, "growth."), running(server) as (child, api):
            values |= await _growth(api, child, plan)
        say(f"{server.title}: scripted provider and browser")
        async with _group(values, "history"):
            values |= await asyncio.to_thread(measure_history, server, turns=plan.of(TURNS))
        async with _group(values, "plugins"):
            values |= await asyncio.to_thread(measure_plugins, server, turns=plan.of(TRIVIAL))
        async with _group(values, "inline."), running(server) as (child, api):
            await _inline(values, api, child, plan)
        async with _group(values, "ws"), running(server) as (child, api):
            await _live(values, api, server, child, plan)
    return values


async def _tools(values: Values, server: Server, plan: Plan) -> None:
    async with _group(values, "tools."):
        large = await asyncio.to_thread(server.add_large)
        async with running(server) as (child, api):
            await _warm_up(targets_of(api, [server.repository]), child)
            values |= await measure_calls(api.at(large.directory), large, count=plan.of(COUNT))
        if server.measure_snapshots is not None and not plan.quick:
            values |= await asyncio.to_thread(server.measure_snapshots, large.directory)


async def _requests(values: Values, server: Server, plan: Plan) -> None:
    messages = plan.of(MESSAGES)
    async with _group(values, "api."), _with_history(server, messages) as (child, api, long):
        listed = await measure_list(api, sessions=plan.of(SESSIONS), calls=plan.of(CALLS))
        paged = await measure_page(api, long, messages=messages, calls=plan.of(CALLS))
        streams = await measure_streams(api, child, clients=plan.of(CLIENTS))
        values |= {
            "api.list.rate": listed.per_s,
            "api.list.p95": listed.p95_ms,
            "api.list.size": listed.size / 1e3,
            "api.page.rate": paged.per_s,
            "api.page.p95": paged.p95_ms,
            "api.page.size": paged.size / 1e3,
            "api.sse.idle": streams.idle_kb,
            "api.sse.p50": streams.p50_ms,
            "api.sse.p95": streams.p95_ms,
            "api.sse.cores": streams.cores,
        }


@asynccontextmanager
async def _with_history(server: Server, messages: int) -> AsyncIterator[tuple[Child, Api, str]]:
    """Returns: also the id of a session of so many messages, which both programs import."""
    document = make_document(server.repository.directory, messages=messages)
    if server.import_session is not None:
        await asyncio.to_thread(server.import_session, document)
    async with running(server) as (child, api):
        long = str(document["info"]["id"])
        if server.import_session is None:
            long = await api.import_session(document)
            await asyncio.to_thread(server.settle_database)
        yield child, api, long


async def _in_browser(values: Values, server: Server, plan: Plan) -> None:
    messages = plan.of(MESSAGES)
    async with _group(values, "web."), running(server) as (child, api), chromium() as browser:
        await _warm_up(targets_of(api, [server.repository]), child)
        load = await measure_load(browser, api, server, loads=plan.of(LOADS))
        values |= {
            "web.size": load.size / 1e3,
            "web.scripts": load.scripts / 1e3,
            "web.requests": load.requests,
            "web.shown": load.shown_ms,
            "web.typed": load.typed_ms,
        }
    async with (
        _group(values, "long."),
        _with_history(server, messages) as (_, _, session),
        chromium() as browser,
    ):
        newest = f"Answer {messages // 2 - 1}."
        long = await measure_long(browser, server, session, newest=newest)
        values |= {
            "long.shown": long.shown_ms,
            "long.nodes": long.nodes,
            "long.task": long.task_ms,
            "long.frame": long.frame_p95_ms,
            "long.read": long.read_nodes,
        }
    if server.is_ours:
        await _going_on(values, server, plan)
    for sockets in (1, 50, 200):
        key = f"paint{sockets}."
        async with _group(values, key), running(server) as (child, api), chromium() as browser:
            await _warm_up(targets_of(api, [server.repository]), child)
            paint = await measure_paint(browser, api, server, sockets=sockets)
            values |= {f"{key}p50": paint.p50_ms, f"{key}p95": paint.p95_ms}


async def _going_on(values: Values, server: Server, plan: Plan) -> None:
    async with _group(values, "nav."), running(server) as (child, api), chromium() as browser:
        await _warm_up(targets_of(api, [server.repository]), child)
        found = await measure_navigation(browser, api, server)
        values |= {f"nav.{name}": ms for name, ms in found.items()}
    async with (
        _group(values, "busy."),
        _with_history(server, plan.of(500)) as (_, api, session),
        chromium() as browser,
    ):
        busy = await measure_busy(browser, api, server, session)
        values |= {f"busy.{name}": value for name, value in busy.items()}


# The groups that can be measured by themselves.
TOOLS, REQUESTS, BROWSER = "tools", "requests", "browser"
_GROUPS = {TOOLS: _tools, REQUESTS: _requests, BROWSER: _in_browser}


@asynccontextmanager
async def _group(values: Values, *prefixes: str) -> AsyncIterator[None]:
    """What fails in here is told in the rows that it leaves without a figure."""
    try:
        async with asyncio.timeout(_GROUP_S):
            yield
    except FAULTS as exc:
        known = "" if isinstance(exc, Unfinished) else f"not measured: {type(exc).__name__} "
        reason = f"{known}{exc}".strip().splitlines()[0][:160]
        for row in ROWS:
            if row.key.startswith(prefixes):
                values.setdefault(row.key, reason)


def _of_startup(start: Startup) -> Values:
    unknown = "not measured: the system does not tell"
    return {
        "start.health": start.health_s,
        "start.cpu": start.health_cpu_s,
        "start.page": start.page_s,
        "start.turn": start.turn_s,
        "start.turn_cpu": start.turn_cpu_s,
        "idle.cpu": start.settled_cpu_s,
        "idle.rss": start.idle.rss / 1e6,
        "used.rss": start.used.rss / 1e6,
        "idle.pss": start.idle.pss / 1e6 if start.idle.pss is not None else unknown,
    }


async def _single_turns(values: Values, api: Api, child: Child, plan: Plan) -> None:
    for key, fresh in (("fresh", True), ("same", False)):
        turn = await measure_trivial(api, child, fresh=fresh, count=plan.of(TRIVIAL))
        values |= {f"{key}.p50": turn.p50_ms, f"{key}.p95": turn.p95_ms, f"{key}.cpu": turn.cpu_s}
    deltas = await measure_deltas(api, count=plan.of(DELTAS))
    values["delta.first"] = deltas.first_delta_ms
    values["delta.before"] = deltas.own_before_ms
    values["delta.after"] = deltas.own_after_ms


async def _warm_up(targets: list[TurnTarget], child: Child) -> None:
    """The first turn of a process loads what every later one has."""
    await measure_parallel(targets[:1], child)


async def _parallel(
    key: str,
    targets: list[TurnTarget],
    child: Child,
    say: Callable[[str], None],
    *,
    rounds: int = 1,
) -> Values:
    found = await measure_parallel(targets, child, rounds=rounds)
    for error in found.errors[:_SHOWN_ERRORS]:
        say(f"  {key}: {error}")
    return {
        f"{key}.rate": found.turns_per_s,
        f"{key}.wall": found.turn_s,
        f"{key}.cpu": found.cpu_s,
        f"{key}.rss": found.rss / 1e6,
        f"{key}.errors": len(found.errors),
    }


async def _growth(api: Api, child: Child, plan: Plan) -> Values:
    early, late = await measure_growth(api, child, early=plan.of(EARLY), late=plan.of(LATE))
    return {
        "growth.early": early / 1e6,
        "growth.late": late / 1e6,
        "growth.ratio": late / early,
    }


async def _inline(values: Values, api: Api, child: Child, plan: Plan) -> None:
    turn = await measure_trivial(api, child, fresh=True, inline=True, count=plan.of(TRIVIAL))
    values |= {"inline.p50": turn.p50_ms, "inline.p95": turn.p95_ms, "inline.cpu": turn.cpu_s}
    deltas = await measure_deltas(api, inline=True, count=plan.of(DELTAS))
    values |= {"inline.before": deltas.own_before_ms, "inline.after": deltas.own_after_ms}


async def _live(values: Values, api: Api, server: Server, child: Child, plan: Plan) -> None:
    await api.prompt(await api.create_session(), "BENCH text")
    values["ws.first"] = await measure_first_delta(api, server, count=plan.of(20))
    one = await measure_lag(api, server, child, sessions=1)
    values |= {"ws1.p50": one.p50_ms, "ws1.p95": one.p95_ms}
    many = await measure_lag(api, server, child, sessions=plan.of(100), chunks=LONG_CHUNKS)
    values["ws100.first"] = many.first_ms
    values |= {"ws100.p50": many.p50_ms, "ws100.p95": many.p95_ms, "ws100.cores": many.cores}
