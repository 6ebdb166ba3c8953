"""A web process's side: to the apps of any terminal, over the bus."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import cast
from weakref import WeakKeyDictionary

from opencode_web.lib.bus import subscribe
from opencode_web.lib.ids import new_id
from sessions.previews import link
from sessions.previews.channel import Channel
from sessions.previews.link import LOST_S, TICK_S, AnswerBody, OpenedBody, TickBody

# Longer than the worker tries to connect.
_ANSWERS_WITHIN_S = 7.0
_PORTS_WITHIN_S = 2.0


class Refused(ConnectionError):
    """No app answers at the port, or its worker does not."""


@dataclass(frozen=True)
class _Opening:
    """A connection that the worker has not spoken of yet; `answer` will be why it was refused."""

    terminal_id: str
    channel: Channel
    answer: asyncio.Future[str]


@contextlib.asynccontextmanager
async def connect(terminal_id: str, port: int) -> AsyncIterator[Channel]:
    """Have a connection to an app of a terminal. Raises: Refused, OSError."""
    async with _exchange() as exchange, exchange.connected(terminal_id, port) as channel:
        yield channel


async def ask_ports(terminal_ids: list[str]) -> dict[str, list[int]]:
    """Ask the workers of terminals for the ports on which apps answer.

    Returns: nothing for a terminal whose worker is silent. Raises: OSError.
    """
    async with _exchange() as exchange:
        asked = {terminal: exchange.ask(terminal) for terminal in terminal_ids}
        if asked:
            await asyncio.wait(asked.values(), timeout=_PORTS_WITHIN_S)
        for answer in asked.values():
            answer.cancel()
    return {each: answer.result() for each, answer in asked.items() if not answer.cancelled()}


class _Exchange:
    """All connections of one event loop: one group of the bus, for as long as it is in use."""

    def __init__(self) -> None:
        self.users = 0
        self._group = f"preview.{new_id('pvx')}"
        self._channels: dict[str, dict[str, Channel]] = {}
        self._heard_at: dict[str, float] = {}
        self._opening: dict[str, _Opening] = {}
        self._asked: dict[str, asyncio.Future[list[int]]] = {}
        self.ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.tasks = [asyncio.create_task(self._listen()), asyncio.create_task(self._tick())]

    @contextlib.asynccontextmanager
    async def connected(self, terminal_id: str, port: int) -> AsyncIterator[Channel]:
        channel = Channel(new_id("pvc"), lambda body: link.send(terminal_id, body))
        answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._opening[channel.id] = _Opening(terminal_id, channel, answer)
        try:
            link.send(
                terminal_id, {"t": "open", "id": channel.id, "back": self._group, "port": port}
            )
            try:
                async with asyncio.timeout(_ANSWERS_WITHIN_S):
                    refused = await answer
            except TimeoutError as exc:
                raise Refused("the worker of the terminal does not answer") from exc
            if refused:
                raise Refused(refused)
            yield channel
        finally:
            self._opening.pop(channel.id, None)
            channel.close()
            channels = self._channels.get(terminal_id, {})
            channels.pop(channel.id, None)
            if not channels:
                self._channels.pop(terminal_id, None)
                self._heard_at.pop(terminal_id, None)

    def ask(self, terminal_id: str) -> asyncio.Future[list[int]]:
        question = new_id("pvq")
        self._asked[question] = answer = asyncio.get_running_loop().create_future()
        answer.add_done_callback(lambda _: self._asked.pop(question, None))
        link.send(terminal_id, {"t": "ask", "id": question, "back": self._group})
        return answer

    async def _listen(self) -> None:
        try:
            async with subscribe(self._group) as bodies:
                self.ready.set_result(None)
                async for body in bodies:
                    # Nothing but `link` publishes to this group.
                    self._handle(cast(AnswerBody, body))
        except OSError as exc:
            if not self.ready.done():
                self.ready.set_exception(exc)
        finally:
            for channels in self._channels.values():
                for channel in channels.values():
                    channel.close()

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK_S)
            for terminal_id, channels in self._channels.items():
                if time.monotonic() - self._heard_at[terminal_id] > LOST_S:
                    for channel in channels.values():
                        channel.close()
                opening = (one for one in self._opening.values() if one.terminal_id == terminal_id)
                mine = [*channels.values(), *(one.channel for one in opening)]
                link.send(terminal_id, link.tick(self._group, terminal_id, mine))

    def _handle(self, body: AnswerBody) -> None:
        match body["t"]:
            case "opened":
                self._opened(body)
            case "ports":
                asked = self._asked.get(body["id"])
                if asked is not None and not asked.done():
                    asked.set_result(body["ports"])
            case "tick":
                self._compare(body)
            case _:
                for channels in self._channels.values():
                    if body["id"] in channels:
                        channels[body["id"]].take(body)

    def _opened(self, body: OpenedBody) -> None:
        opening = self._opening.pop(body["id"], None)
        if opening is None or opening.answer.done():
            return  # nobody waits for it any more
        if not body["refused"]:
            # Now, because what the app sends may be the next message.
            self._channels.setdefault(opening.terminal_id, {})[body["id"]] = opening.channel
            self._heard_at[opening.terminal_id] = time.monotonic()
        opening.answer.set_result(body["refused"])

    def _compare(self, body: TickBody) -> None:
        channels = self._channels.get(body["terminal"])
        if channels:
            self._heard_at[body["terminal"]] = time.monotonic()
            link.compare(body, channels.values())


_exchanges: WeakKeyDictionary[asyncio.AbstractEventLoop, _Exchange] = WeakKeyDictionary()


@contextlib.asynccontextmanager
async def _exchange() -> AsyncIterator[_Exchange]:
    loop = asyncio.get_running_loop()
    exchange = _exchanges.get(loop)
    if exchange is None or exchange.tasks[0].done():
        exchange = _exchanges[loop] = _Exchange()
    exchange.users += 1
    try:
        # Shielded: one user that gives up must not end the subscription of the others.
        await asyncio.shield(exchange.ready)
        yield exchange
    finally:
        exchange.users -= 1
        if not exchange.users:
            if _exchanges.get(loop) is exchange:
                del _exchanges[loop]
            for task in exchange.tasks:
                task.cancel()
