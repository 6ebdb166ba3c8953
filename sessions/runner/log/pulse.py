"""The beat in which the growing texts of a process go out and into their rows, all together.

A hundred sessions that stream at once share one message and one transaction at each beat; a message
and a transaction of its own for each would cost more than everything else about a chunk.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol
from weakref import WeakKeyDictionary

from django.conf import settings
from django.db import Error, transaction

from opencode_web.lib.compiled import CompiledBulkUpdate
from opencode_web.lib.db import in_db
from opencode_web.lib.json import JsonObject
from sessions.events.live import Delta, publish_deltas
from sessions.models import Part, Run
from sessions.runner.log.lease import Lease

logger = logging.getLogger(__name__)

_DATA = CompiledBulkUpdate(Part, "data")

# Text that arrives closer together than this goes out as one.
BEAT_S = 0.04
# Where this would be exceeded the beats get longer: text of 100 sessions waits 0.1 s at most.
DELTAS_PER_S = 1_000
# How long a session counts as growing after its newest text.
GREW_S = 30.0


@dataclass(frozen=True, slots=True)
class Row:
    """What the row of a growing part shall hold, and the lease that allows to write it."""

    lease: Lease
    part_id: str
    data: JsonObject


class GrowingText(Protocol):
    """A text that grows on the loop of its pulse."""

    def take_delta(self) -> Delta | None:
        """Returns: what has not gone out yet, once."""

    def to_row(self) -> Row:
        """Returns: the part with all of its text so far."""


class Pulse:
    """The beats of one event loop: `pulse()` gives it."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        # A dict, as a set that keeps its order.
        self._unsent: dict[GrowingText, None] = {}
        # With the loop's time since which a row has been behind.
        self._unwritten: dict[GrowingText, float] = {}
        self._being_written: dict[GrowingText, Row] = {}
        self._beat: asyncio.TimerHandle | None = None
        self._writer: asyncio.Task[None] | None = None
        self._written = asyncio.Event()

    def grew(self, text: GrowingText) -> None:
        """Have a text sent at the next beat, which after a pause is now, and written soon."""
        self._unsent[text] = None
        if self._beat is None:
            self._send()
        self._unwritten.setdefault(text, self._loop.time())
        if self._writer is None:
            self._writer = self._loop.create_task(self._write(), name="growing texts")

    async def settled(self, text: GrowingText) -> None:
        """Leave a text out. After this nothing writes its row: a thread cannot be cancelled."""
        while text in self._being_written:
            await self._written.wait()
        self._unsent.pop(text, None)
        self._unwritten.pop(text, None)

    def _send(self) -> None:
        self._beat = None
        if self._unsent:
            due, self._unsent = self._unsent, {}
            deltas = [delta for text in due if (delta := text.take_delta()) is not None]
            _newest.update(dict.fromkeys((delta.session.pk for delta in deltas), time.monotonic()))
            publish_deltas(deltas)
            self._beat = self._loop.call_later(max(BEAT_S, len(due) / DELTAS_PER_S), self._send)

    async def _write(self) -> None:
        try:
            while self._unwritten:
                # Half of it is waited for, so that a text that ends at once needs no write.
                await asyncio.sleep(settings.FLUSH_S / 2)
                await self._write_due(self._loop.time() - settings.FLUSH_S / 2)
        finally:
            self._writer = None

    async def _write_due(self, before: float) -> None:
        due = [text for text, since in self._unwritten.items() if since <= before]
        if not due:
            return
        since = {text: self._unwritten.pop(text) for text in due}
        rows = self._being_written = {text: text.to_row() for text in due}
        self._written.clear()
        try:
            left_out = await in_db(write_rows, list(rows.values()))
        except Error as exc:
            logger.warning("pulse.write_failed texts=%d", len(rows), exc_info=exc)
            left_out = {row.part_id for row in rows.values()}
        finally:
            self._being_written = {}
            self._written.set()
        again = {text: since[text] for text, row in rows.items() if row.part_id in left_out}
        self._unwritten |= again


@transaction.atomic
def write_rows(rows: Sequence[Row], *, wait: bool = False) -> set[str]:
    """Put growing parts into their rows: no events, but no less fenced than those.

    A part whose lease is lost is left alone. Unless told to `wait` for it, so is one whose session
    somebody else has locked: whoever holds many locks must not wait for one more.

    Returns: the ids of the parts that were left out and have to be tried again.
    """
    runs = Run.objects.filter(session__in=[row.lease.session_id for row in rows])
    tokens = dict(runs.values_list("session_id", "token"))
    held = set(
        runs.select_for_update(skip_locked=not wait)
        .order_by("pk")
        .values_list("session_id", "token")
    )
    written, left_out = {}, set()
    for row in rows:
        lease = row.lease
        if (lease.session_id, lease.token) in held:
            written[row.part_id] = row.data
        elif tokens.get(lease.session_id) == lease.token:
            left_out.add(row.part_id)
    _DATA.write(written)
    return left_out


# By session: text is no event, and somebody may ask whether a turn still moves.
_newest: dict[str, float] = {}


def growing_sessions() -> list[str]:
    """Returns: the sessions whose text has grown in this process within `GREW_S`."""
    since = time.monotonic() - GREW_S
    for session_id in [key for key, at in list(_newest.items()) if at < since]:
        _newest.pop(session_id, None)
    return list(_newest)


_pulses: WeakKeyDictionary[asyncio.AbstractEventLoop, Pulse] = WeakKeyDictionary()


def pulse() -> Pulse:
    """Returns: the pulse of the running loop."""
    loop = asyncio.get_running_loop()
    if loop not in _pulses:
        _pulses[loop] = Pulse()
    return _pulses[loop]
