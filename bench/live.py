"""What a browser sees of a streaming answer, on our server's websocket."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

import aiohttp

from bench.api import TIMEOUT_S, Api
from bench.processes import Child
from bench.server import Server, SignIn
from bench.stats import median, percentile

FIRST_DELTAS = 20
CHUNKS, GAP_MS = 300, 50
# A hundred that are sent off at once take some seconds until all of them stream.
LONG_CHUNKS = 900
# A browser says after so many frames that it has taken them.
_ACKNOWLEDGE = 64
_STAMP = re.compile(r"@(\d{6,})(?=[ @<\\\"])")
_CSRF = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')


class NoSocket(RuntimeError):
    """The browser's websocket cannot be reached."""


@dataclass(frozen=True)
class Lag:
    """From a chunk's leaving the model to its frame. Units: milliseconds, CPU cores.

    `first_ms` is the median from sending all prompts at once to the first text of each.
    """

    first_ms: float
    p50_ms: float
    p95_ms: float
    cores: float
    chunks: int


@dataclass
class _Watched:
    """One session in one browser tab: when each chunk left the model and was first shown."""

    session: str
    socket: aiohttp.ClientWebSocketResponse
    seen: dict[int, int] = field(default_factory=dict)
    news: asyncio.Event = field(default_factory=asyncio.Event)

    async def read(self) -> None:
        taken = 0
        async for message in self.socket:
            now = time.monotonic_ns()
            taken += 1
            if taken % _ACKNOWLEDGE == 0:
                await self.socket.send_str(str(_ACKNOWLEDGE))
            if message.type is not aiohttp.WSMsgType.TEXT:
                continue
            if json.loads(message.data).get("k") == "reset":
                raise NoSocket("the server cut the browser off as too slow")
            for stamp in _STAMP.findall(message.data):
                self.seen.setdefault(int(stamp), now)
            self.news.set()

    async def wait_for(self, count: int) -> None:
        async with asyncio.timeout(TIMEOUT_S):
            while len(self.seen) < count:
                self.news.clear()
                await self.news.wait()


@asynccontextmanager
async def signed_in(server: Server) -> AsyncIterator[aiohttp.ClientSession]:
    assert server.sign_in is not None
    connector = aiohttp.TCPConnector(limit=0)
    jar = aiohttp.CookieJar(unsafe=True)  # cookies of an IP address
    async with aiohttp.ClientSession(cookie_jar=jar, connector=connector) as http:
        await _sign_in(http, server.address.url, server.sign_in)
        yield http


async def _sign_in(http: aiohttp.ClientSession, url: str, person: SignIn) -> None:
    async with http.get(f"{url}/login") as page:
        found = _CSRF.search(await page.text())
    if found is None:
        raise NoSocket(f"no form at /login ({page.status})")
    form = {"login": person.email, "password": person.password, "csrfmiddlewaretoken": found[1]}
    headers = {"Origin": url}
    async with http.post(f"{url}/login", data=form, headers=headers) as answer:
        await answer.read()
    if not any(cookie.key == "sessionid" for cookie in http.cookie_jar):
        raise NoSocket(f"sign-in did not work ({answer.status})")


@asynccontextmanager
async def watching(http: aiohttp.ClientSession, url: str, session: str) -> AsyncIterator[_Watched]:
    address = f"{url.replace('http', 'ws', 1)}/ws/?session={session}&after=0"
    try:
        socket = await http.ws_connect(address, headers={"Origin": url}, max_msg_size=0)
    except aiohttp.WSServerHandshakeError as exc:
        raise NoSocket(f"/ws/ answers {exc.status}") from exc
    watched = _Watched(session, socket)
    reader = asyncio.create_task(watched.read())
    try:
        yield watched
    finally:
        reader.cancel()
        await socket.close()


async def measure_first_delta(api: Api, server: Server, *, count: int = FIRST_DELTAS) -> float:
    """Returns: the median from sending a prompt to the frame that shows its first text, in ms."""
    walls = []
    async with signed_in(server) as http:
        for _ in range(count):
            session = await api.create_session()
            async with watching(http, server.address.url, session) as watched:
                started = time.monotonic_ns()
                await api.prompt_async(session, "BENCH stamp")
                await watched.wait_for(1)
                walls.append((min(watched.seen.values()) - started) / 1e6)
    return median(walls)


async def measure_lag(
    api: Api, server: Server, child: Child, *, sessions: int, chunks: int = CHUNKS
) -> Lag:
    """Streams in many sessions, each watched by one browser tab."""
    async with signed_in(server) as http, AsyncExitStack() as stack:
        tabs = []
        for _ in range(sessions):
            session = await api.create_session()
            tabs.append(
                await stack.enter_async_context(watching(http, server.address.url, session))
            )
        await child.settle()
        order = f"BENCH stream {chunks} {GAP_MS}"
        cpu, started = child.cpu_s(), time.monotonic_ns()
        await asyncio.gather(*(api.prompt_async(tab.session, order) for tab in tabs))
        await asyncio.gather(*(tab.wait_for(chunks) for tab in tabs))
        cores = (child.cpu_s() - cpu) / ((time.monotonic_ns() - started) / 1e9)
    firsts = [(min(tab.seen.values()) - started) / 1e6 for tab in tabs]
    # Only while all of them streamed.
    begin, end = max(min(tab.seen) for tab in tabs), min(max(tab.seen) for tab in tabs)
    lags = [
        (shown - sent) / 1e6
        for tab in tabs
        for sent, shown in tab.seen.items()
        if begin <= sent <= end
    ]
    if not lags:
        raise RuntimeError(f"{sessions} sessions never streamed at the same time")
    return Lag(median(firsts), median(lags), percentile(lags, 0.95), cores, len(lags))
