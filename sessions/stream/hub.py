"""One bus subscription per group and event loop, fanned out to all watchers in this process.

A watcher takes all of a group, or what concerns one session: then what a hundred other sessions of
the team say costs it nothing.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Literal, TypedDict, cast
from weakref import WeakKeyDictionary

from opencode_web.lib.bus import publish, subscribe
from opencode_web.lib.ids import new_id
from opencode_web.lib.json import JsonObject
from opencode_web.lib.metrics import observe_event_lag
from sessions.events.bodies import (
    DeltasBody,
    EventsBody,
    PersonBody,
    PresenceBody,
    RailBody,
    TeamBody,
)
from sessions.terminals.link import OutputBody
from teams.audit import SettingsChanged


class LineBody(TypedDict):
    """The session stands elsewhere in the line for a worker."""

    t: Literal["line"]


class LogDueBody(TypedDict):
    """Something was dropped: the log has it."""

    t: Literal["log due"]


class TextDueBody(TypedDict):
    """A growing text has to be read from its row."""

    t: Literal["text due"]
    part: str


class ProgressDueBody(TypedDict):
    """Running tools may be drawn again."""

    t: Literal["progress due"]


# What a room puts among the bodies that it watches.
RoomBody = LineBody | LogDueBody | TextDueBody | ProgressDueBody
# What watchers get, whichever groups they watch.
Body = TeamBody | RailBody | PresenceBody | PersonBody | SettingsChanged | OutputBody | RoomBody

logger = logging.getLogger(__name__)

# Bodies that a watcher may be behind. Over a hundred live sessions that is a stall of about 2 s.
CAPACITY = 4_096
# A watcher that does not come back within this long holds up nobody else.
FLUSH_TIMEOUT_S = 2.0

# What `flushed` sends through the bus behind everything that was published before it.
_FLUSH = "flush"


class Overflow(Exception):
    """The watcher fell too far behind: what it missed has to be read from the log."""


class Subscription:
    """An async iterator of bus bodies. They are shared between watchers: read them only."""

    def __init__(self) -> None:
        self._waiting: deque[Body | asyncio.Future[None]] = deque()
        self._arrived = asyncio.Event()
        self._overflowed = False

    def __aiter__(self) -> Subscription:
        return self

    async def __anext__(self) -> Body:
        """Raises: Overflow when bodies had to be dropped."""
        while True:
            while not self._waiting and not self._overflowed:
                self._arrived.clear()
                await self._arrived.wait()
            if self._overflowed:
                raise Overflow
            item = self._waiting.popleft()
            if not isinstance(item, asyncio.Future):
                return item
            _settle(item)  # whoever iterates has dealt with all that came before it

    async def take(self) -> list[Body]:
        """Wait for bodies, and get all that there are. Raises: Overflow."""
        return [await anext(self), *self.take_waiting()]

    def take_waiting(self) -> list[Body]:
        """Returns: what there is now, up to a mark."""
        bodies: list[Body] = []
        while self._waiting:
            item = self._waiting[0]
            if isinstance(item, asyncio.Future):
                break  # it is done when the next body is waited for
            bodies.append(item)
            self._waiting.popleft()
        return bodies

    def put_back(self, bodies: list[Body]) -> None:
        """Have bodies that were taken last come first again, in their order."""
        if not self._overflowed:
            self._waiting.extendleft(reversed(bodies))

    def put(self, body: Body) -> None:
        """Hand over a body; the watcher that has too many waiting is cut off instead."""
        if len(self._waiting) >= CAPACITY:
            self.close()
        if not self._overflowed:
            self._waiting.append(body)
            self._arrived.set()

    def mark(self) -> asyncio.Future[None]:
        """Returns: a future that is done when everything put so far has been dealt with."""
        mark: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if self._overflowed:
            _settle(mark)
        else:
            self._waiting.append(mark)
            self._arrived.set()
        return mark

    def close(self) -> None:
        """Drop what waits. The next step of the iteration raises Overflow."""
        self._overflowed = True
        while self._waiting:
            item = self._waiting.popleft()
            if isinstance(item, asyncio.Future):
                _settle(item)
        self._arrived.set()


def _observe_lag(body: EventsBody) -> None:
    if body["events"]:
        observe_event_lag(time.time() - body["events"][-1]["time"] / 1000)


def _settle(mark: asyncio.Future[None]) -> None:
    if not mark.done():
        mark.set_result(None)


class _Feed:
    """The one bus subscription of this loop to a group."""

    def __init__(self, group: str) -> None:
        # Those who watch one session by its id, and below "" those who watch everything.
        self.watchers: dict[str, set[Subscription]] = {}
        self.flushes: dict[str, asyncio.Future[list[asyncio.Future[None]]]] = {}
        self.ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.task = asyncio.create_task(self._run(group), name=f"hub {group}")

    async def _run(self, group: str) -> None:
        try:
            async with subscribe(group) as bodies:
                self.ready.set_result(None)
                async for body in bodies:
                    self._receive(body)
        except OSError:  # the bus is gone: watchers start again from the log
            logger.warning("hub.feed_lost group=%s", group, exc_info=True)
        finally:
            _settle(self.ready)
            for watcher in self._all_watchers():
                watcher.close()
            for answer in self.flushes.values():
                if not answer.done():
                    answer.set_result([])

    def _receive(self, body: JsonObject) -> None:
        if body["t"] == _FLUSH:
            answer = self.flushes.pop(str(body["id"]), None)
            if answer is not None and not answer.done():
                answer.set_result([watcher.mark() for watcher in self._all_watchers()])
            return
        # All that is published to the groups of the hub has one of these types.
        self._dispatch(cast(Body | DeltasBody, body))

    def _dispatch(self, body: Body | DeltasBody) -> None:
        if body["t"] == "deltas":
            for delta in body["deltas"]:
                self._hand_out(delta)
            return
        if body["t"] == "events":
            _observe_lag(body)
        self._hand_out(body)

    def _hand_out(self, body: Body) -> None:
        for watcher in self.watchers.get("", ()):
            watcher.put(body)
        for watcher in self.watchers.get(str(body.get("session")), ()):
            watcher.put(body)
        if body["t"] == "events" and "root" in body:
            # What a sub-agent asks is answered on the page of the session at the top.
            for watcher in self.watchers.get(body["root"], ()):
                watcher.put(body)

    def _all_watchers(self) -> list[Subscription]:
        return [watcher for watchers in self.watchers.values() for watcher in watchers]

    def add(self, watcher: Subscription, session: str) -> None:
        """Hand over what comes from now on: all of it, or that of one session."""
        self.watchers.setdefault(session, set()).add(watcher)

    def discard(self, watcher: Subscription, session: str) -> None:
        watchers = self.watchers[session]
        watchers.discard(watcher)
        if not watchers:
            del self.watchers[session]


_feeds: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, _Feed]] = WeakKeyDictionary()


@asynccontextmanager
async def watch(*groups: str, session: str = "") -> AsyncIterator[Subscription]:
    """Receive what is published to the groups; complete as soon as the context is entered.

    With `session` only the bodies that name it.
    """
    subscription = Subscription()
    async with AsyncExitStack() as stack:
        stack.callback(subscription.close)
        for group in groups:
            await stack.enter_async_context(_joined(group, subscription, session))
        yield subscription


@asynccontextmanager
async def _joined(group: str, subscription: Subscription, session: str) -> AsyncIterator[None]:
    feeds = _feeds.setdefault(asyncio.get_running_loop(), {})
    feed = feeds.get(group)
    if feed is None or feed.task.done():
        feed = feeds[group] = _Feed(group)
    feed.add(subscription, session)
    try:
        # Shielded: one watcher that gives up must not end the subscription of the others.
        await asyncio.shield(feed.ready)
        yield
    finally:
        feed.discard(subscription, session)
        if not feed.watchers:
            if feeds.get(group) is feed:
                del feeds[group]
            feed.task.cancel()


async def flushed(*groups: str) -> None:
    """Wait until the watchers in this process have dealt with what was published before the call.

    A watcher has dealt with a body when it asks for the next one. Waits at most `FLUSH_TIMEOUT_S`.
    """
    feeds = _feeds.get(asyncio.get_running_loop(), {})
    try:
        async with asyncio.timeout(FLUSH_TIMEOUT_S):
            await asyncio.gather(*(_flush(name, feeds[name]) for name in groups if name in feeds))
    except TimeoutError:
        logger.info("hub.flush_timeout groups=%s", ",".join(groups))


async def _flush(group: str, feed: _Feed) -> None:
    token = new_id("flu")
    answer: asyncio.Future[list[asyncio.Future[None]]] = asyncio.get_running_loop().create_future()
    feed.flushes[token] = answer
    publish(group, {"t": _FLUSH, "id": token})
    try:
        await asyncio.gather(*await answer)
    finally:
        feed.flushes.pop(token, None)
