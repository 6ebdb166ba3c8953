from __future__ import annotations

import asyncio
import logging
from pathlib import Path

from opencode_web.lib.json import JsonObject
from tools.context import ToolContext
from tools.output_store import OutputSpool

logger = logging.getLogger(__name__)

# Source: OpenCode 1.18.
_SHOWN_CHARS = 30_000
_INTERVAL_S = 0.1
# Past the limit of the kept file a command that floods is slowed down through its full pipe.
_FLOOD_PAUSE_S = 0.05


class LiveOutput:
    """Collects the output of a running command and shows its end, at most ten times a second."""

    def __init__(self, context: ToolContext, extra: JsonObject) -> None:
        self._context = context
        self._extra = extra
        # Twice what the model gets, so that a tail by lines never lacks its start.
        kept = 2 * context.limits.max_bytes
        self._spool = OutputSpool(context.output_dir, threshold=kept, tail_bytes=kept)
        self._changed = asyncio.Event()
        self._pump: asyncio.Task[None] | None = None

    async def __aenter__(self) -> LiveOutput:
        self._changed.set()
        self._pump = asyncio.create_task(self._show())
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *exc: object) -> None:
        if self._pump is not None:
            self._pump.cancel()
            # The last picture too: it is all that remains of a command that is stopped.
            ended = await asyncio.gather(self._pump, self._picture(), return_exceptions=True)
            for failure in ended:
                if isinstance(failure, Exception):
                    # The picture is lost, the command's result is not.
                    logger.warning("progress of call %s failed: %r", self._context.call_id, failure)
        if kind is not None:
            # A cancelled or failed call keeps what was written, without making a file for little.
            self._spool.finish(keep=False)

    async def write(self, chunk: bytes) -> None:
        """Take a chunk of output."""
        # In a thread: the disk may be slow, and the loop serves every other session.
        await asyncio.to_thread(self._spool.write, chunk)
        self._changed.set()
        if self._spool.full:
            await asyncio.sleep(_FLOOD_PAUSE_S)

    def text(self) -> str:
        """Get the output as far as it is in memory: more of its end than a model is shown."""
        return _decode(self._spool.tail)

    def shown(self) -> str:
        """Get the end that people see."""
        text = self.text()
        if len(text) > _SHOWN_CHARS or self.lost_start:
            return f"...\n\n{text[-_SHOWN_CHARS:]}"
        return text

    @property
    def lost_start(self) -> bool:
        return self._spool.total_bytes > len(self._spool.tail)

    def finish(self, *, keep: bool) -> Path | None:
        """Close the kept file. Returns: its path; None when there is none."""
        return self._spool.finish(keep=keep)

    async def _show(self) -> None:
        while True:
            await self._changed.wait()
            self._changed.clear()
            await self._picture()
            await asyncio.sleep(_INTERVAL_S)

    async def _picture(self) -> None:
        await self._context.progress(metadata={"output": self.shown(), **self._extra})


def _decode(data: bytes) -> str:
    # A chunk may end inside a character; the next picture shows it whole.
    return data.decode("utf-8", "replace").replace("\0", "\ufffd")
