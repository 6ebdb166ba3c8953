from __future__ import annotations

import pytest

from opencode_web.lib.redis_layer import RedisLayer


async def test_a_lost_redis_is_an_os_error() -> None:
    layer = RedisLayer(hosts=[{"address": "redis://127.0.0.1:1"}])
    with pytest.raises(OSError, match="Redis"):
        await layer.group_send("session.a", {"type": "bus", "body": {}})
    with pytest.raises(OSError, match="Redis"):
        await layer.new_channel()
    await layer.flush()
