"""What operators tell everybody, and maintenance."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext as _

from opencode_web.lib.errors import Invalid, NotFound
from opencode_web.lib.json import JsonObject
from opencode_web.lib.text import clean_text
from teams.access import require_operator
from teams.announcements import forget_kept_announcements
from teams.audit import AuditAction, record
from teams.models import Announcement, User


@dataclass(frozen=True)
class Draft:
    """`starts_at` is None for now, `ends_at` until somebody ends it."""

    text: str
    level: str = Announcement.Level.INFO
    stops_prompts: bool = False
    starts_at: datetime | None = None
    ends_at: datetime | None = None


@transaction.atomic
def post_announcement(operator: User, draft: Draft, *, ip: str | None = None) -> Announcement:
    """Show a text on every page, and with `stops_prompts` accept no messages meanwhile.

    Raises: Forbidden for others than operators; Invalid for no text, or a time that is over before
    it begins.
    """
    require_operator(operator)
    text = clean_text(draft.text).strip()
    if not text or len(text) > 500:
        raise Invalid(_("Enter a text of at most 500 characters."), field="text")
    starts_at = draft.starts_at or timezone.now()
    if draft.ends_at is not None and draft.ends_at <= max(starts_at, timezone.now()):
        raise Invalid(_("Choose an end in the future, after the start."), field="ends_at")
    row = Announcement.objects.create(
        text=text,
        level=draft.level,
        stops_prompts=draft.stops_prompts,
        starts_at=starts_at,
        ends_at=draft.ends_at,
        created_by=operator,
    )
    _record(AuditAction.ANNOUNCEMENT_POSTED, operator, row, ip)
    return row


@transaction.atomic
def end_announcement(operator: User, number: int, *, ip: str | None = None) -> None:
    """Show it no longer; messages are accepted again. One that is over stays as it is.

    Raises: Forbidden for others than operators; NotFound.
    """
    require_operator(operator)
    row = Announcement.objects.select_for_update().filter(pk=number).first()
    if row is None:
        raise NotFound("Announcement", str(number))
    if row.ends_at is not None and row.ends_at <= timezone.now():
        return
    if row.starts_at >= timezone.now():
        _record(AuditAction.ANNOUNCEMENT_ENDED, operator, row, ip)
        row.delete()
        return
    Announcement.objects.filter(pk=row.pk).update(ends_at=Now())
    _record(AuditAction.ANNOUNCEMENT_ENDED, operator, row, ip)


def _record(action: AuditAction, operator: User, row: Announcement, ip: str | None) -> None:
    data: JsonObject = {"text": row.text, "maintenance": row.stops_prompts}
    record(action, actor=operator, team=None, target=row, data=data, ip=ip)
    transaction.on_commit(forget_kept_announcements)
