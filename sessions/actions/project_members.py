"""Who sees a project: its whole team, or only its members."""

from __future__ import annotations

from typing import Any  # names of columns

from django.db import transaction
from django.utils.translation import gettext as _

from opencode_web.lib.errors import Invalid
from opencode_web.lib.json import JsonObject
from sessions.access import ProjectAccess
from sessions.models import Project, ProjectMember
from teams.access import TeamAccess, require_role
from teams.actions.members import change_views
from teams.audit import AuditAction, record
from teams.models import Membership, Role, TeamGroup

ROLES = (Role.VIEWER, Role.MEMBER)


@transaction.atomic
def restrict_project(access: ProjectAccess, *, restricted: bool, ip: str | None = None) -> Project:
    """Let only its members see a project, or the whole team again.

    Who restricts it becomes a member, to keep it also without the role that let them.
    Raises: Forbidden below admin.
    """
    require_role(access.team, Role.ADMIN)
    project = Project.objects.select_for_update().get(pk=access.project.pk)
    if project.is_restricted == restricted:
        return project
    project.is_restricted = restricted
    project.save(update_fields=["is_restricted"])
    key: JsonObject = {} if restricted else {"key": "opened"}
    _audit(AuditAction.PROJECT_ACCESS_CHANGED, access, key, ip)
    if restricted:
        keep_creator(access.team, project)
    change_views(project.team_id)
    return project


def keep_creator(access: TeamAccess, project: Project) -> None:
    """Make the actor a member of a project that is restricted. Must run inside a transaction."""
    membership = access.membership
    if membership.expires_at is None:
        defaults = {"role": Role.MEMBER}
        ProjectMember.objects.get_or_create(
            project=project, membership=membership, defaults=defaults
        )


@transaction.atomic
def set_project_member(
    access: ProjectAccess,
    member: Membership | TeamGroup,
    *,
    role: Role | None,
    ip: str | None = None,
) -> None:
    """Give somebody or a group of the team a role in a project; None takes it away.

    Raises: Invalid for others, and for a role that projects do not have; Forbidden below admin.
    """
    require_role(access.team, Role.ADMIN)
    if role is not None:
        _require_of_team(access, member)
    if role not in (None, *ROLES):
        raise Invalid(_("A project has viewers and members."), field="role")
    project = Project.objects.select_for_update().get(pk=access.project.pk)
    field = "group" if isinstance(member, TeamGroup) else "membership"
    key: dict[str, Any] = {"project": project, field: member}
    own = ProjectMember.objects.filter(**key)
    before = own.values_list("role", flat=True).first()
    if before == role:
        return
    if role is None:
        own.delete()
    else:
        ProjectMember.objects.update_or_create(**key, defaults={"role": role})
    who: JsonObject = (
        {"key": "group", "group": member.name}
        if isinstance(member, TeamGroup)
        else {"user": member.user.email}
    )
    change: JsonObject = {"before": before or "", "after": role.value if role else ""}
    _audit(AuditAction.PROJECT_MEMBER_CHANGED, access, {**who, **change}, ip)
    change_views(project.team_id)


def _require_of_team(access: ProjectAccess, member: Membership | TeamGroup) -> None:
    is_temporary = isinstance(member, Membership) and member.expires_at is not None
    if member.team_id != access.project.team_id or is_temporary:
        raise Invalid(_("Not a member of this team."))


def _audit(action: AuditAction, access: ProjectAccess, data: JsonObject, ip: str | None) -> None:
    actor, team = access.principal.user, access.team.team
    record(action, actor=actor, team=team, target=access.project, data=data, ip=ip)
