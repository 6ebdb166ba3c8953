"""Growing text: live as deltas, on disk within half a second, complete at its end."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from django.db import transaction

from opencode_web.lib.db import in_db
from opencode_web.lib.ids import new_id
from opencode_web.lib.json import JsonObject
from opencode_web.lib.text import clean_text
from sessions.events.live import Delta, publish_deltas
from sessions.events.parts import PartTime, ReasoningPart, TextPart
from sessions.events.store import append, lock_session
from sessions.events.types import PartUpdated, SessionEvent
from sessions.runner.log.lease import Lease
from sessions.runner.log.pulse import Row, pulse, write_rows
from sessions.runner.log.settle import now_ms
from sessions.runner.log.steps import ProviderTurn
from tools.redaction import NO_SECRETS, Redactor


@transaction.atomic
def append_events(lease: Lease, events: list[SessionEvent]) -> None:
    """Append under the lease, in a transaction of its own. Raises: LeaseLost."""
    append(lock_session(lease.session_id, token=lease.token), events)


class TextWriter:
    """The one text or reasoning part of a turn that grows at a time.

    Every call must come from the loop of the turn. `close` returns the closing events instead of
    appending them, so that they share a transaction with what follows. `redactor` takes out what
    must not be shown, also where it came in pieces.
    """

    def __init__(self, turn: ProviderTurn, lease: Lease, redactor: Redactor = NO_SECRETS) -> None:
        self._turn = turn
        self._redactor = redactor
        self._clean = redactor.stream()
        self._lease = lease
        self._pulse = pulse()
        self._part: TextPart | ReasoningPart | None = None
        # When its block ended, if it has; it is closed with what comes next.
        self._ended: int | None = None
        self._chunks: list[str] = []
        self._unsent: list[str] = []
        self._sent = 0
        # What is done with a text of the answer that has come to its end, before it is kept.
        self.complete: Callable[[TextPart], Awaitable[TextPart]] | None = None
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
        if not self._is_growing(kind):
            await self._open(kind)
        self._add(self._cleaned(text))

    def _cleaned(self, text: str, *, is_last: bool = False) -> str:
        clean = self._clean.finish() if is_last else self._clean.feed(text.encode())
        return clean.decode()

    def _add(self, text: str) -> None:
        if text:
            self._chunks.append(text)
            self._unsent.append(text)
            self._pulse.grew(self)

    def _is_growing(self, kind: type[TextPart] | type[ReasoningPart]) -> bool:
        return isinstance(self._part, kind) and self._ended is None

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
        self._part, self._ended = part, None
        self._chunks = []
        self._unsent, self._sent = [], 0
        self._clean = self._redactor.stream()
        self.opened.append(part.id)

    def take_delta(self) -> Delta | None:
        """Returns: what has not gone out yet, once."""
        if not self._unsent or self._part is None:
            return None
        text, self._unsent = "".join(self._unsent), []
        offset, self._sent = self._sent, self._sent + len(text)
        return Delta(self._turn.session, self._part.messageID, self._part.id, offset, text)

    def to_row(self) -> Row:
        """Returns: the part with all of its text so far."""
        part = self._current()
        return Row(self._lease, part.id, part.to_json())

    def _current(self) -> TextPart | ReasoningPart:
        assert self._part is not None
        self._chunks = ["".join(self._chunks)]
        return self._part.model_copy(update={"text": self._chunks[0]})

    async def close(self, metadata: JsonObject | None = None) -> list[SessionEvent]:
        """End the open part. Returns: its final event, or nothing when none is open."""
        if self._part is None:
            return []
        self._add(self._cleaned("", is_last=True))
        await self._settle()
        if self._clean.hid and isinstance(self._part, ReasoningPart):
            # Its signature is of the text that it had.
            metadata = None
        assert self._part.time is not None
        final = self._current().model_copy(
            update={
                "time": PartTime(start=self._part.time.start, end=self._ended or now_ms()),
                "metadata": metadata,
            }
        )
        if isinstance(final, TextPart):
            if self.complete is not None:
                final = await self.complete(final)
            self._said.append(final.text)
        self._part = None
        return [PartUpdated(part=final)]

    async def end(
        self, kind: type[TextPart] | type[ReasoningPart], metadata: JsonObject | None
    ) -> list[SessionEvent]:
        """End a block of this kind. One with metadata is a part although nothing was said in it.

        Returns: the final event of the part if it has metadata, which has to be kept. Any other is
        closed with what comes next: until then its text is on disk as before.
        """
        if metadata:
            if not self._is_growing(kind):
                await self._open(kind)
            return await self.close(metadata)
        if self._part is not None:
            self._add(self._cleaned("", is_last=True))
        self._ended = self._ended or now_ms()
        return []

    async def keep(self) -> None:
        """Put what arrived on disk as it is: the turn is being cancelled."""
        if self._part is not None:
            self._add(self._cleaned("", is_last=True))
            await self._settle()
            await in_db(write_rows, [self.to_row()], wait=True)

    async def _settle(self) -> None:
        """Send the rest, and let nothing that is under way write behind the final text."""
        await self._pulse.settled(self)
        delta = self.take_delta()
        if delta is not None:
            publish_deltas([delta])
