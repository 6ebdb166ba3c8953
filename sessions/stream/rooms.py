"""What browsers of this process watch has one room for each of it, as long as somebody is in it."""

from __future__ import annotations

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

from opencode_web.lib.json import JsonObject
from sessions.stream.listener import Listener, encode

logger = logging.getLogger(__name__)


class LiveRoom(ABC):
    """Makes each frame once, for all who listen. Its methods must run on the loop of the room."""

    def __init__(self) -> None:
        self.guests = 0
        self.task: asyncio.Task[None] | None = None
        # Set when the room hears what happens: who comes in then misses nothing.
        self.ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._listeners: set[Listener] = set()
        self._is_over = False

    @abstractmethod
    async def serve(self) -> None:
        """Be ready, then send what happens, until cancelled."""

    def be_ready(self) -> None:
        """Let in who waits; the second time changes nothing."""
        if not self.ready.done():
            self.ready.set_result(None)

    def add(self, listener: Listener) -> None:
        """Send to this listener from now on."""
        if self._is_over:
            listener.end()
        else:
            self._listeners.add(listener)

    def discard(self, listener: Listener) -> None:
        """Send nothing more to this listener."""
        self._listeners.discard(listener)

    def send(self, frame: JsonObject) -> None:
        """Encode a frame and hand it to everybody."""
        if self._listeners:
            text = encode(frame)
            for listener in self._listeners:
                listener.put(text)

    def end(self) -> None:
        """Have everybody connect again, to another room."""
        self._is_over = True
        self.be_ready()
        for listener in self._listeners:
            listener.end()

    def close(self) -> None:
        """Stop, when the last one has left."""
        if self.task is not None:
            self.task.cancel()


RoomT = TypeVar("RoomT", bound=LiveRoom)


class Rooms(Generic[RoomT]):
    """The rooms of one kind, by loop and by the id of what is watched."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._by_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, RoomT]]
        self._by_loop = WeakKeyDictionary()

    @asynccontextmanager
    async def joined(self, watched_id: str, make: Callable[[], RoomT]) -> AsyncIterator[RoomT]:
        """Be in a room, which the first one opens and the last one closes."""
        rooms = self._by_loop.setdefault(asyncio.get_running_loop(), {})
        room = rooms.get(watched_id)
        if room is None:
            room = rooms[watched_id] = make()
            name = f"{self._kind} {watched_id}"
            room.task = asyncio.create_task(self._run(watched_id, room), name=name)
        room.guests += 1
        try:
            await asyncio.shield(room.ready)
            yield room
        finally:
            room.guests -= 1
            if not room.guests:
                self._forget(watched_id, room)
                room.close()

    async def _run(self, watched_id: str, room: RoomT) -> None:
        try:
            await room.serve()
        except Exception:  # one stream connection: its browsers connect again
            logger.exception("%s.failed id=%s", self._kind, watched_id)
        finally:
            room.end()
            self._forget(watched_id, room)

    def _forget(self, watched_id: str, room: RoomT) -> None:
        rooms = self._by_loop.get(asyncio.get_running_loop(), {})
        if rooms.get(watched_id) is room:
            del rooms[watched_id]

    def all(self) -> list[tuple[asyncio.AbstractEventLoop, list[RoomT]]]:
        """Returns: the rooms that are open, by their loop."""
        return [(loop, list(rooms.values())) for loop, rooms in self._by_loop.items()]
