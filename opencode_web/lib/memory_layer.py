"""The channel layer of the embedded server: in memory, and safe between loops of one process.

channels' own in-memory layer puts a message straight into the receiver's `asyncio.Queue`; from the
loop of another thread that does not wake the receiver (measured: delivery 4.3 s late). Here a
message always hops to the loop that made the channel.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any

from channels.layers import InMemoryChannelLayer

CAPACITY = 10_000


class MemoryLayer(InMemoryChannelLayer):  # type: ignore[misc]  # channels ships no types
    """`InMemoryChannelLayer` whose senders may live on any loop or thread.

    It hands over the message itself and no copy: sender and receivers only read it.
    """

    def __init__(self, **kwargs: Any) -> None:  # the settings dict of CHANNEL_LAYERS
        super().__init__(capacity=CAPACITY, **kwargs)
        self._loops: dict[str, asyncio.AbstractEventLoop] = {}

    async def new_channel(self, prefix: str = "specific.") -> str:
        channel: str = await super().new_channel(prefix)
        self._loops[channel] = asyncio.get_running_loop()
        self.channels[channel] = asyncio.Queue(maxsize=CAPACITY)
        return channel

    async def receive(self, channel: str) -> dict[str, Any]:
        """Unlike the base class, keep the queue of a channel while it is empty."""
        _, message = await self.channels[channel].get()
        return message  # type: ignore[no-any-return]

    async def send(self, channel: str, message: dict[str, Any]) -> None:
        loop = self._loops.get(channel)
        if loop is None or loop.is_closed():
            self.forget(channel)
            return
        loop.call_soon_threadsafe(self._put, channel, message)

    def _put(self, channel: str, message: dict[str, Any]) -> None:
        queue = self.channels.get(channel)
        # A full queue drops the message: durable ones are found again by their sequence number.
        if queue is not None and not queue.full():
            queue.put_nowait((time.time() + self.expiry, message))

    async def group_send(self, group: str, message: dict[str, Any]) -> None:
        for channel in list(self.groups.get(group, ())):
            await self.send(channel, message)

    def forget(self, channel: str) -> None:
        """Drop a channel that nobody reads any more."""
        self._loops.pop(channel, None)
        self.channels.pop(channel, None)
        self._remove_from_groups(channel)
