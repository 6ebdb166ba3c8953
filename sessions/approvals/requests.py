from __future__ import annotations

from django.db.models import OuterRef, Q, QuerySet

from opencode_web.lib.errors import NotFound
from sessions.approvals.people import approvers_for, deciders
from sessions.models import ChangeRequest
from sessions.visibility import given_role, oversees, projects_in
from teams.access import TeamAccess, has_role
from teams.models import Role


def visible_changes(access: TeamAccess) -> QuerySet[ChangeRequest]:
    """Returns: the person's own, and those for which their role would be enough: that in the team,
    or in projects that they see, where the role in the project decides."""
    of_team = Q(need__in=_within(access.role))
    rows = ChangeRequest.objects.filter(team=access.team)
    if oversees(access.membership):
        is_seen = of_team
    else:
        rows = rows.annotate(given_role=given_role(access.user.pk, OuterRef("project")))
        is_given = Q(given_role=None) & of_team
        for role in (Role.MEMBER, Role.VIEWER):
            is_given |= Q(given_role=role, need__in=_within(role))
        is_seen = Q(project=None) & of_team | Q(project__in=projects_in(access)) & is_given
    rows = rows.filter(Q(asker=access.user) | is_seen)
    return rows.select_related("team", "project", "asker", "decided_by")


def _within(role: Role) -> list[Role]:
    return [need for need in Role if has_role(role, need)]


def changes_to_decide(access: TeamAccess) -> list[ChangeRequest]:
    """Returns: what waits for the person, the oldest first. No query where the team has nothing
    approved."""
    if not access.team.needs_approval:
        return []
    waiting = visible_changes(access).filter(status=ChangeRequest.Status.PENDING)
    rows = list(waiting.exclude(asker=access.user).order_by("created_at", "pk"))
    named = approvers_for(access.team, rows)
    return [row for row in rows if access.user in deciders(named[row.project_id], row)]


def access_change(access: TeamAccess, change_id: str) -> ChangeRequest:
    """Raises: NotFound."""
    row = visible_changes(access).filter(pk=change_id).first()
    if row is None:
        raise NotFound("Request", change_id)
    return row
