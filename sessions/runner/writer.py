"""Growing text: live as deltas, on disk within half a second, complete at its end."""

from __future__ import annotations

import asyncio
import logging

from django.conf import settings
from django.db import transaction

from opencode_web.lib.db import in_db
from opencode_web.lib.ids import new_id
from opencode_web.lib.json import JsonObject
from opencode_web.lib.text import clean_text
from sessions.events.live import publish_delta
from sessions.events.parts import PartTime, ReasoningPart, TextPart
from sessions.events.store import append, lock_session
from sessions.events.types import PartUpdated, SessionEvent
from sessions.models import Part, Run
from sessions.runner.lease import Lease
from sessions.runner.settle import now_ms
from sessions.runner.steps import ProviderTurn

logger = logging.getLogger(__name__)

# Deltas that arrive closer together than this go out as one.
COALESCE_S = 0.025


@transaction.atomic
def append_events(lease: Lease, events: list[SessionEvent]) -> None:
    """Append under the lease, in a transaction of its own. Raises: LeaseLost."""
    append(lock_session(lease.session_id, token=lease.token), events)


@transaction.atomic
def _flush_row(lease: Lease, part: TextPart | ReasoningPart) -> None:
    # Not an event, but no less fenced: a worker that lost its lease must not touch the text.
    if Run.objects.select_for_update().filter(session=lease.session_id, token=lease.token).exists():
        Part.objects.filter(pk=part.id).update(data=part.to_json())


class TextWriter:
    """The one text or reasoning part of a turn that grows at a time.

    Every call must come from the loop of the turn. `close` returns the closing events instead of
    appending them, so that they share a transaction with what follows.
    """

    def __init__(self, turn: ProviderTurn, lease: Lease) -> None:
        self._turn = turn
        self._lease = lease
        self._part: TextPart | ReasoningPart | None = None
        self._chunks: list[str] = []
        self._length = 0
        self._unsent: list[str] = []
        self._sent = 0
        self._send_timer: asyncio.TimerHandle | None = None
        self._flush_task: asyncio.Task[None] | None = None
        self._writing_row = False
        # The parts that were begun, in order.
        self.opened: list[str] = []
        # The texts of this answer that have ended, without its reasoning.
        self._said: list[str] = []

    @property
    def said(self) -> str:
        """What the answer has said so far, without its reasoning."""
        growing = self._chunks if isinstance(self._part, TextPart) else []
        return "".join([*self._said, *growing])

    async def write(self, kind: type[TextPart] | type[ReasoningPart], text: str) -> None:
        """Grow the open part of this kind, opening a new one when there is none."""
        if not text:
            return
        text = clean_text(text)
        if not isinstance(self._part, kind):
            await self._open(kind)
        self._chunks.append(text)
        self._length += len(text)
        self._unsent.append(text)
        if self._send_timer is None:
            self._send()
        if self._flush_task is None or self._flush_task.done():
            self._flush_task = asyncio.create_task(self._flush_later())

    async def _open(self, kind: type[TextPart] | type[ReasoningPart]) -> None:
        events = await self.close()
        part = kind(
            id=new_id("prt"),
            sessionID=self._turn.session.pk,
            messageID=self._turn.info.id,
            text="",
            time=PartTime(start=now_ms()),
        )
        await in_db(append_events, self._lease, [*events, PartUpdated(part=part)])
        self._part = part
        self._chunks, self._length = [], 0
        self._unsent, self._sent = [], 0
        self.opened.append(part.id)

    def _send(self) -> None:
        self._send_timer = None
        if not self._unsent or self._part is None:
            return
        text, self._unsent = "".join(self._unsent), []
        publish_delta(
            self._turn.session,
            message_id=self._part.messageID,
            part_id=self._part.id,
            offset=self._sent,
            text=text,
        )
        self._sent += len(text)
        self._send_timer = asyncio.get_running_loop().call_later(COALESCE_S, self._send)

    def _current(self) -> TextPart | ReasoningPart:
        assert self._part is not None
        return self._part.model_copy(update={"text": "".join(self._chunks)})

    async def _flush_later(self) -> None:
        await asyncio.sleep(settings.FLUSH_S)
        self._writing_row = True
        try:
            await in_db(_flush_row, self._lease, self._current())
        finally:
            self._writing_row = False

    async def close(self, metadata: JsonObject | None = None) -> list[SessionEvent]:
        """End the open part. Returns: its final event, or nothing when none is open."""
        if self._part is None:
            return []
        await self._settle_flush()
        self._send()
        if self._send_timer is not None:
            self._send_timer.cancel()
            self._send_timer = None
        assert self._part.time is not None
        final = self._current().model_copy(
            update={
                "time": PartTime(start=self._part.time.start, end=now_ms()),
                "metadata": metadata,
            }
        )
        if isinstance(final, TextPart):
            self._said.append(final.text)
        self._part = None
        return [PartUpdated(part=final)]

    async def _settle_flush(self) -> None:
        # A write under way must not land after the final text, and its thread cannot be cancelled;
        # one that only waits for its time is not needed any more.
        task, self._flush_task = self._flush_task, None
        if task is not None and not task.done():
            if not self._writing_row:
                task.cancel()
            await asyncio.wait({task})

    async def keep(self) -> None:
        """Put what arrived on disk as it is: the turn is being cancelled."""
        if self._part is not None:
            await self._settle_flush()
            self._send()
            if self._send_timer is not None:
                self._send_timer.cancel()
            await in_db(_flush_row, self._lease, self._current())
