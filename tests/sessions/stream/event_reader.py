"""A client of an event stream, without HTTP."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from sessions.stream.sse import Scope, open_stream
from teams.auth import Principal


@dataclass
class Frame:
    id: str
    data: dict[str, Any]

    @property
    def event(self) -> tuple[str, Any]:
        payload = self.data.get("payload", self.data)
        return payload["type"], payload["properties"]

    @property
    def title(self) -> str:
        return str(self.event[1].get("info", {}).get("title", ""))


def split(written: bytes) -> list[bytes]:
    """The frames of one write."""
    assert written.endswith(b"\n\n")
    return [raw + b"\n\n" for raw in written.removesuffix(b"\n\n").split(b"\n\n")]


def parse(raw: bytes) -> Frame:
    assert raw.endswith(b"\n\n")
    assert b"\r" not in raw
    lines = raw.decode().removesuffix("\n\n").split("\n")
    fields = dict(line.split(": ", 1) for line in lines)
    assert set(fields) <= {"id", "data"}
    return Frame(fields.get("id", ""), json.loads(fields["data"]))


class Reader:
    def __init__(self, frames: AsyncIterator[bytes]) -> None:
        self._frames = frames
        self._waiting: list[bytes] = []
        self.last_id = ""

    async def next(self) -> Frame:
        if not self._waiting:
            self._waiting = split(await asyncio.wait_for(anext(self._frames), 25))
        frame = parse(self._waiting.pop(0))
        self.last_id = frame.id or self.last_id
        return frame

    async def until_end(self) -> None:
        async with asyncio.timeout(25):
            async for written in self._frames:
                for raw in split(written):
                    self.last_id = parse(raw).id or self.last_id

    async def titles(self, until: str) -> list[str]:
        """Titles of session.updated, up to and with `until`."""
        seen: list[str] = []
        while not seen or seen[-1] != until:
            frame = await self.next()
            if frame.event[0] == "session.updated":
                seen.append(frame.title)
        return seen


@asynccontextmanager
async def stream(scope: Scope | Principal, last: str = "") -> AsyncIterator[Reader]:
    scope = scope if isinstance(scope, Scope) else Scope(scope)
    frames = await open_stream(scope, last_event_id=last)
    try:
        reader = Reader(frames)
        assert (await reader.next()).event[0] == "server.connected"
        yield reader
    finally:
        await frames.aclose()  # type: ignore[attr-defined]
