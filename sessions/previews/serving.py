"""The worker's side: from the bus to the apps that run in one terminal."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Coroutine
from typing import Protocol, cast

from opencode_web.lib.bus import subscribe
from sessions.previews import link
from sessions.previews.channel import PIECE_BYTES, Channel, ChannelBody
from sessions.previews.link import LOST_S, TICK_S, AskBody, OpenBody, RequestBody, TickBody

logger = logging.getLogger(__name__)

# To all apps of one terminal together.
MAX_CONNECTIONS = 64
# A connection on which nothing was sent for so long is ended.
IDLE_S = 3600.0
_BUS_PAUSE_S = 1.0


class Network(Protocol):
    """Where the apps are. Source: `tools.sandbox.inner_network.InnerNetwork`."""

    async def ports(self) -> list[int]:
        """The ports at which apps answer."""

    async def connect(self, port: int) -> socket.socket:
        """Connect to one of them. Raises: OSError."""


@contextlib.asynccontextmanager
async def serve_previews(terminal_id: str, network: Network) -> AsyncIterator[None]:
    """Carry connections to the apps of a terminal while the block lasts."""
    serving = _Serving(terminal_id, network)
    tasks = [asyncio.create_task(serving.listen()), asyncio.create_task(serving.tick())]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        await serving.end()
        for task in tasks:
            if not task.cancelled() and (failure := task.exception()):
                logger.error("preview.failed terminal=%s", terminal_id, exc_info=failure)


class _Serving:
    def __init__(self, terminal_id: str, network: Network) -> None:
        self._id = terminal_id
        self._network = network
        # By the group of the web process that has them.
        self._channels: dict[str, dict[str, Channel]] = defaultdict(dict)
        self._heard_at: dict[str, float] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def listen(self) -> None:
        while True:
            try:
                async with subscribe(link.worker_group(self._id)) as bodies:
                    async for body in bodies:
                        # Nothing but `link` publishes to this group.
                        self._handle(cast(RequestBody, body))
            except OSError:  # what got lost meanwhile ends its connection
                logger.warning("preview.bus_lost terminal=%s", self._id, exc_info=True)
                await asyncio.sleep(_BUS_PAUSE_S)

    async def tick(self) -> None:
        """Say what there is, and end what nobody has or uses any more."""
        while True:
            await asyncio.sleep(TICK_S)
            now = time.monotonic()
            for group, channels in list(self._channels.items()):
                is_lost = now - self._heard_at[group] > LOST_S
                for channel in list(channels.values()):
                    if is_lost or now - channel.used_at > IDLE_S:
                        channel.close()
                if channels:
                    link.answer(group, link.tick(group, self._id, channels.values()))
                else:
                    del self._channels[group], self._heard_at[group]

    async def end(self) -> None:
        tasks = set(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    def _handle(self, body: RequestBody) -> None:
        match body["t"]:
            case "open":
                self._start(self._carry(body))
            case "ask":
                self._start(self._tell_ports(body))
            case "tick":
                self._compare(body)
            case _:
                self._pass_on(body)

    def _start(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (failure := task.exception()):
            logger.error("preview.connection_failed terminal=%s", self._id, exc_info=failure)

    def _pass_on(self, body: ChannelBody) -> None:
        for channels in self._channels.values():
            if body["id"] in channels:
                channels[body["id"]].take(body)

    def _compare(self, body: TickBody) -> None:
        group = body["group"]
        if group in self._heard_at:
            self._heard_at[group] = time.monotonic()
            link.compare(body, self._channels[group].values())

    async def _tell_ports(self, body: AskBody) -> None:
        ports = await self._network.ports()
        link.answer(body["back"], {"t": "ports", "id": body["id"], "ports": ports})

    async def _carry(self, body: OpenBody) -> None:
        group = body["back"]
        if sum(map(len, self._channels.values())) >= MAX_CONNECTIONS:
            _say_opened(body, refused="there are too many connections")
            return
        channel = Channel(body["id"], lambda said: link.answer(group, said))
        self._heard_at[group] = time.monotonic()
        self._channels[group][channel.id] = channel
        try:
            try:
                made = await self._network.connect(body["port"])
            except OSError as exc:
                _say_opened(body, refused=str(exc))
                return
            with made:
                _say_opened(body)
                await _carry(channel, made)
        finally:
            channel.close()
            del self._channels[group][channel.id]


def _say_opened(body: OpenBody, refused: str = "") -> None:
    link.answer(body["back"], {"t": "opened", "id": body["id"], "refused": refused})


async def _carry(channel: Channel, made: socket.socket) -> None:
    """Carry until both directions have ended, or one has failed."""
    try:
        async with asyncio.TaskGroup() as both:
            both.create_task(_carry_in(channel, made))
            both.create_task(_carry_out(channel, made))
    except* OSError as failures:
        logger.debug("preview.cut id=%s %s", channel.id, failures.exceptions[0])


async def _carry_in(channel: Channel, made: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    while data := await channel.read():
        await loop.sock_sendall(made, data)
    made.shutdown(socket.SHUT_WR)


async def _carry_out(channel: Channel, made: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    while data := await loop.sock_recv(made, PIECE_BYTES):
        await channel.write(data)
    channel.finish()
