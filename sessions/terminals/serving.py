"""One running program: its output to the sockets, their keys to it, until one of many ends."""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import logging
import time
from dataclasses import dataclass
from typing import cast

from django.conf import settings
from django.db import InterfaceError, OperationalError
from django.utils.translation import gettext_noop

from opencode_web.lib.bus import subscribe
from opencode_web.lib.db import in_db
from opencode_web.lib.reasons import Cause, Told
from sessions.events.reasons import TerminalReason
from sessions.terminals import link
from sessions.terminals.input import Typed
from sessions.terminals.lease import LEASE_S, RENEW_S
from sessions.terminals.life import Verdict, mark_running, renew_terminal
from sessions.terminals.scrollback import Scrollback
from tools.sandbox.pty import Size, Terminal

logger = logging.getLogger(__name__)

SCROLLBACK_UNITS = 1024 * 1024
# A program that writes faster waits, as on a slow line: sockets buffer what browsers do not take.
OUTPUT_BYTES_PER_S = 1024 * 1024
_SMALL_BYTES = 1024
# Typed text that the program has not read yet; more is taken when it has.
MAX_WAITING_CHARS = 1024 * 1024
_DRAIN_S = 2.0
_BUS_PAUSE_S = 1.0


@dataclass(frozen=True)
class Ended:
    """How a terminal ended; `told` is empty when it ended by itself."""

    code: int | None
    told: Told = ""


KILLED = 137
_REMOVED = Ended(KILLED)
_RIGHTS_LOST = Ended(
    KILLED, gettext_noop("Its person may not use terminals of this project any more.")
)
_DATABASE_LOST = Ended(KILLED, gettext_noop("The server lost its database for too long."))


class Serving:
    """Of one program. Call `until_end` once."""

    def __init__(self, terminal_id: str, program: Terminal) -> None:
        self._id = terminal_id
        self._program = program
        self._scrollback = Scrollback(SCROLLBACK_UNITS)
        self._typed = Typed()
        self._keys: asyncio.Queue[str] = asyncio.Queue()
        self._waiting_chars = 0
        self._typed_at = time.monotonic()
        self._listening = asyncio.Event()
        self._look = asyncio.Event()

    async def until_end(self) -> Ended:
        """Serve it. The program may still run when this returns or raises: the caller ends it."""
        tasks: list[asyncio.Task[Ended] | asyncio.Task[None]] = [
            asyncio.create_task(self._listen())
        ]
        try:
            async with asyncio.timeout(LEASE_S):
                await self._listening.wait()
            if not await in_db(mark_running, self._id, pid=self._program.pid):
                return _REMOVED
            reading = asyncio.create_task(self._read())
            tasks += [asyncio.create_task(self._write()), asyncio.create_task(self._watch())]
            tasks += [asyncio.create_task(self._wait(reading))]
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            tasks.append(reading)
            # A fault of ours in one that never ends comes out here.
            results = [task.result() for task in done]
            return next(result for result in results if result is not None)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    async def _read(self) -> None:
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        while data := await self._program.read():
            if text := decoder.decode(data):
                link.say_output(self._id, self._scrollback.add(text))
            if len(data) >= _SMALL_BYTES:
                await asyncio.sleep(len(data) / OUTPUT_BYTES_PER_S)

    async def _wait(self, reading: asyncio.Task[None]) -> Ended:
        code = await self._program.wait()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_DRAIN_S):
                await asyncio.shield(reading)
        why = self._program.stopped
        return Ended(code, Cause(TerminalReason.LIMIT, {"why": why}) if why else "")

    async def _write(self) -> None:
        while True:
            text = await self._keys.get()
            await self._program.write(text.encode("utf-8", "replace"))
            self._waiting_chars -= len(text)

    async def _watch(self) -> Ended:
        """Keep the lease, say that it lives, and look whether it may."""
        kept = time.monotonic()
        while True:
            try:
                verdict = await in_db(renew_terminal, self._id)
                kept = time.monotonic()
            except (OperationalError, InterfaceError):
                verdict = Verdict.GO_ON
                logger.warning("terminal.not_renewed terminal=%s", self._id, exc_info=True)
            if verdict is not Verdict.GO_ON:
                return _REMOVED if verdict is Verdict.REMOVED else _RIGHTS_LOST
            if time.monotonic() - kept > LEASE_S:
                return _DATABASE_LOST
            if time.monotonic() - self._typed_at > settings.TERMINAL_IDLE_H * 3600:
                hours = settings.TERMINAL_IDLE_H
                return Ended(KILLED, Cause(TerminalReason.IDLE, {"hours": hours}))
            link.say_tick(self._id, end=self._scrollback.end)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(RENEW_S):
                    await self._look.wait()
            self._look.clear()

    async def _listen(self) -> None:
        while True:
            try:
                async with subscribe(link.input_group(self._id)) as bodies:
                    self._listening.set()
                    async for body in bodies:
                        # Nothing but `link` publishes to this group.
                        self._handle(cast(link.InputBody, body))
            except OSError:  # sockets send again what was not taken
                logger.warning("terminal.bus_lost terminal=%s", self._id, exc_info=True)
                await asyncio.sleep(_BUS_PAUSE_S)

    def _handle(self, body: link.InputBody) -> None:
        match body["t"]:
            case "type":
                self._take(body["from"], body["n"], body["text"])
            case "read":
                self._replay(body["from"], body["at"])
            case "size":
                self._program.resize(Size(body["rows"], body["columns"]))
            case "end":
                self._look.set()

    def _take(self, socket: str, number: int, text: str) -> None:
        has_room = not self._waiting_chars or (self._waiting_chars + len(text) <= MAX_WAITING_CHARS)
        if self._typed.is_next(socket, number) and has_room:
            self._typed.take(socket, number)
            self._typed_at = time.monotonic()
            self._waiting_chars += len(text)
            self._keys.put_nowait(text)
        link.say_taken(self._id, socket, self._typed.taken(socket))

    def _replay(self, socket: str, at: int) -> None:
        start, end = self._scrollback.start, self._scrollback.end
        at = end if at < 0 else at
        while True:
            piece = self._scrollback.read(at, most=link.PIECE_UNITS)
            at, more = piece.end, piece.end < end and bool(piece.text)
            link.say_replay(self._id, socket, piece, start=start, end=end, more=more)
            if not more:
                return
