"""Who has a role in a project itself."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count
from django.utils.translation import ngettext

from sessions.access import ProjectAccess
from sessions.actions.project_members import ROLES
from sessions.models import ProjectMember
from sessions.present.projects import project_url
from teams.models import Membership, Role, TeamGroup


@dataclass(frozen=True)
class MemberLine:
    """A person or a group. `id`: what forms send; `about`: an address, or how many people."""

    id: str
    name: str
    about: str
    role: str
    role_label: str


@dataclass(frozen=True)
class ProjectMembers:
    """`others`: who can be added, with their ids."""

    is_restricted: bool
    may_change: bool
    lines: list[MemberLine]
    others: list[tuple[str, str]]
    roles: list[tuple[str, str]]
    access_url: str
    member_url: str


def load_project_members(access: ProjectAccess) -> ProjectMembers:
    """Two queries, and two for admins."""
    project = access.project
    rows = ProjectMember.objects.filter(project=project).select_related("membership__user", "group")
    rows = rows.annotate(people=Count("group__members"))
    lines = sorted((_line(row) for row in rows), key=lambda line: line.name.casefold())
    may_change = access.team.can(Role.ADMIN)
    return ProjectMembers(
        project.is_restricted,
        may_change,
        lines,
        _others(access, {line.id for line in lines}) if may_change else [],
        [(role.value, str(role.label)) for role in ROLES],
        project_url(project, "project_access"),
        project_url(project, "project_member"),
    )


def _line(row: ProjectMember) -> MemberLine:
    label = str(Role(row.role).label)
    if row.group is not None:
        people: int = vars(row)["people"]
        about = ngettext("%(count)s person", "%(count)s people", people) % {"count": people}
        return MemberLine(row.group.pk, row.group.name, about, row.role, label)
    assert row.membership is not None  # a constraint of the table
    user = row.membership.user
    return MemberLine(str(row.membership.pk), user.display_name, user.email, row.role, label)


def _others(access: ProjectAccess, known: set[str]) -> list[tuple[str, str]]:
    """Those whose role in the team gives them less than everything."""
    team = access.team.team
    people = Membership.objects.filter(team=team, expires_at=None, user__is_active=True)
    people = people.filter(role__in=(Role.MEMBER, Role.VIEWER)).select_related("user")
    found = [(str(row.pk), row.user.display_name) for row in people]
    found += TeamGroup.objects.filter(team=team).values_list("pk", "name")
    return sorted((one for one in found if one[0] not in known), key=lambda one: one[1].casefold())
