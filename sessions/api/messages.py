from __future__ import annotations

import base64
import binascii
import json
from collections import defaultdict
from typing import Annotated
from urllib.parse import urlencode

from django.db.models import TextField
from django.db.models.functions import Cast
from django.http import HttpResponse
from ninja import Query, Router
from typing_extensions import TypedDict

from opencode_web.lib.errors import Invalid, NotFound
from opencode_web.lib.json import JsonObject
from opencode_web.lib.shapes import Unchecked
from sessions.access import access_session
from sessions.api.auth import ApiRequest
from sessions.models import Message, Part, Session
from sessions.wire import MessageWire, message_to_wire

router = Router(tags=["message"])

# More messages than this are not named one by one in a query: SQLite takes 32,766 parameters.
MAX_NAMED = 1_000
_AS_TEXT = Cast("data", TextField())


class AnswerMessage(TypedDict):
    """The answer to a prompt; without a reply that is wanted, the prompt itself."""

    info: Annotated[JsonObject, Unchecked("sessions.events.messages.AssistantMessage")]
    parts: list[Annotated[JsonObject, Unchecked("sessions.events.parts.AnyPart")]]


@router.get("/session/{session_id}/message", summary="The history, the oldest first")
def list_messages(
    request: ApiRequest,
    session_id: str,
    limit: Annotated[int, Query(ge=0, description="The newest, at most 1000; 0 for all")] = 0,
    before: Annotated[str, Query(description="X-Next-Cursor of the page after it")] = "",
) -> Annotated[HttpResponse, list[MessageWire]]:
    session = access_session(request.auth, session_id).session
    limit = min(limit, MAX_NAMED)
    rows = Message.objects.filter(session=session).order_by("-seq")
    if before:
        rows = rows.filter(seq__lt=_read_cursor(session, before))
    stored = rows.values_list("pk", _AS_TEXT)
    page = list(stored[: limit + 1] if limit else stored)
    response = HttpResponse(content_type="application/json; charset=utf-8")
    if limit and len(page) > limit:
        page = page[:limit]
        _offer_next(request, response, *page[-1], limit=limit)
    page.reverse()
    response.content = _join(session, page)
    return response


def _join(session: Session, page: list[tuple[str, str]]) -> str:
    """Returns: `{info, parts}` of each as JSON, from what is stored, which is that already."""
    rows = Part.objects.filter(session=session)
    if len(page) <= MAX_NAMED:
        rows = Part.objects.filter(message__in=[key for key, _ in page])
    parts: dict[str, list[str]] = defaultdict(list)
    for message_id, text in rows.order_by("seq", "pk").values_list("message_id", _AS_TEXT):
        parts[message_id].append(text)
    joined = (f'{{"info":{info},"parts":[{",".join(parts[key])}]}}' for key, info in page)
    return f"[{','.join(joined)}]"


@router.get("/session/{session_id}/message/{message_id}", summary="One message")
def get_message(request: ApiRequest, session_id: str, message_id: str) -> MessageWire:
    session = access_session(request.auth, session_id).session
    message = Message.objects.filter(session=session, pk=message_id).first()
    if message is None:
        raise NotFound("Message", message_id)
    return with_parts([message])[0]


def with_parts(messages: list[Message]) -> list[MessageWire]:
    """Returns: `{info, parts}` of each, with one query for all parts."""
    parts: dict[str, list[Part]] = defaultdict(list)
    if len(messages) > MAX_NAMED:
        rows = Part.objects.filter(session__in={message.session_id for message in messages})
    else:
        rows = Part.objects.filter(message__in=messages)
    for part in rows.order_by("seq", "pk"):
        parts[part.message_id].append(part)
    return [message_to_wire(message, parts[message.pk]) for message in messages]


def _offer_next(
    request: ApiRequest, response: HttpResponse, oldest_id: str, oldest: str, *, limit: int
) -> None:
    time = json.loads(oldest)["time"]["created"]
    text = json.dumps({"id": oldest_id, "time": time}, separators=(",", ":"))
    cursor = base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")
    query = urlencode({**request.GET.dict(), "limit": limit, "before": cursor})
    response["X-Next-Cursor"] = cursor
    response["Link"] = f'<{request.build_absolute_uri(request.path)}?{query}>; rel="next"'


def _read_cursor(session: Session, cursor: str) -> int:
    """Returns: the place of the message that the cursor names. Raises: Invalid."""
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        data = json.loads(base64.urlsafe_b64decode(padded))
        message_id = str(data["id"]).replace("\0", "")
    except (binascii.Error, ValueError, KeyError, TypeError) as exc:
        raise Invalid("The cursor `before` is not valid.", kind="Query") from exc
    seq = Message.objects.filter(session=session, pk=message_id).values_list("seq", flat=True)
    place = seq.first()
    if place is None:
        raise Invalid("The cursor `before` is not a message of this session.", kind="Query")
    return place
