"""For how long teams keep things, and the most that operators let them keep."""

from __future__ import annotations

from dataclasses import asdict, astuple

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext as _

from opencode_web.lib.errors import Invalid
from opencode_web.lib.json import JsonObject
from teams.access import TeamAccess, require_operator, require_role
from teams.audit import AuditAction, record
from teams.models import RetentionLimit, RetentionPolicy, Role, Team, User
from teams.retention.days import MAX_DAYS, Days, chosen_days, server_limit


@transaction.atomic
def set_retention(access: TeamAccess, days: Days) -> None:
    """Choose what a team keeps. What is older goes with the next run of the clean-up.

    Raises: Forbidden below admin; Invalid for more or less than the operators allow.
    """
    require_role(access, Role.ADMIN)
    team = Team.objects.select_for_update().get(pk=access.team.pk)
    limit = server_limit()
    for name, most in asdict(limit).items():
        asked = getattr(days, name)
        if most is not None and (asked is None or asked > most):
            raise Invalid(
                _("The operators of this server allow at most %(days)s days.") % {"days": most},
                field=name,
            )
    before = chosen_days(team)
    RetentionPolicy.objects.update_or_create(team=team, defaults=_columns(days))
    if days != before:
        data, action = _change(before, days), AuditAction.RETENTION_CHANGED
        # Where admins cannot have it removed, too: it may be to hide what they did before.
        for chain in (team, None) if days.audit != before.audit else (team,):
            record(action, actor=access.user, team=chain, target=team, data=data)


@transaction.atomic
def set_retention_limit(operator: User, days: Days) -> None:
    """Choose the most that any team keeps, and what the server's own audit log keeps.

    Raises: Forbidden for others than operators; Invalid.
    """
    require_operator(operator)
    data = _change(server_limit(), days)
    row = RetentionLimit.objects.select_for_update().first() or RetentionLimit()
    for name, value in _columns(days).items():
        setattr(row, name, value)
    row.save()
    record(AuditAction.RETENTION_CHANGED, actor=operator, team=None, data=data)


def _columns(days: Days) -> dict[str, int | None]:
    """Raises: Invalid for what is no number of days."""
    if any(day is not None and not 1 <= day <= MAX_DAYS for day in astuple(days)):
        raise Invalid(_("Enter 1 to %(most)s days, or nothing.") % {"most": MAX_DAYS})
    if days.audit is not None and days.audit < settings.AUDIT_MIN_DAYS:
        raise Invalid(
            _("On this server, audit logs are kept for at least %(days)s days.")
            % {"days": settings.AUDIT_MIN_DAYS},
            field="audit",
        )
    return {
        "session_days": days.sessions,
        "output_days": days.outputs,
        "audit_days": days.audit,
    }


def _change(before: Days, after: Days) -> JsonObject:
    return {"before": {**asdict(before)}, "after": {**asdict(after)}}
