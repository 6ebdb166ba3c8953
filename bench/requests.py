"""What many callers of the HTTP API get: lists, pages of a long history, and event streams."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import aiohttp

from bench.api import TIMEOUT_S, Api, Json
from bench.processes import Child
from bench.stats import median, percentile

SESSIONS, MESSAGES = 200, 10_000
CALLERS, CALLS, PAGE = 8, 400, 100
CLIENTS, CHUNKS, GAP_MS = 200, 100, 50
_STAMP = re.compile(rb"@(\d{6,})(?=[ @<\\\"])")


@dataclass(frozen=True)
class Calls:
    """Of `CALLERS` at once. Units: calls per second, milliseconds, bytes of a body."""

    per_s: float
    p95_ms: float
    size: int


@dataclass(frozen=True)
class Streams:
    """Units: kilobytes of memory per idle client, milliseconds from chunk to client, CPU cores."""

    idle_kb: float
    p50_ms: float
    p95_ms: float
    cores: float


def make_document(directory: str, *, messages: int) -> Json:
    """Returns: an exported session of short prompts and answers, as both programs import it."""
    now = int(time.time() * 1000) - messages * 10
    session = "ses_3000000000bbbbbbbbbbbbbbbb"
    rows = []
    for turn in range(messages // 2):
        asked = f"msg_c{turn * 2:011x}bbbbbbbbbbbbbb"
        answered = f"msg_c{turn * 2 + 1:011x}bbbbbbbbbbbbbb"
        model = {"providerID": "bench", "modelID": "scripted"}
        created = now + turn * 20
        prompt = {
            "id": asked,
            "sessionID": session,
            "role": "user",
            "time": {"created": created},
            "agent": "build",
            "model": model,
        }
        answer = {
            "id": answered,
            "sessionID": session,
            "role": "assistant",
            "time": {"created": created + 10, "completed": created + 15},
            "parentID": asked,
            **model,
            "mode": "build",
            "agent": "build",
            "path": {"cwd": directory, "root": directory},
            "cost": 0,
            "tokens": {"input": 5, "output": 5, "reasoning": 0, "cache": {"read": 0, "write": 0}},
            "finish": "stop",
        }
        rows += [_message(prompt, f"Question {turn}?"), _message(answer, f"Answer {turn}. " * 10)]
    info = {
        "id": session,
        "slug": "long-history",
        "version": "1",
        "projectID": "global",
        "directory": directory,
        "title": "A long history",
        "time": {"created": now, "updated": now + messages * 10},
    }
    return {"info": info, "messages": rows}


def _message(info: dict[str, Any], text: str) -> Json:
    part = {
        "id": f"prt_{info['id'].removeprefix('msg_')}",
        "sessionID": info["sessionID"],
        "messageID": info["id"],
        "type": "text",
        "text": text,
    }
    return {"info": info, "parts": [part]}


async def measure_list(api: Api, *, sessions: int, calls: int) -> Calls:
    """The newest 100 of so many sessions."""
    for _ in range(sessions):
        await api.create_session()
    return await _repeat(lambda: api.read("/session", limit=str(PAGE)), count=calls)


async def measure_page(api: Api, session: str, *, messages: int, calls: int) -> Calls:
    """Pages of a long history, from its newest message to its first and again."""
    cursor: str | None = None
    seen = 0

    async def turn_page() -> bytes:
        nonlocal cursor
        more = {"before": cursor} if cursor else {}
        body, cursor = await api.read_page(f"/session/{session}/message", limit=str(PAGE), **more)
        return body

    for _ in range(messages // PAGE):
        seen += len(json.loads(await turn_page()))
    if (seen, cursor) != (messages, None):
        raise RuntimeError(f"the pages hold {seen} messages, not {messages}")
    return await _repeat(turn_page, count=calls)


async def _repeat(call: Callable[[], Awaitable[bytes]], *, count: int) -> Calls:
    walls: list[float] = []
    size = len(await call())
    left = iter(range(count))

    async def caller() -> None:
        for _ in left:
            began = time.monotonic()
            await call()
            walls.append((time.monotonic() - began) * 1000)

    started = time.monotonic()
    async with asyncio.timeout(TIMEOUT_S):
        await asyncio.gather(*(caller() for _ in range(CALLERS)))
    return Calls(count / (time.monotonic() - started), percentile(walls, 0.95), size)


@dataclass
class _Client:
    """One program on the event stream: when it got each chunk, by the time the chunk left."""

    seen: dict[int, int]
    connected: asyncio.Event
    news: asyncio.Event

    async def read(self, stream: aiohttp.StreamReader) -> None:
        async for line in stream:
            now = time.monotonic_ns()
            self.connected.set()
            # The whole part comes once more at the end; the first time is what counts.
            for stamp in _STAMP.findall(line):
                self.seen.setdefault(int(stamp), now)
            self.news.set()

    async def wait_for(self, count: int) -> None:
        while len(self.seen) < count:
            self.news.clear()
            await self.news.wait()


@asynccontextmanager
async def following(api: Api) -> AsyncIterator[_Client]:
    endless = aiohttp.ClientTimeout(total=None, sock_read=TIMEOUT_S)
    query = {"directory": api.address.directory}
    async with api.http.get(
        f"{api.address.url}/event", params=query, timeout=endless, read_bufsize=2**22
    ) as answer:
        answer.raise_for_status()
        client = _Client({}, asyncio.Event(), asyncio.Event())
        reader = asyncio.create_task(client.read(answer.content))
        try:
            async with asyncio.timeout(30):
                await client.connected.wait()
            yield client
        finally:
            reader.cancel()


async def measure_streams(api: Api, child: Child, *, clients: int) -> Streams:
    """So many programs follow one session that streams 20 chunks per second."""
    session = await api.create_session()
    await child.settle()
    before = child.memory().rss
    async with AsyncExitStack() as stack:
        found = [await stack.enter_async_context(following(api)) for _ in range(clients)]
        await child.settle()
        idle = child.memory().rss - before
        cpu, started = child.cpu_s(), time.monotonic()
        await api.prompt_async(session, f"BENCH stream {CHUNKS} {GAP_MS}")
        async with asyncio.timeout(TIMEOUT_S):
            await asyncio.gather(*(client.wait_for(CHUNKS) for client in found))
        cores = (child.cpu_s() - cpu) / (time.monotonic() - started)
    lags = [(got - sent) / 1e6 for client in found for sent, got in client.seen.items()]
    return Streams(idle / clients / 1e3, median(lags), percentile(lags, 0.95), cores)
