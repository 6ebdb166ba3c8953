"""Sessions as documents, and their log."""

from __future__ import annotations

from typing import Annotated

from django.http import StreamingHttpResponse
from ninja import Query, Router
from typing_extensions import TypedDict

from opencode_web.lib.db import in_db
from sessions.access import access_session
from sessions.actions.exports import note_export
from sessions.actions.imports import import_session
from sessions.api.auth import ApiRequest, AsyncTokenOrCookie
from sessions.api.location import require_location
from sessions.api.schemas import ImportBody
from sessions.events.bodies import Record
from sessions.events.live import to_record
from sessions.events.replay import events_after
from sessions.models import Session
from sessions.present.pages.export import export_pieces
from sessions.wire import MessageWire, SessionWire, session_to_wire
from teams.auth import Principal
from teams.models import Role

# Comes before the routes of one session: `import` would be taken for its id.
router = Router(tags=["session"])

MAX_LISTED = 1_000


class Exported(TypedDict):
    info: SessionWire
    messages: list[MessageWire]


@router.post("/session/import", summary="Make a session of an exported one")
def post_import(request: ApiRequest, body: ImportBody) -> SessionWire:
    location = require_location(request, need=Role.MEMBER)
    return session_to_wire(import_session(location.access, body.info, body.messages))  # type: ignore[arg-type]  # it came as JSON


@router.get(
    "/session/{session_id}/export",
    auth=AsyncTokenOrCookie(),
    summary="The whole session as one JSON document",
)
async def get_export(
    request: ApiRequest, session_id: str
) -> Annotated[StreamingHttpResponse, Exported]:
    session = await in_db(_session, request.auth, session_id)
    response = StreamingHttpResponse(export_pieces(session), content_type="application/json")
    response["Content-Disposition"] = f'attachment; filename="{session.slug}.json"'
    return response


def _session(principal: Principal, session_id: str) -> Session:
    access = access_session(principal, session_id)
    note_export(access)
    return access.session


@router.get("/session/{session_id}/log", summary="What happened, in order, as it is stored")
def list_log(
    request: ApiRequest,
    session_id: str,
    after: Annotated[int, Query(ge=0, le=2**62, description="Events after this `seq`")] = 0,
    limit: Annotated[int, Query(ge=1, le=MAX_LISTED)] = MAX_LISTED,
) -> list[Record]:
    session = access_session(request.auth, session_id).session
    return [to_record(event) for event in events_after(session.pk, after, limit=limit)]
