"""Take back what was answered with "always", and undo that."""

from __future__ import annotations

from datetime import timedelta

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from opencode_web.lib.errors import Conflict
from opencode_web.lib.json import JsonObject, number_of, text_of
from sessions.access import ProjectAccess
from sessions.models import ChangeKind, Project, SavedRule
from sessions.visibility import projects_in, sessions_in
from teams.access import TeamAccess, require_role
from teams.audit import AuditAction, record
from teams.models import AuditEntry, Role, Team, User

_UNDO_FOR = timedelta(minutes=10)


def revoke_rule(access: ProjectAccess, rule: SavedRule) -> AuditEntry:
    """Forget an "always" of a project or of a session. Calls that run already are not affected.

    Returns: what `restore_rule` takes.
    """
    return _forget(rule, access.principal.user, access.team.team, access.project)


def revoke_team_rule(access: TeamAccess, rule: SavedRule) -> AuditEntry:
    """Like `revoke_rule`, for what holds in the whole team. Raises: Forbidden below admin."""
    require_role(access, Role.ADMIN)
    return _forget(rule, access.user, access.team, access.team)


@transaction.atomic
def restore_rule(access: TeamAccess, entry_id: int) -> SavedRule:
    """Save again what the person has just revoked, as it was.

    Raises: Conflict when that was long ago, somebody has revoked it since, or there is nothing left
    that it was about; Forbidden for what the person may not revoke any more.
    """
    revoked = AuditEntry.objects.filter(team=access.team, action=AuditAction.RULE_REVOKED)
    entry = revoked.filter(
        pk=entry_id, actor=access.user, time__gte=timezone.now() - _UNDO_FOR
    ).first()
    if entry is None:
        raise _too_late()
    require_role(access, Role.MEMBER if entry.target_type == "project" else Role.ADMIN)
    if ChangeKind.RULES in access.team.needs_approval:
        raise Conflict(_("In this team a second person approves rules, so none can be restored."))
    rule = _rule_of(entry, access)
    later = revoked.filter(pk__gt=entry.pk, target_id=entry.target_id)
    if (rule.permission, rule.pattern) in map(_what, later):
        raise _too_late()
    SavedRule.objects.bulk_create([rule], ignore_conflicts=True)
    record(
        AuditAction.RULE_RESTORED,
        actor=access.user,
        team=access.team,
        target=rule.project or access.team,
        data=_data_of(rule),
    )
    return rule


@transaction.atomic
def _forget(rule: SavedRule, user: User, team: Team, target: Project | Team) -> AuditEntry:
    data: JsonObject = {**_data_of(rule), "session": rule.session_id, "author": rule.created_by_id}
    entry = record(AuditAction.RULE_REVOKED, actor=user, team=team, target=target, data=data)
    rule.delete()
    return entry


def _data_of(rule: SavedRule) -> JsonObject:
    return {"permission": rule.permission, "pattern": rule.pattern, "scope": rule.scope.value}


def _rule_of(entry: AuditEntry, access: TeamAccess) -> SavedRule:
    """Raises: Conflict when its project or session is gone, or is not seen any more."""
    team = access.team
    project = session = None
    if entry.target_type == "project":
        project = projects_in(access).filter(pk=entry.target_id).first()
        session_id = text_of(entry.told, "session")
        session = sessions_in(access).filter(pk=session_id, project=project).first()
        if project is None or (session_id and session is None):
            raise _too_late()
    return SavedRule(
        team=None if project else team,
        project=project,
        session=session,
        permission=text_of(entry.told, "permission"),
        pattern=text_of(entry.told, "pattern"),
        created_by=User.objects.filter(pk=number_of(entry.told, "author") or 0).first(),
        created_at=timezone.now(),
    )


def _what(entry: AuditEntry) -> tuple[str, str]:
    return text_of(entry.told, "permission"), text_of(entry.told, "pattern")


def _too_late() -> Conflict:
    return Conflict(_("This can no longer be undone."))
