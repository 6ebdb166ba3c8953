"""The events of one project, in their order, through restarts of the server."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from opencode_web_cli.bridge.server import Json, Lost, Refused, Server, note, report

_FIRST_S, _MOST_S = 0.5, 10.0
_START_S = 60.0

Take = Callable[[Json], Awaitable[None]]


class Feed:
    """Hands each event to `take`. After a gap it goes on behind the newest stored event that it
    has seen; `gap` is awaited before, because pieces of growing texts are not stored."""

    def __init__(
        self, server: Server, directory: str, take: Take, gap: Callable[[], Awaitable[None]]
    ) -> None:
        self._server, self._directory = server, directory
        self._take, self._gap = take, gap
        self._position = ""
        self._is_open = asyncio.Event()
        self._task = asyncio.create_task(self._run())
        self._task.add_done_callback(report)

    async def opened(self) -> None:
        """Return when nothing that happens from now on is missed. Raises: Refused, Lost."""
        waiting = asyncio.create_task(self._is_open.wait())
        try:
            await asyncio.wait(
                {waiting, self._task}, timeout=_START_S, return_when=asyncio.FIRST_COMPLETED
            )
        finally:
            waiting.cancel()
        if self._task.done():
            await self._task
        if not self._is_open.is_set():
            raise Lost(f"{self._server.url} does not open its stream of events.")

    def close(self) -> None:
        self._task.cancel()

    @property
    def has_ended(self) -> bool:
        """Whether the server has refused it for good: the token has lost its right."""
        return self._task.done()

    async def _run(self) -> None:
        delay_s = _FIRST_S
        while True:
            try:
                async with self._server.events(self._directory, self._position) as frames:
                    if self._is_open.is_set():
                        await self._gap()
                    async for position, event in frames:
                        delay_s = _FIRST_S
                        self._is_open.set()
                        await self._take(event)
                        self._position = position or self._position
            except Lost as exc:
                if delay_s == _FIRST_S:
                    note(f"{exc}. Trying again; the turn goes on at the server.")
            except Refused as exc:
                if not exc.passes:
                    raise
            await asyncio.sleep(delay_s)
            delay_s = min(2 * delay_s, _MOST_S)
