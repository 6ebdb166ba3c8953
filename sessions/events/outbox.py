"""What webhooks and people hear of: rows to be sent, written in the transaction of the event.

A payload says what happened and where to look. It never has text of a conversation, a command, a
file or a secret in it: whoever wants those fetches them with a token.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from opencode_web.lib.compiled import CompiledQuery
from opencode_web.lib.ids import new_id
from opencode_web.lib.json import JsonObject
from opencode_web.lib.reasons import english
from sessions.events.inbox import InputCancelled, InputPromoted
from sessions.events.mentions import people_in
from sessions.events.parts import TextPart
from sessions.events.questions import QuestionAsked
from sessions.events.types import PartUpdated, PermissionAsked, SessionEvent, SessionStatus
from sessions.models import (
    Notification,
    NotificationKind,
    Outcome,
    OutsideReply,
    Session,
    State,
    Webhook,
    WebhookDelivery,
)

MAX_DETAIL_CHARS = 500
# In the metadata of sessions that were begun by a comment on the forge.
INTEGRATION = "integration"
_Reply = OutsideReply.State
_SHOWN_THERE = (SessionStatus, InputPromoted, InputCancelled)


class Happening(StrEnum):
    """What a webhook can be told of."""

    IDLE = "session.idle"
    ERROR = "session.error"
    PERMISSION = "permission.asked"
    QUESTION = "question.asked"
    AUDIT = "audit.entry"


@dataclass(frozen=True)
class Announcement:
    """Something that happened, before anybody is chosen to hear of it."""

    name: Happening
    data: JsonObject


def announcements(session: Session, events: Sequence[SessionEvent]) -> list[Announcement]:
    """Returns: what of these events is told, while `session` is still as it was before them.

    A sub-agent's requests are told as its top session's, as people see them; its own end is not.
    """
    found: list[Announcement] = []
    busy = session.state != State.IDLE.value
    for event in events:
        match event:
            case SessionStatus(state="idle") if busy and session.parent_id is None:
                found += _ended(event)
            case PermissionAsked():
                asked: JsonObject = {"id": event.id, "permission": event.permission}
                found.append(Announcement(Happening.PERMISSION, {**asked, **_asked_by(session)}))
            case QuestionAsked():
                asked = {"id": event.id, "questions": len(event.questions)}
                found.append(Announcement(Happening.QUESTION, {**asked, **_asked_by(session)}))
            case _:
                pass
        if isinstance(event, SessionStatus):
            busy = event.state != "idle"
    return found


_HOOKS = CompiledQuery(
    lambda project_id, team_id: Webhook.objects.filter(
        Q(project=None) | Q(project=project_id), team=team_id, disabled_at=None
    ),
    str,
    str,
)


def write_deliveries(session: Session, told: Sequence[Announcement], *, now: datetime) -> None:
    """Put what happened into the outbox of every webhook that wants to hear of it."""
    if not told:
        return
    hooks = _HOOKS.all(session.project_id, session.project.team_id)
    if not hooks:
        return
    WebhookDelivery.objects.bulk_create(
        delivery(hook, one.name, {**_place(session), "data": one.data}, now=now)
        for hook in hooks
        for one in told
        if one.name in hook.events
    )


def write_notifications(session: Session, told: Sequence[Announcement], *, now: datetime) -> None:
    """Have people told of what happened. Whom, is found out when the rows are sent."""
    rows = [
        Notification(
            kind=kind,
            session_id=session.top_id,
            request=str(one.data.get("id", "")),
            next_at=now,
            created_at=now,
        )
        for one in told
        if (kind := _kind_of(one)) is not None
    ]
    if rows:
        Notification.objects.bulk_create(rows)


def _kind_of(told: Announcement) -> NotificationKind | None:
    """Returns: None for what somebody has stopped: they know."""
    match told.name, told.data.get("outcome"):
        case ((Happening.PERMISSION | Happening.QUESTION), _):
            return NotificationKind.ASKS
        case (Happening.ERROR, _) | (Happening.IDLE, Outcome.INTERRUPTED.value):
            return NotificationKind.FAILS
        case Happening.IDLE, Outcome.DONE.value:
            return NotificationKind.ENDS
        case _:
            return None


def note_mentions(session: Session, events: Sequence[SessionEvent], *, now: datetime) -> None:
    """Have people told who are mentioned in prompts that leave the inbox."""
    taken = {event.id for event in events if isinstance(event, InputPromoted)}
    if not taken:
        return
    parts = (event.part for event in events if isinstance(event, PartUpdated))
    texts = (one for one in parts if isinstance(one, TextPart) and one.messageID in taken)
    rows = [
        Notification(
            kind=NotificationKind.MENTIONED,
            session=session,
            request=one.messageID,
            next_at=now,
            created_at=now,
        )
        for one in texts
        if people_in(one.metadata)
    ]
    if rows:
        Notification.objects.bulk_create(rows)


def note_replies(session: Session, events: Sequence[SessionEvent], *, now: datetime) -> None:
    """Have the comments on the forge that tell of this session written anew, if it changed."""
    # A sub-agent's events change nothing of it: what it says is how its own session is.
    if INTEGRATION not in session.metadata or session.parent_id is not None:
        return
    if not any(isinstance(event, _SHOWN_THERE) for event in events):
        return
    OutsideReply.objects.filter(session=session).write_anew(_Reply.SHOWN, now=now)


def delivery(
    hook: Webhook, event: str, body: JsonObject, *, now: datetime | None = None
) -> WebhookDelivery:
    """Returns: a row to be inserted, due at once."""
    now = now or timezone.now()
    row = WebhookDelivery(id=new_id("dlv"), webhook=hook, event=event, next_at=now, created_at=now)
    row.payload = {"id": row.pk, "type": event, "timestamp": now.isoformat(), **body}
    return row


def _ended(event: SessionStatus) -> list[Announcement]:
    detail = english(event.told)[:MAX_DETAIL_CHARS]
    data: JsonObject = {"outcome": event.outcome, "detail": detail}
    idle = Announcement(Happening.IDLE, data)
    return [Announcement(Happening.ERROR, data), idle] if event.outcome == "failed" else [idle]


def _asked_by(session: Session) -> JsonObject:
    return {"sessionID": session.pk}


def _place(session: Session) -> JsonObject:
    project, team, top_id = session.project, session.project.team, session.top_id
    place: JsonObject = {
        "team": {"id": team.pk, "slug": team.slug},
        "project": {"id": project.pk, "name": project.name},
        "session": {
            "id": top_id,
            "title": (session.root or session).title,
            "url": f"{settings.PUBLIC_URL or settings.BASE_PATH}/t/{team.slug}/s/{top_id}",
        },
    }
    return place
