from __future__ import annotations

from typing import Annotated, cast

from django.http import StreamingHttpResponse
from ninja import Field, Query, Router, Schema

from opencode_web.lib.db import in_db
from opencode_web.lib.errors import NotFound
from opencode_web.lib.ids import is_id
from opencode_web.lib.sse import response
from sessions.access import access_session
from sessions.api.auth import ApiRequest, AsyncTokenOrCookie
from sessions.api.messages import with_parts
from sessions.api.v2.page import Paged, PageQuery, take_page
from sessions.api.v2.place import Wrapped
from sessions.api.v2.session_answers import History, MessageV2
from sessions.api.v2.shapes import message_to_v2
from sessions.events.replay import events_after
from sessions.models import Message, Part
from sessions.runner.log.model_history import load_history
from sessions.stream.durable import durable_events, durable_stream

router = Router(tags=["message"])

MAX_EVENTS = 1_000
Sequence = Annotated[int, Field(ge=0, lt=2**62)]


class HistoryQuery(Schema):
    """Events after a sequence number."""

    after: Sequence = 0
    limit: Annotated[int, Field(ge=1, le=MAX_EVENTS)] = 200


class AfterQuery(Schema):
    after: Sequence = 0


@router.get("/api/session/{session_id}/message", summary="Messages, the newest first, in pages")
def list_messages(
    request: ApiRequest, session_id: str, query: Annotated[PageQuery, Query()]
) -> Paged[list[MessageV2]]:
    session = access_session(request.auth, session_id).session
    rows = Message.objects.visible(session)
    page, cursors = take_page(rows, query, column="seq", newest_last=True)
    return {"data": [*_converted(page)], "cursor": cursors}


@router.get("/api/session/{session_id}/message/{message_id}", summary="One message")
def get_message(request: ApiRequest, session_id: str, message_id: str) -> Wrapped[MessageV2]:
    session = access_session(request.auth, session_id).session
    found = _converted(list(Message.objects.visible(session).filter(pk=message_id)))
    if not found:
        raise NotFound("Message", message_id)
    return {"data": found[0]}


@router.get("/api/session/{session_id}/context", summary="Messages that the model reads")
def get_context(request: ApiRequest, session_id: str) -> Wrapped[list[MessageV2]]:
    history = load_history(access_session(request.auth, session_id).session)
    rows = [entry.row for entry in (*history.compacted, *history.entries)]
    return {"data": [*_converted(rows)]}


@router.get("/api/session/{session_id}/history", summary="What happened, by sequence number")
def get_history(
    request: ApiRequest, session_id: str, query: Annotated[HistoryQuery, Query()]
) -> History:
    session = access_session(request.auth, session_id).session
    rows = events_after(session.pk, query.after, limit=query.limit + 1)
    page = rows[: query.limit]
    return {
        "data": [*durable_events(session.pk, page)],
        "hasMore": len(rows) > query.limit,
        # Where to go on from: not everything that has a number is told.
        "last": page[-1].seq if page else query.after,
    }


@router.get(
    "/api/session/{session_id}/event",
    auth=AsyncTokenOrCookie(),
    summary="What happened and happens, by sequence number, as server-sent events",
)
async def get_events(
    request: ApiRequest, session_id: str, query: Annotated[AfterQuery, Query()]
) -> StreamingHttpResponse:
    if not is_id(session_id, "ses"):
        raise NotFound("Session", session_id)
    await in_db(access_session, request.auth, session_id)
    last = request.headers.get("Last-Event-ID", "")
    after = int(last) if last.isdecimal() and len(last) < 19 else query.after
    return response(durable_stream(request.auth, session_id, after=after))


def _converted(rows: list[Message]) -> list[MessageV2]:
    asked = [row.data["parentID"] for row in rows if row.data.get("summary") is True]
    requests = Part.objects.filter(message__in=asked, type="compaction") if asked else ()
    autos = {part.message_id for part in requests if part.data["auto"]}
    shapes = (message_to_v2(wire, autos) for wire in with_parts(rows))
    # What they are made of was checked when it was stored.
    return [cast(MessageV2, shape) for shape in shapes if shape is not None]
