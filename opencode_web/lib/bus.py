"""Publish and subscribe between the processes of one installation, over the channel layer.

Nothing here may be the only copy of anything: a message can be lost, and whoever needs all of them
reads the event log after its own sequence number. Messages are JSON-like dicts.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

from channels.layers import get_channel_layer

from opencode_web.lib.json import JsonObject
from opencode_web.lib.loop import service_loop

logger = logging.getLogger(__name__)

_outboxes: dict[asyncio.AbstractEventLoop, asyncio.Queue[tuple[str, Mapping[str, object]]]] = {}


def publish(group: str, message: Mapping[str, object]) -> None:
    """Send to every subscriber of `group`.

    Returns: at once. Messages of one process to one group keep their order. Subscribers in this
    process get the very object, so nobody may change it any more.
    """
    service_loop().call_soon_threadsafe(_enqueue, group, message)


def _enqueue(group: str, message: Mapping[str, object]) -> None:
    loop = asyncio.get_running_loop()
    outbox = _outboxes.get(loop)
    if outbox is None:
        outbox = _outboxes[loop] = asyncio.Queue()
        loop.create_task(_drain_outbox(outbox))  # noqa: RUF006 - lives as long as the loop
    outbox.put_nowait((group, message))


async def _drain_outbox(outbox: asyncio.Queue[tuple[str, Mapping[str, object]]]) -> None:
    """What gathers while a send is under way goes out as one message for each group."""
    while True:
        waiting = [await outbox.get()]
        while not outbox.empty():
            waiting.append(outbox.get_nowait())
        bodies: dict[str, list[Mapping[str, object]]] = {}
        for group, body in waiting:
            bodies.setdefault(group, []).append(body)
        for group, together in bodies.items():
            try:
                await get_channel_layer().group_send(group, {"type": "bus", "bodies": together})
            except OSError as exc:  # readers catch up from the event log
                logger.warning("bus.publish_failed group=%s %s", group, exc)
                # Each of the others would wait for as long, and more would gather meanwhile.
                break


@asynccontextmanager
async def subscribe(*groups: str) -> AsyncIterator[AsyncIterator[JsonObject]]:
    """Receive what is published to the groups while the context is open.

    Subscribing is complete when the context is entered: read the durable state after that, and
    nothing falls in between.
    """
    layer = get_channel_layer()
    channel = await layer.new_channel()
    for group in groups:
        await layer.group_add(group, channel)
    try:
        yield _receive(layer, channel)
    finally:
        for group in groups:
            # Else a bus that is away would take the place of the cancellation that ends this.
            with suppress(OSError):
                await layer.group_discard(group, channel)
        forget = getattr(layer, "forget", None)
        if forget is not None:
            forget(channel)


async def _receive(layer: Any, channel: str) -> AsyncIterator[JsonObject]:  # channels is untyped
    while True:
        message = await layer.receive(channel)
        for body in message["bodies"]:
            yield body
