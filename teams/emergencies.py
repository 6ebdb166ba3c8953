"""Emergency access that is over, told to each owner of the team until they dismiss it.

An owner may have been away the whole time, on a server that sends no mail.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlencode

from django.urls import reverse
from django.utils import timezone

from opencode_web.lib.json import list_of
from teams.access import TeamAccess
from teams.audit import AuditAction
from teams.models import AuditEntry, Role

_SHOWN = timedelta(days=30)
# Key of `preferences`: numbers of the entries that the notices are about.
DISMISSED = "dismissed_emergencies"


@dataclass(frozen=True)
class EmergencyNotice:
    """`url` lists what the operator did in the team on these days."""

    operator: str
    role: str
    reason: str
    since: datetime
    until: datetime
    url: str
    dismiss_url: str


def emergency_notices(access: TeamAccess) -> list[EmergencyNotice]:
    """Returns: those of the last 30 days that an owner has not dismissed, the newest first; none
    for others. One query for owners."""
    if access.role != Role.OWNER:
        return []
    now = timezone.now()
    entries = AuditEntry.objects.filter(
        team=access.team,
        target_id=access.team.pk,
        action__in=(AuditAction.EMERGENCY_BEGAN, AuditAction.EMERGENCY_ENDED),
        time__gte=now - _SHOWN,
    )
    dismissed = list_of(access.user.preferences, DISMISSED)
    ends: dict[object, datetime] = {}
    found = []
    for entry in entries.order_by("-pk"):
        if entry.action == AuditAction.EMERGENCY_ENDED:
            ends[entry.told.get("user")] = entry.time
            continue
        planned = datetime.fromisoformat(str(entry.told["until"]))
        until = min(planned, ends.pop(entry.actor_email, planned))
        # Until then, every page has a banner.
        if until <= now and entry.pk not in dismissed:
            found.append(_build(access, entry, until))
    return found


def _build(access: TeamAccess, entry: AuditEntry, until: datetime) -> EmergencyNotice:
    slug = access.team.slug
    days = {"since": entry.time.date(), "until": until.date()}
    asked = urlencode({"who": entry.actor_email, **days})
    return EmergencyNotice(
        operator=entry.actor_email,
        role=str(Role(str(entry.told["role"])).label),
        # Empty once the words of the entry were erased.
        reason=str(entry.told.get("reason", "")),
        since=entry.time,
        until=until,
        url=f"{reverse('teams:audit', args=[slug])}?{asked}",
        dismiss_url=reverse("teams:emergency_dismiss", args=[slug, entry.pk]),
    )
