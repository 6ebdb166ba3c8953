"""The browsers of this process that watch one session: every frame is made once, for all of
them who read the same language.

A room subscribes first and reads the log after that. It knows up to which sequence number it has
rendered; a browser that joins is brought there from its own cursor, then gets what follows.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import ParamSpec
from weakref import WeakKeyDictionary

from opencode_web.lib.db import in_view_db
from opencode_web.lib.json import JsonObject
from opencode_web.lib.languages import in_language
from sessions.events.bodies import EventsBody, Record
from sessions.events.live import Estimate, team_group, to_record
from sessions.events.replay import events_after
from sessions.events.stored import StoredReasoning, StoredText, StoredTool
from sessions.models import Message, Part, Session
from sessions.stream.changed_parts import touched_by
from sessions.stream.frames import (
    Growing,
    Ops,
    load_session,
    render_below,
    render_estimate,
    render_growing,
    render_status,
    render_tool,
    render_touched,
)
from sessions.stream.growth import Growth
from sessions.stream.hub import Body, Overflow, Subscription, watch
from sessions.stream.listener import Listener, encode
from sessions.stream.queue_position import PlacesInLine
from sessions.stream.rooms import LiveRoom, Rooms
from sessions.stream.worker_watch import WorkerWatch

P = ParamSpec("P")
logger = logging.getLogger(__name__)

# A room that fell behind starts again after this.
RESTART_S = 0.04
# Rooms that draw events at the same time. The others gather more meanwhile: a hundred sessions that
# start together are drawn less often and not later.
MOST_DRAWING = 3
# A running tool is drawn again at most this often.
PROGRESS_S = 0.25
# A growing text is in its row after this at the latest.
FLUSHED_S = 0.7
# An offset that no text has reached: makes the room look at the row.
_UNKNOWN = 1 << 40
# Events of sub-agents that show on the page of the session at the top.
BELOW_KINDS = {"permission", "question", "session"}
# A browser that missed more than this reads its page again instead.
MAX_MISSED = 2_000


class Room(LiveRoom):
    """Use `joined`."""

    def __init__(self, session_id: str, team_id: str, language: str) -> None:
        super().__init__()
        self.session_id = session_id
        self._language = language
        self._team_id = team_id
        self._seq = 0
        self._growths: dict[str, Growth] = {}
        self._progress: dict[str, StoredTool] = {}
        self._inbox = Subscription()
        # Held while frames are made, so that nobody joins between a frame and its cursor.
        self._rendering = asyncio.Lock()
        self._progress_timer: asyncio.TimerHandle | None = None
        # Texts that were met in the middle: browsers have less of them than the room knows.
        self._met: set[str] = set()
        self._line = PlacesInLine()
        self._worker = WorkerWatch(session_id)

    async def attach(self, listener: Listener, *, after: int) -> None:
        """Bring a browser from its cursor to now; from then on it gets every frame."""
        async with self._rendering:
            frame = await self._missed(after) if after < self._seq else None
            if frame is not None:
                listener.put(encode(frame))
            if self._growths:
                self._send_text()
                ops = await self._drawn(_growing_ops, self.session_id, self._known_texts())
                listener.put(encode({"k": "h", "ops": ops}))
            self.add(listener)
            # The page may show a place in line of before.
            self._line.follow(self.session_id)

    def close(self) -> None:
        super().close()
        if self._progress_timer is not None:
            self._progress_timer.cancel()

    async def serve(self) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(self._listen())
            group.create_task(self._follow_line())
            group.create_task(self._follow_worker())

    async def _follow_line(self) -> None:
        while await self._line.moved():
            self._inbox.put({"t": "line"})

    async def _follow_worker(self) -> None:
        await self.ready
        while True:
            await self._worker.changed()
            self._inbox.put({"t": "line"})

    async def _listen(self) -> None:
        while True:
            try:
                async with watch(team_group(self._team_id), session=self.session_id) as inbox:
                    self._inbox = inbox
                    await self._start()
                    while True:
                        await self._take(inbox)
            except Overflow:
                # What was dropped is in the log; growing text comes back with its final event.
                logger.warning("room.overflow session=%s", self.session_id)
                await asyncio.sleep(RESTART_S)

    async def _take(self, inbox: Subscription) -> None:
        bodies = await inbox.take()
        self._worker.hear()
        async with self._rendering:
            if all(body["t"] in ("delta", "text due") for body in bodies):
                await self._handle(bodies)
                return
            async with _turns_to_draw():
                # What came while others had their turn is drawn with the rest.
                await self._handle([*bodies, *inbox.take_waiting()])

    async def _start(self) -> None:
        if self.ready.done():
            self._inbox.put({"t": "log due"})
            return
        self._seq = await in_view_db(_current_seq, self.session_id)
        for part_id, text in (await in_view_db(_open_texts, self.session_id)).items():
            self._growths[part_id] = Growth(part_id, text)
        self.be_ready()
        if self._growths:
            asyncio.get_running_loop().call_later(FLUSHED_S, self._read_rows_again)

    def _read_rows_again(self) -> None:
        """What was said just before the room opened may never be said again: a model can pause."""
        for part_id in self._growths:
            self._inbox.put({"t": "text due", "part": part_id})

    async def _handle(self, bodies: list[Body]) -> None:
        """Events first, then the text and progress of parts that have not ended with them."""
        below = [
            body for body in bodies if body["t"] == "events" and body.get("root") == self.session_id
        ]
        if below:
            bodies = [body for body in bodies if body not in below]
            await self._handle_below(below)
        if any(body["t"] in ("events", "log due") for body in bodies):
            await self._handle_events(bodies)
        for body in bodies:
            match body["t"]:
                case "delta":
                    await self._handle_text(body["part"], body["offset"], body["text"])
                case "text due":
                    await self._handle_text(body["part"], _UNKNOWN, "")
                case "progress":
                    self._progress[body["part"]["id"]] = body["part"]
                case "line":
                    ops = await self._drawn(
                        _status_ops, self.session_id, is_lost=self._worker.is_lost
                    )
                    self.send({"k": "h", "ops": ops})
                case "deleted":
                    self.send({"k": "gone"})
        guess = _newest_estimate(bodies)
        if guess is not None:
            ops = await self._drawn(_estimate_ops, self.session_id, self._seq, guess)
            self.send({"k": "h", "ops": ops})
        if self._progress and self._progress_timer is None:
            await self._send_progress()
        if self._met:
            known = self._known_texts()
            ops = await self._drawn(
                _growing_ops,
                self.session_id,
                {key: known[key] for key in self._met if key in known},
            )
            self._met.clear()
            self.send({"k": "h", "ops": ops})
        self._send_text()

    async def _handle_events(self, bodies: list[Body]) -> None:
        records = [
            record
            for body in bodies
            if body["t"] == "events"
            for record in body["events"]
            if record["seq"] > self._seq
        ]
        expected = self._seq + len(records)
        if not records or records[-1]["seq"] != expected or records[0]["seq"] <= self._seq:
            # Lost, doubled or out of order on the bus: the log has all of them.
            records = await in_view_db(_records_after, self.session_id, self._seq)
        if not records:
            return
        touched = touched_by(records)
        for part_id in touched.ended_parts:
            self._growths.pop(part_id, None)
        for part_id in touched.parts:
            self._progress.pop(part_id, None)
        if touched.status:
            self._line.follow(self.session_id)
        ops = await self._touched(records)
        before, self._seq = self._seq, records[-1]["seq"]
        self.send({"q": self._seq, "p": before, "k": "h", "ops": ops})

    async def _handle_below(self, bodies: list[EventsBody]) -> None:
        """What sub-agents ask, and how they fare, is shown here."""
        kinds = {record["type"].partition(".")[0] for body in bodies for record in body["events"]}
        if kinds & BELOW_KINDS:
            is_lost = self._worker.is_lost
            ops = await self._drawn(_below_ops, self.session_id, is_lost=is_lost)
            self.send({"k": "h", "ops": ops})

    async def _handle_text(self, part_id: str, offset: int, text: str) -> None:
        growth = self._growths.get(part_id)
        if growth is None or not growth.add(offset, text):
            row = await in_view_db(_open_text, part_id)
            if row is None:
                self._growths.pop(part_id, None)
                return
            if growth is None:
                growth = self._growths[part_id] = Growth(part_id, row)
                if row:
                    self._met.add(part_id)
            growth.catch_up(row)
            # Still a gap: the row is at most half a second behind, a later delta closes it.
            growth.add(offset, text)

    async def _drawn(self, draw: Callable[P, Ops], *args: P.args, **kwargs: P.kwargs) -> Ops:
        return await in_view_db(in_language, self._language, draw, *args, **kwargs)

    async def _touched(self, records: list[Record]) -> Ops:
        known, is_lost = self._known_texts(), self._worker.is_lost
        return await self._drawn(_touched_ops, self.session_id, records, known, is_lost=is_lost)

    def _known_texts(self) -> Growing:
        return {part_id: growth.known for part_id, growth in self._growths.items()}

    def _send_text(self) -> None:
        for growth in self._growths.values():
            for frame in growth.take_frames():
                self.send(frame)

    async def _send_progress(self) -> None:
        parts, self._progress = list(self._progress.values()), {}
        ops = await self._drawn(_progress_ops, self.session_id, parts)
        if ops:
            self.send({"k": "h", "ops": ops})
        loop = asyncio.get_running_loop()
        self._progress_timer = loop.call_later(PROGRESS_S, self._progress_due)

    def _progress_due(self) -> None:
        self._progress_timer = None
        if self._progress:
            self._inbox.put({"t": "progress due"})

    async def _missed(self, after: int) -> JsonObject:
        records = await in_view_db(_records_after, self.session_id, after)
        if not records or records[0]["seq"] != after + 1 or len(records) > MAX_MISSED:
            return {"k": "reset", "why": "trimmed"}
        ops = await self._touched(records)
        return {"q": records[-1]["seq"], "p": after, "k": "h", "ops": ops}


def _newest_estimate(bodies: list[Body]) -> Estimate | None:
    """Returns: the newest, unless something has happened since that may say more."""
    for body in reversed(bodies):
        match body["t"]:
            case "events" | "log due":
                return None
            case "estimate":
                return Estimate.of(body)
    return None


def _current_seq(session_id: str) -> int:
    return Session.objects.filter(pk=session_id).values_list("seq", flat=True).first() or 0


def _records_after(session_id: str, seq: int) -> list[Record]:
    return [to_record(event) for event in events_after(session_id, seq, limit=MAX_MISSED + 1)]


def _touched_ops(session_id: str, records: list[Record], growing: Growing, *, is_lost: bool) -> Ops:
    session = load_session(session_id)
    if session is None:
        return []
    return render_touched(session, touched_by(records), growing, is_lost=is_lost)


def _below_ops(session_id: str, *, is_lost: bool) -> Ops:
    session = load_session(session_id)
    return render_below(session, is_lost=is_lost) if session else []


def _estimate_ops(session_id: str, seq: int, guess: Estimate) -> Ops:
    session = load_session(session_id)
    # A row that is ahead may have the true figures already.
    return render_estimate(session, guess) if session and session.seq == seq else []


def _status_ops(session_id: str, *, is_lost: bool) -> Ops:
    session = load_session(session_id)
    return render_status(session, is_lost=is_lost) if session else []


def _growing_ops(session_id: str, growing: Growing) -> Ops:
    session = load_session(session_id)
    return render_growing(session, growing) if session else []


def _progress_ops(session_id: str, parts: list[StoredTool]) -> Ops:
    """Progress may come later than the end of its call, and is nothing new then."""
    session = load_session(session_id)
    if session is None:
        return []
    rows = Part.objects.filter(pk__in=[part["id"] for part in parts])
    running = set(rows.filter(data__state__status="running").values_list("pk", flat=True))
    shown = (part for part in parts if part["id"] in running)
    return [op for part in shown for op in render_tool(session, part)]


def _open_texts(session_id: str) -> dict[str, str]:
    """Returns: the texts of the newest message that still grow, by part id."""
    newest = Message.objects.filter(session=session_id).order_by("-seq").values("pk")[:1]
    parts = Part.objects.filter(message__in=newest, type__in=("text", "reasoning"))
    return {part.pk: part.data["text"] for part in parts if _grows(part.data)}


def _open_text(part_id: str) -> str | None:
    """Returns: what the row has of a text that still grows, None when it does not."""
    rows = Part.objects.filter(pk=part_id).values_list("data", flat=True)
    data: StoredText | StoredReasoning | None = rows.first()
    return None if data is None or "end" in data.get("time", {}) else data["text"]


def _grows(part: StoredText | StoredReasoning) -> bool:
    return "time" in part and "end" not in part["time"]


_rooms: Rooms[Room] = Rooms("room")
_drawing: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()


def _turns_to_draw() -> asyncio.Semaphore:
    return _drawing.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(MOST_DRAWING))


@asynccontextmanager
async def joined(
    session_id: str, team_id: str, listener: Listener, *, after: int, language: str = ""
) -> AsyncIterator[None]:
    """Have the frames of a session put into `listener`, from the cursor `after` on."""
    key = f"{session_id} {language}".strip()
    async with _rooms.joined(key, lambda: Room(session_id, team_id, language)) as room:
        try:
            await room.attach(listener, after=after)
            yield
        finally:
            room.discard(listener)
