"""For how long a team keeps its sessions, the files of long tool outputs, and its audit log."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.utils import timezone

from teams.models import RetentionLimit, RetentionPolicy, Team
from teams.models.retention import RetentionDays

# A hundred years: what is longer is a mistake.
MAX_DAYS = 36_500


@dataclass(frozen=True)
class Days:
    """Each a number of days, or None: for as long as nobody deletes it."""

    sessions: int | None = None
    outputs: int | None = None
    audit: int | None = None

    def within(self, limit: Days) -> Days:
        """Returns: the shorter ones of both."""
        pairs = zip(astuple(self), astuple(limit), strict=True)
        return Days(*(min((day for day in pair if day), default=None) for pair in pairs))


# Of a team that has chosen nothing. Source for outputs: OpenCode 1.18.
USUAL = Days(outputs=7)


def server_limit() -> Days:
    """Returns: the most that teams may keep."""
    return _of(RetentionLimit.objects.first())


def chosen_days(team: Team) -> Days:
    """Returns: what the team has chosen, whatever the server allows."""
    row = RetentionPolicy.objects.filter(pk=team.pk).first()
    return _of(row) if row else USUAL


def days_in_force(team: Team) -> Days:
    """Returns: what holds for the team."""
    return chosen_days(team).within(server_limit())


def all_days_in_force() -> dict[str, Days]:
    """Returns: what holds, by the id of every team. Three queries."""
    limit = server_limit()
    chosen = {row.pk: _of(row) for row in RetentionPolicy.objects.all()}
    ids = Team.objects.values_list("pk", flat=True)
    return {pk: chosen.get(pk, USUAL).within(limit) for pk in ids}


def cut_at(days: int) -> datetime:
    """Returns: the moment before which things are old."""
    return timezone.now() - timedelta(days=days)


def _of(row: RetentionDays | None) -> Days:
    if row is None:
        return Days()
    # Chosen when less was allowed.
    audit = max(row.audit_days, settings.AUDIT_MIN_DAYS) if row.audit_days else None
    return Days(row.session_days, row.output_days, audit)
