"""The channel layer over Redis, with faults that callers can name without importing redis.

redis' `ConnectionError` is no `OSError`, and importing the package costs 20 MB that the embedded
server does not need; so only the settings of the other one name this module.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from channels_redis.pubsub import RedisPubSubChannelLayer
from redis.exceptions import RedisError

# Nothing is ever sent to it.
_STANDING = "standing"


# A Redis that hangs must not hold up who publishes or subscribes.
_ANSWERS_WITHIN_S = 1.0


@asynccontextmanager
async def _as_connection_error() -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(_ANSWERS_WITHIN_S):
            yield
    except RedisError as exc:
        raise ConnectionError(f"Redis: {exc}") from exc
    except TimeoutError as exc:
        raise ConnectionError("Redis does not answer.") from exc


class RedisLayer(RedisPubSubChannelLayer):  # type: ignore[misc]  # channels-redis ships no types
    """Redis pub/sub. Raises: ConnectionError where the base class raises redis' own errors."""

    async def new_channel(self, prefix: str = "specific.") -> str:
        async with _as_connection_error():
            layer = self._get_layer()
            # The base class looks for messages only every 100 ms from the moment on that its last
            # subscription ends, so the first one after that would come late.
            for shard in layer._shards:
                await shard.subscribe(_STANDING)
            channel: str = await layer.new_channel(prefix)
        return channel

    async def group_send(self, group: str, message: dict[str, Any]) -> None:  # any JSON
        async with _as_connection_error():
            await self._get_layer().group_send(group, message)

    async def group_add(self, group: str, channel: str) -> None:
        async with _as_connection_error():
            await self._get_layer().group_add(group, channel)

    async def group_discard(self, group: str, channel: str) -> None:
        async with _as_connection_error():
            await self._get_layer().group_discard(group, channel)
