"""Operators who get into a team in an emergency: for a reason, for a time, seen by all of it.

They are members like others meanwhile, as viewer or as admin, so that every rule holds for them.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Max
from django.utils import timezone
from django.utils.translation import gettext as _

from opencode_web.lib.errors import Conflict, Invalid
from opencode_web.lib.json import JsonObject, list_of
from teams.access import TeamAccess, require_operator
from teams.actions.emergency_mail import mail_later
from teams.actions.members import announce_access, end_credentials
from teams.actions.tastes import remember_taste
from teams.audit import AuditAction, record
from teams.emergencies import DISMISSED
from teams.models import Membership, Role, Team, User

MAX_HOURS = 24
_MIN_REASON_CHARS = 10
_MAX_DISMISSED = 50


@transaction.atomic
def break_glass(
    operator: User, team: Team, *, reason: str, role: Role, hours: int, ip: str | None = None
) -> Membership:
    """Let an operator into a team until `hours` from now.

    Raises: Forbidden for others than operators; Invalid for a reason or a time that is none;
    Conflict for a member of the team, and where it is done already.
    """
    require_operator(operator)
    if role not in (Role.VIEWER, Role.ADMIN):
        raise Invalid(_("Choose to read, or to read and write."), field="role")
    if not 1 <= hours <= MAX_HOURS:
        raise Invalid(_("Choose up to %(most)s hours.") % {"most": MAX_HOURS}, field="hours")
    reason = reason.strip()
    if len(reason) < _MIN_REASON_CHARS:
        raise Invalid(_("Say what for, in a sentence that the team understands."), field="reason")
    Team.objects.select_for_update().get(pk=team.pk)
    end_over(team)
    until = timezone.now() + timedelta(hours=hours)
    row, is_new = Membership.objects.get_or_create(
        team=team, user=operator, defaults={"role": role, "expires_at": until, "reason": reason}
    )
    if not is_new:
        raise Conflict(_("You are in %(team)s already.") % {"team": team.name})
    data: JsonObject = {"role": role.value, "reason": reason, "until": until.isoformat()}
    for of_team in (team, None):
        record(
            AuditAction.EMERGENCY_BEGAN,
            actor=operator,
            team=of_team,
            target=team,
            data=data,
            ip=ip,
        )
    _note(team)
    mail_later(row)
    return row


@transaction.atomic
def end_break_glass(row: Membership, *, by: User, ip: str | None = None) -> None:
    """Put an operator out before the time. The operator may, and whoever manages the members."""
    _end(row, by=by, ip=ip)
    _note(row.team)


def end_over(team: Team | None = None) -> int:
    """Remove the operators whose time is over: they count no longer anyway.

    Returns: how many they were.
    """
    rows = Membership.objects.filter(expires_at__lte=timezone.now()).select_related("team", "user")
    over = list(rows if team is None else rows.filter(team=team))
    for row in over:
        # Each for itself: it is written down in the chains of the team and of the server, and a
        # transaction that has locked two teams and the server would wait for one that has one.
        with transaction.atomic():
            _end(row, by=None)
            _note(row.team)
    return len(over)


def dismiss_emergency(access: TeamAccess, number: int) -> None:
    """Do not show the person the notice about an entry of the audit trail any more."""
    dismissed = [*list_of(access.user.preferences, DISMISSED), number]
    remember_taste(access.user, key=DISMISSED, value=dismissed[-_MAX_DISMISSED:])


def _end(row: Membership, *, by: User | None, ip: str | None = None) -> None:
    data: JsonObject = {"user": row.user.email}
    for team in (row.team, None):
        record(AuditAction.EMERGENCY_ENDED, actor=by, team=team, target=row.team, data=data, ip=ip)
    # They would be good again the next time.
    end_credentials(row)
    row.delete()
    announce_access(row.team_id)


def _note(team: Team) -> None:
    """Keep with the team until when somebody is in it."""
    rows = Membership.objects.filter(team=team, expires_at__isnull=False)
    until: datetime | None = rows.aggregate(last=Max("expires_at"))["last"]
    Team.objects.filter(pk=team.pk).update(emergency_until=until)
    team.emergency_until = until
