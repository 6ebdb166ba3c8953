"""The HTTP API that both servers speak, as far as the measurements need it."""

from __future__ import annotations

import asyncio
import json
import time
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import aiohttp

Json = dict[str, Any]
# One answer may take this long; past it the row says so instead of a figure.
TIMEOUT_S = 180
ENDPOINT_MODEL = {"providerID": "bench", "modelID": "scripted"}


@dataclass(frozen=True)
class Address:
    """Where a server is, who asks, and in which project."""

    url: str
    directory: str
    headers: dict[str, str] = field(default_factory=dict)


class Api:
    def __init__(self, address: Address, http: aiohttp.ClientSession) -> None:
        self.address = address
        self.http = http
        self._query = {"directory": address.directory}

    def at(self, directory: str) -> Api:
        """The same server, asked about another project."""
        return Api(replace(self.address, directory=directory), self.http)

    async def create_session(self) -> str:
        return str((await self._post("/session", {}))["id"])

    async def prompt(self, session: str, text: str, *, model: Json | None = None) -> Json:
        """Returns: the answer, when the turn is over."""
        return await self._post(f"/session/{session}/message", _body(text, model))

    async def prompt_async(self, session: str, text: str, *, model: Json | None = None) -> None:
        await self._post(f"/session/{session}/prompt_async", _body(text, model))

    async def messages(self, session: str) -> list[Json]:
        found: list[Json] = json.loads(await self.read(f"/session/{session}/message"))
        return found

    async def read(self, path: str, **query: str) -> bytes:
        return (await self.read_page(path, **query))[0]

    async def read_page(self, path: str, **query: str) -> tuple[bytes, str | None]:
        """Returns: the body, and the cursor of the next page when there is one."""
        url = self.address.url + path
        async with self.http.get(url, params=self._query | query) as answer:
            answer.raise_for_status()
            return await answer.read(), answer.headers.get("X-Next-Cursor")

    async def import_session(self, document: Json) -> str:
        """Only ours has this route. Returns: the new session's id."""
        return str((await self._post("/session/import", document))["id"])

    async def configure(self, config: Json) -> None:
        url = f"{self.address.url}/config"
        async with self.http.patch(url, params=self._query, json=config) as answer:
            answer.raise_for_status()

    async def _post(self, path: str, body: Json) -> Json:
        url = self.address.url + path
        async with self.http.post(url, params=self._query, json=body) as answer:
            if answer.status >= 400:
                raise RuntimeError(f"{path}: {answer.status} {(await answer.text())[:300]}")
            text = await answer.text()
            return json.loads(text) if text else {}

    @asynccontextmanager
    async def events(self) -> AsyncIterator[Events]:
        """Follow the event stream of the project."""
        endless = aiohttp.ClientTimeout(total=None, sock_read=TIMEOUT_S)
        url = f"{self.address.url}/event"
        async with self.http.get(url, params=self._query, timeout=endless) as answer:
            answer.raise_for_status()
            events = Events()
            reader = asyncio.create_task(events.read(answer.content))
            try:
                async with asyncio.timeout(30):
                    await events.connected.wait()
                yield events
            finally:
                reader.cancel()


class Events:
    """Events by session, each with its time of arrival (monotonic ns)."""

    def __init__(self) -> None:
        self.connected = asyncio.Event()
        self._queues: dict[str, asyncio.Queue[tuple[int, Json]]] = defaultdict(asyncio.Queue)

    async def read(self, stream: aiohttp.StreamReader) -> None:
        async for line in stream:
            if not line.startswith(b"data:"):
                continue
            now = time.monotonic_ns()
            event = json.loads(line[5:])
            self.connected.set()
            session = event.get("properties", {}).get("sessionID")
            if session:
                self._queues[session].put_nowait((now, event))

    async def wait_for(self, session: str, kind: str) -> tuple[int, Json]:
        async with asyncio.timeout(TIMEOUT_S):
            while True:
                now, event = await self._queues[session].get()
                if event["type"] == kind:
                    return now, event["properties"]


def _body(text: str, model: Json | None) -> Json:
    return {"model": model or ENDPOINT_MODEL, "parts": [{"type": "text", "text": text}]}


@asynccontextmanager
async def connect(address: Address) -> AsyncIterator[Api]:
    timeout = aiohttp.ClientTimeout(total=TIMEOUT_S)
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(
        headers=address.headers, timeout=timeout, connector=connector
    ) as http:
        yield Api(address, http)
