from __future__ import annotations

import asyncio
import json

from opencode_web.lib.json import JsonObject

# Frames that one browser may be behind before it has to read its page again.
CAPACITY = 256


def encode(frame: JsonObject) -> str:
    """Encode once; the text goes to every browser."""
    return json.dumps(frame, separators=(",", ":"), ensure_ascii=False)


class Ended(Exception):
    """Nothing will follow: the browser has to connect again."""


_RESET = encode({"k": "reset", "why": "slow"})


class Listener:
    """The frames that one browser has not taken yet. A slow one gets a `reset` in their place."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[str | None] = asyncio.Queue()
        self._is_cut = False

    def put(self, text: str) -> None:
        """Hand over an encoded frame."""
        if self._is_cut:
            return
        if self._queue.qsize() >= CAPACITY:
            while not self._queue.empty():
                self._queue.get_nowait()
            # Whatever follows is in the page that the browser reads next.
            self._is_cut = True
            text = _RESET
        self._queue.put_nowait(text)

    def end(self) -> None:
        """Let the one who reads know that nothing will follow."""
        self._queue.put_nowait(None)

    async def get(self) -> str:
        """Wait for the next frame. Raises: Ended."""
        text = await self._queue.get()
        if text is None:
            raise Ended
        if self._is_cut and self._queue.empty():
            self._is_cut = False
        return text
