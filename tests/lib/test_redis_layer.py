from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from opencode_web.lib import bus
from opencode_web.lib.redis_layer import RedisLayer
from tests.chaos.target import start_redis
from tests.e2e.installation import free_port


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    port = free_port()
    process = start_redis(port, tmp_path)
    try:
        with redis.Redis(
            port=port, retry=redis.retry.Retry(redis.backoff.ConstantBackoff(0.1), 50)
        ) as client:
            client.ping()
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        process.terminate()
        process.wait(10)


async def test_a_lost_redis_is_an_os_error() -> None:
    layer = RedisLayer(hosts=[{"address": "redis://127.0.0.1:1"}])
    with pytest.raises(OSError, match="Redis"):
        await layer.group_send("session.a", {"type": "bus", "body": {}})
    with pytest.raises(OSError, match="Redis"):
        await layer.new_channel()
    await layer.flush()


@pytest.mark.skipif(not shutil.which("redis-server"), reason="redis-server is not installed")
async def test_it_goes_on_listening_when_the_last_subscription_ends(server: str) -> None:
    layer = RedisLayer(hosts=[{"address": server}])
    channel = await layer.new_channel()
    await layer.group_add("session.a", channel)
    await layer.group_send("session.a", {"type": "bus", "body": {}})
    assert await layer.receive(channel) == {"type": "bus", "body": {}}

    await layer.group_discard("session.a", channel)
    with redis.Redis.from_url(server) as client:
        assert client.pubsub_numsub("asgi__group__session.a") == [(b"asgi__group__session.a", 0)]
        assert client.pubsub_numsub("standing") == [(b"standing", 1)]
    await layer.flush()


@pytest.mark.skipif(not shutil.which("redis-server"), reason="redis-server is not installed")
async def test_who_tries_again_can_be_cancelled_while_redis_is_away(
    server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    layer = RedisLayer(hosts=[{"address": server}])
    monkeypatch.setattr(bus, "get_channel_layer", lambda: layer)
    listening = asyncio.Event()

    async def listen() -> None:
        while True:
            try:
                async with bus.subscribe("session.a") as bodies:
                    listening.set()
                    async for _ in bodies:
                        pass
            except OSError:
                await asyncio.sleep(0.01)

    listener = asyncio.create_task(listen())
    await listening.wait()
    with redis.Redis.from_url(server) as client:
        client.shutdown(nosave=True)

    async def subscribe_until_lost() -> None:
        while True:
            await layer.new_channel()

    with pytest.raises(OSError, match="Redis"):
        await subscribe_until_lost()
    listener.cancel()
    await asyncio.wait([listener], timeout=10)
    assert listener.cancelled()
    await layer.flush()
