"""The channel layers of a server, silenced by a file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from opencode_web.lib.memory_layer import MemoryLayer
from opencode_web.lib.redis_layer import RedisLayer

_FILE = Path(os.environ.get("OPENCODE_WEB_DATA", ".")) / "mute"


class MuteMemory(MemoryLayer):
    async def group_send(self, group: str, message: dict[str, Any]) -> None:
        if not _FILE.exists():
            await super().group_send(group, message)


class MuteRedis(RedisLayer):
    async def group_send(self, group: str, message: dict[str, Any]) -> None:
        if not _FILE.exists():
            await super().group_send(group, message)
