"""The servers that are kept: one for each session and name, as long as it is of use."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Hashable, Iterator
from contextvars import Context
from dataclasses import dataclass, field
from functools import partial

from tools.errors import ToolError
from tools.mcp.exchange import Greeted, Server, ServerGone
from tools.mcp.subscriptions import can_subscribe, subscribe, unsubscribe
from tools.mcp.tool_call import give_up_parked

logger = logging.getLogger(__name__)

# How long a server waits for a person at most.
_PARKED_S = 3_600.0
_FAULT = "The server could not be kept because of a fault here, which was logged."


@dataclass(frozen=True)
class Key:
    """Whose server it is. `identity` is all that decides what it is and with whose rights it acts:
    one with another is another server."""

    session_id: str
    name: str
    identity: Hashable = field(repr=False)


@dataclass(eq=False)
class Running:
    """A server that starts or lives. Only its task enters and leaves what reaches it."""

    key: Key
    place: Server
    ready: asyncio.Future[Greeted]
    # It ends with its last use: there was no room to keep it, or another took its place.
    ends_unused: bool = False
    used_at: float = field(default_factory=time.monotonic)
    users: int = 0
    closing: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] | None = None

    @property
    def is_over(self) -> bool:
        """Whether nothing can be asked any more."""
        if self.closing.is_set() or not self.ready.done():
            return self.closing.is_set()
        return self.ready.exception() is not None or self.ready.result().exchange.is_over

    @property
    def waits(self) -> bool:
        """Whether it works on a call that waits for a person."""
        is_ready = self.ready.done() and self.ready.exception() is None
        return is_ready and bool(self.ready.result().exchange.parked)

    @contextlib.contextmanager
    def in_use(self) -> Iterator[None]:
        """Keep it from being ended for somebody else."""
        self.users += 1
        try:
            yield
        finally:
            self.users -= 1
            self.used_at = time.monotonic()
            self.retire(when=self.ends_unused)

    def retire(self, *, when: bool = True) -> None:
        """Have it end as soon as nobody uses it."""
        self.ends_unused = self.ends_unused or when
        if self.ends_unused and not self.users and not self.waits:
            self.closing.set()


@dataclass(frozen=True)
class Kept:
    """A server that is kept between the calls."""

    pool: Pool
    key: Key
    place: Server
    start_s: float

    @contextlib.asynccontextmanager
    async def connect(self) -> AsyncIterator[Greeted]:
        """Reach the one that lives, or start it. Raises: ToolError saying why it did not start."""
        running = self.pool.take(self)
        with running.in_use():
            # Others may wait for it too.
            yield await asyncio.shield(running.ready)


async def _nothing(_: Key) -> Collection[str]:
    return ()


class Pool:
    """At most `limit` servers, each ended after `idle_s` without use. For one loop."""

    def __init__(self, limit: int, *, idle_s: float) -> None:
        self._limit = limit
        self._idle_s = idle_s
        # Called when a server says that it has other tools now; with whether one of them runs.
        self.on_change: Callable[[Key, bool], None] = lambda key, in_call: None
        # Called when a subscribed resource has changed; and for those to subscribe from the start.
        self.on_update: Callable[[Key, str], None] = lambda key, uri: None
        self.mentioned: Callable[[Key], Awaitable[Collection[str]]] = _nothing
        self._running: dict[tuple[str, str], Running] = {}
        self._tasks: dict[asyncio.Task[None], Running] = {}

    def __len__(self) -> int:
        return len(self._running)

    def kept_keys(self) -> list[Key]:
        """Returns: those of the servers that are kept."""
        return [one.key for one in self._running.values()]

    def take(self, wanted: Kept) -> Running:
        """Get the server of a key, which may still be starting."""
        of_name = (wanted.key.session_id, wanted.key.name)
        found = self._running.get(of_name)
        if found is not None and found.key == wanted.key and not found.is_over:
            return found
        if found is not None:
            # Calls that it works on come to their end.
            del self._running[of_name]
            found.retire()
        running = Running(wanted.key, wanted.place, asyncio.get_running_loop().create_future())
        if self._make_room():
            self._running[of_name] = running
        else:
            running.ends_unused = True
        # What one call is about is not what the server is about.
        live = self._live(running, wanted.start_s)
        running.task = asyncio.get_running_loop().create_task(live, context=Context())
        self._tasks[running.task] = running
        running.task.add_done_callback(self._tasks.pop)
        return running

    def _make_room(self) -> bool:
        if len(self._running) < self._limit:
            return True
        idle = [one for one in self._running.values() if not one.users and not one.waits]
        if not idle:
            return False
        oldest = min(idle, key=lambda one: one.used_at)
        del self._running[oldest.key.session_id, oldest.key.name]
        oldest.retire()
        return True

    def give_up_waiting(self, session_id: str) -> None:
        """End the calls of a session that wait for a person; its servers live on."""
        for one in list(self._tasks.values()):
            if one.key.session_id == session_id and one.waits:
                give_up_parked(one.ready.result().exchange)
                one.retire(when=one.ends_unused)

    async def end(self, keys: Collection[Key]) -> None:
        """End servers, also those at work, and wait until no process of them is left."""
        await self._end([one for one in self._tasks.values() if one.key in keys])

    async def end_session(self, session_id: str) -> None:
        """As `end`, for all of a session."""
        await self._end([one for one in self._tasks.values() if one.key.session_id == session_id])

    async def close(self) -> None:
        """As `end`, for all."""
        await self._end(list(self._tasks.values()))

    async def _end(self, found: Collection[Running]) -> None:
        for one in found:
            one.closing.set()
            if one.task is not None and not one.ready.done():
                one.task.cancel()
        if tasks := [one.task for one in found if one.task is not None]:
            await asyncio.wait(tasks)

    async def _live(self, running: Running, start_s: float) -> None:
        error: ToolError = ServerGone("The server was ended.")
        try:
            await self._serve(running, start_s)
        except ToolError as exc:
            error = exc
        except TimeoutError:
            error = ToolError(f"The server did not start within {start_s:g} s.")
        except Exception:  # the edge of one server: it must not end a session's turn
            logger.exception("mcp.failed server=%s", running.key.name)
            error = ToolError(_FAULT)
        finally:
            of_name = (running.key.session_id, running.key.name)
            if self._running.get(of_name) is running:
                del self._running[of_name]
            if not running.ready.done():
                running.ready.set_exception(error)
                # Whoever asked may have been stopped.
                running.ready.exception()

    async def _serve(self, running: Running, start_s: float) -> None:
        key, began = running.key, time.monotonic()
        closing = asyncio.create_task(running.closing.wait())
        try:
            async with asyncio.timeout(start_s) as limit, running.place.connect() as greeted:
                limit.reschedule(None)
                greeted.exchange.on_change = partial(self.on_change, key)
                greeted.exchange.on_update = partial(self.on_update, key)
                if can_subscribe(greeted):
                    subscribe(greeted, await self.mentioned(key))
                running.ready.set_result(greeted)
                running.used_at = time.monotonic()
                ended = asyncio.create_task(greeted.exchange.ended.wait())
                try:
                    await self._until_over(running, {closing, ended})
                finally:
                    ended.cancel()
                await unsubscribe(greeted.exchange)
        finally:
            closing.cancel()
            logger.info(
                "mcp.ended session=%s server=%s ms=%d",
                *(key.session_id, key.name, (time.monotonic() - began) * 1000),
            )

    async def _until_over(self, running: Running, ends: set[asyncio.Task[bool]]) -> None:
        while True:
            idle_s = _PARKED_S if running.waits else self._idle_s
            left_s = running.used_at + idle_s - time.monotonic()
            if left_s <= 0 and not running.users:
                return
            done, _ = await asyncio.wait(
                ends, timeout=max(left_s, 1.0), return_when=asyncio.FIRST_COMPLETED
            )
            if done:
                return
