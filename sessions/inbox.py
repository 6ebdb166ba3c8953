"""The inbox of a session: what was admitted and waits for a safe boundary."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from functools import reduce
from operator import or_

from django.db.models import Max, Q

from opencode_web.lib.compiled import CompiledQuery
from opencode_web.lib.ids import new_id
from sessions.events.inbox import InputPromoted
from sessions.events.messages import UserMessage
from sessions.events.parts import PART, AnyPart, TextPart
from sessions.events.removal import MessageRemoved, SessionReverted
from sessions.events.types import (
    MessageUpdated,
    PartRemoved,
    PartUpdated,
    SessionEvent,
    SessionUpdated,
)
from sessions.models import Event, Message, Part, Session, SessionInput, State
from sessions.part_ids import is_any_taken, with_ascending_ids
from sessions.repository.plugins import is_by_plugins
from sessions.rules.in_force import with_tools
from teams.models import User

_PENDING = CompiledQuery(
    lambda session_id: (
        SessionInput.objects.filter(session=session_id, status=SessionInput.Status.ADMITTED)
        .select_related("author", "edited_by")
        .order_by("position", "admitted_seq")
    ),
    str,
)
_INPUT = CompiledQuery(
    lambda input_id: SessionInput.objects.filter(pk=input_id).select_related("author"), str
)


class Boundary(StrEnum):
    """Where promotion happens."""

    # Between two steps of a running turn: steers only.
    STEP = "step"
    # Nothing is left to do: steers first, else the next queued prompt.
    TURN = "turn"


def pending_inputs(session_id: str) -> list[SessionInput]:
    """Returns: admitted inputs that are not promoted, in their order, with who wrote each."""
    return _PENDING.all(session_id)


def find_input(input_id: str) -> SessionInput | None:
    """Returns: the input as it is now, whatever has become of it, with its author."""
    return _INPUT.first(input_id)


def not_begun(sessions: Iterable[Session]) -> set[str]:
    """Returns: the ids of busy sessions whose prompts no worker has taken yet.

    That is in the log: nothing was promoted since the session was idle.
    """
    busy = [one.pk for one in sessions if one.state == State.BUSY and not one.waits_for]
    inputs = SessionInput.objects.filter(session__in=busy)
    pending = inputs.filter(status=SessionInput.Status.ADMITTED)
    waiting = set(pending.values_list("session_id", flat=True)) if busy else set[str]()
    if not waiting:
        return waiting
    newest = inputs.filter(session__in=waiting, status=SessionInput.Status.PROMOTED)
    began = dict(newest.values_list("session_id").annotate(seq=Max("promoted_seq")))
    if not began:
        return waiting
    since = [Q(session=session_id, seq__gt=seq) for session_id, seq in began.items()]
    idle = Event.objects.filter(reduce(or_, since), type="session.status", data__state="idle")
    return (waiting - began.keys()) | set(idle.values_list("session_id", flat=True))


def sending_order(pending: list[SessionInput]) -> list[SessionInput]:
    """Returns: pending inputs as they will be promoted: steers before what is queued."""
    return sorted(pending, key=lambda row: row.delivery != SessionInput.Delivery.STEER)


def select_inputs(pending: list[SessionInput], boundary: Boundary) -> list[SessionInput]:
    """Which of the pending inputs are promoted here: all steers, or at a turn's end one queued."""
    steers = [row for row in pending if row.delivery == SessionInput.Delivery.STEER]
    if steers or boundary is Boundary.STEP:
        return steers
    return pending[:1]


def parts_of(row: SessionInput) -> list[AnyPart]:
    """Returns: the parts of the message that the input becomes."""
    return [PART.validate_python(part) for part in row.data["parts"]]


def is_compaction(row: SessionInput) -> bool:
    """Whether it asks for a summary of the conversation instead of an answer."""
    return any(part["type"] == "compaction" for part in row.data["parts"])


def own_text(row: SessionInput) -> str:
    """Returns: what a person wrote, without what the server added for files."""
    texts = (part for part in parts_of(row) if isinstance(part, TextPart) and not part.synthetic)
    return "\n\n".join(part.text for part in texts)


def writer_of(row: SessionInput) -> User | None:
    """Who wrote the text as it is now, and answers for what is done about it."""
    return row.edited_by or row.author


def steps_since_promotion(session: Session, *, agent: str = "") -> int:
    """How many answers the agent has given since it was last given something new.

    With `agent` only its own count: the turn of a plan is no part of what build may take.

    Inputs that are promoted together count as one thing: an agent's step limit starts again once
    for each such batch. Source: FEAT-0001 NFR-03.
    """
    newest = session.inputs.filter(status=SessionInput.Status.PROMOTED).aggregate(
        seq=Max("promoted_seq")
    )
    answers = Message.objects.filter(session=session, role="assistant", seq__gt=newest["seq"] or 0)
    if agent:
        answers = answers.filter(data__agent=agent)
    # Neither the summary of a compaction nor a try that failed is a step of the agent.
    return sum(
        finish is not None and not summary
        for finish, summary in answers.values_list("data__finish", "data__summary")
    )


def promotion_events(
    session: Session, rows: list[SessionInput], *, mid_turn: bool = False
) -> list[SessionEvent]:
    """The events that move inputs from the inbox into the history of a locked session.

    `mid_turn`: the agent is at work, so each message says to the model who adds it. The words
    become a part of the message, and are the same bytes in every later request.

    What is rolled back is removed for good before them.
    """
    events = removal_events(session)
    for row in rows:
        info = UserMessage.model_validate(row.data["info"])
        events.append(InputPromoted(id=row.pk))
        events.append(MessageUpdated(info=info, author_id=row.edited_by_id or row.author_id))
        parts = parts_of(row)
        ids = {part.id for part in parts}
        if len(ids) < len(parts) or is_any_taken(ids):
            # A client chose the ids, and another part has come to have one of them.
            parts = [part.model_copy(update={"id": new_id("prt")}) for part in parts]
        if mid_turn:
            parts = with_ascending_ids([_introduction(row), *parts], given=ids)
        events += [PartUpdated(part=part) for part in parts]
        model = {"providerID": info.model.providerID, "id": info.model.modelID}
        if info.model.variant:
            model["variant"] = info.model.variant
        if is_compaction(row):
            continue  # it chooses nothing for what comes after it
        if session.agent != info.agent or session.model != model:
            events.append(SessionUpdated(agent=info.agent, model=dict(model)))
        if info.tools:
            # They stay, as in OpenCode.
            events.append(SessionUpdated(permission=with_tools(session, info.tools)))
    return events


def _introduction(row: SessionInput) -> TextPart:
    writer = writer_of(row)
    # A name is a person's own text: it gets one line and no more.
    name = " ".join(writer.display_name.split())[:80] if writer else "Somebody"
    if any(map(is_by_plugins, row.data["parts"])):
        name = f"a plugin, in the turn of {name},"
    text = f"While you were working, {name} added this. Take it into account and carry on."
    return TextPart(
        id=new_id("prt"),
        sessionID=row.session_id,
        messageID=row.pk,
        text=text,
        synthetic=True,
    )


def removal_events(session: Session) -> list[SessionEvent]:
    """Returns: the events that make a rollback final; none when nothing is rolled back."""
    if session.hidden_from is None:
        return []
    hidden = Message.objects.hidden(session)
    events: list[SessionEvent] = [
        MessageRemoved(message_id=pk) for pk in hidden.order_by("seq").values_list("pk", flat=True)
    ]
    # Of a message that was rolled back from its middle on.
    parts = Part.objects.hidden(session).filter(message__seq__lt=session.hidden_from)
    for pk, message_id in parts.order_by("seq").values_list("pk", "message_id"):
        events.append(PartRemoved(message_id=message_id, part_id=pk))
    return [*events, SessionReverted()]
