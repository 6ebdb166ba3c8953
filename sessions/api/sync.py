"""The log of events as a client of OpenCode would copy it. It is read here, and written nowhere."""

from __future__ import annotations

from ninja import Router, Schema
from typing_extensions import TypedDict

from opencode_web.lib.errors import Invalid
from opencode_web.lib.json import JsonObject
from sessions.access import access_session, visible_sessions
from sessions.api.auth import ApiRequest
from sessions.api.schemas import SequenceNumbers
from sessions.events.live import to_record
from sessions.events.replay import events_after
from sessions.models import Event
from teams.models import Role

router = Router(tags=["sync"])

MAX_EVENTS = 1_000


class ReplayBody(Schema):
    """Events of another server."""

    directory: str
    events: list[dict[str, object]]


class StealBody(Schema):
    """A session."""

    sessionID: str


class SyncedSession(TypedDict):
    sessionID: str


class SyncedEvent(TypedDict):
    id: str
    aggregate_id: str
    seq: int
    type: str
    data: JsonObject


@router.post("/sync/start", summary="Nothing to start: every client sees the same sessions")
def start_sync(request: ApiRequest) -> bool:
    return True


@router.post("/sync/replay", summary="Not offered: a log is written by this server alone")
def replay(request: ApiRequest, body: ReplayBody) -> SyncedSession:
    raise Invalid("Events cannot be added to a session. Import it: POST /session/import.")


@router.post("/sync/steal", summary="A session is nobody's alone: it is there for you already")
def steal(request: ApiRequest, body: StealBody) -> SyncedSession:
    return {"sessionID": access_session(request.auth, body.sessionID, need=Role.MEMBER).session.pk}


@router.post("/sync/history", summary="Events of sessions after a sequence number each")
def history(request: ApiRequest, body: SequenceNumbers) -> list[SyncedEvent]:
    known = body.root
    sessions = visible_sessions(request.auth).filter(pk__in=list(known)).order_by("pk")
    found: list[SyncedEvent] = []
    for session_id in sessions.values_list("pk", flat=True):
        room = MAX_EVENTS - len(found)
        found += map(_to_wire, events_after(session_id, known[session_id], limit=room))
    return found


def _to_wire(event: Event) -> SyncedEvent:
    return {
        "id": f"evt_{event.pk}",
        "aggregate_id": event.session_id,
        "seq": event.seq,
        "type": event.type,
        "data": to_record(event)["data"],
    }
