"""The inbox of a session: what was admitted and waits for a safe boundary."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, cast

from pydantic import TypeAdapter

from opencode_web.lib.compiled import CompiledQuery
from opencode_web.lib.ids import new_id
from opencode_web.lib.json import JsonObject
from sessions.events.messages import UserMessage
from sessions.events.parts import AnyPart
from sessions.events.types import (
    InputPromoted,
    MessageUpdated,
    PartUpdated,
    SessionEvent,
    SessionUpdated,
)
from sessions.models import Part, Session, SessionInput

_PART: TypeAdapter[AnyPart] = TypeAdapter(cast(Any, AnyPart))  # see events/types.py

_PENDING = CompiledQuery(
    lambda session_id: SessionInput.objects.filter(
        session=session_id, status=SessionInput.Status.ADMITTED
    ).order_by("admitted_seq"),
    str,
)


class Boundary(StrEnum):
    """Where promotion happens."""

    # Between two steps of a running turn: steers only.
    STEP = "step"
    # Nothing is left to do: steers first, else the next queued prompt.
    TURN = "turn"


def pending_inputs(session_id: str) -> list[SessionInput]:
    """Returns: admitted inputs that are not promoted, in the order of admission."""
    return _PENDING.all(session_id)


def select_inputs(pending: list[SessionInput], boundary: Boundary) -> list[SessionInput]:
    """Which of the pending inputs are promoted here: all steers, or at a turn's end one queued."""
    steers = [row for row in pending if row.delivery == SessionInput.Delivery.STEER]
    if steers or boundary is Boundary.STEP:
        return steers
    return pending[:1]


def promotion_events(session: Session, rows: list[SessionInput]) -> list[SessionEvent]:
    """The events that move inputs from the inbox into the history of a locked session."""
    events: list[SessionEvent] = []
    for row in rows:
        info = UserMessage.model_validate(row.data["info"])
        events.append(InputPromoted(id=row.pk))
        events.append(MessageUpdated(info=info, author_id=row.author_id))
        parts = [_PART.validate_python(part) for part in row.data["parts"]]
        taken = set(Part.objects.filter(pk__in=[p.id for p in parts]).values_list("pk", flat=True))
        for part in parts:
            # A client chose the id, and somebody else's part came to have it in the meantime.
            fresh = part.model_copy(update={"id": new_id("prt")}) if part.id in taken else part
            events.append(PartUpdated(part=fresh))
            taken.add(part.id)
        model = {"providerID": info.model.providerID, "id": info.model.modelID}
        if info.model.variant:
            model["variant"] = info.model.variant
        if session.agent != info.agent or session.model != model:
            events.append(SessionUpdated(agent=info.agent, model=dict(model)))
        if info.tools:
            # A prompt's `tools` become the session's rules and stay, as in OpenCode.
            events.append(SessionUpdated(permission=_tool_rules(info.tools)))
    return events


def _tool_rules(tools: dict[str, bool]) -> list[JsonObject]:
    return [
        {"permission": name, "pattern": "*", "action": "allow" if wanted else "deny"}
        for name, wanted in tools.items()
    ]
