"""Fetches that authorise.

Pages, REST, sockets and tasks reach projects and sessions only through these.

Whoever may not know that something exists gets NotFound; who may see it but not do it, Forbidden.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from django.db.models import QuerySet

from opencode_web.lib.compiled import CompiledQuery
from opencode_web.lib.errors import NotFound
from sessions.models import PermissionRequest, Project, QuestionRequest, Session, SessionInput
from teams.access import TeamAccess, access_team, require_role
from teams.auth import Principal
from teams.models import Membership, Role, Scope, User

_MEMBERSHIP = CompiledQuery(
    lambda user_id, team_id: Membership.objects.filter(user=user_id, team=team_id)[:1], int, str
)


Asked = TypeVar("Asked", PermissionRequest, QuestionRequest)


@dataclass(frozen=True)
class ProjectAccess:
    """A project, and the membership through which the principal reaches it."""

    project: Project
    team: TeamAccess
    principal: Principal


@dataclass(frozen=True)
class SessionAccess:
    """A session, and the membership through which the principal reaches it."""

    session: Session
    team: TeamAccess
    principal: Principal

    @property
    def project(self) -> Project:
        return self.session.project


def _scope_for(need: Role) -> Scope:
    if need.rank >= Role.ADMIN.rank:
        return Scope.ADMIN
    return Scope.WRITE if need.rank >= Role.MEMBER.rank else Scope.READ


def access_principal_team(
    principal: Principal, slug_or_id: str, *, need: Role = Role.VIEWER
) -> TeamAccess:
    """Like `teams.access.access_team`, within the team and the scopes of a token.

    Raises: NotFound, Forbidden.
    """
    access = access_team(principal.user, slug_or_id)
    if principal.team is not None and principal.team.pk != access.team.pk:
        raise NotFound("Team", slug_or_id)
    principal.require(_scope_for(need))
    require_role(access, need)
    return access


def _only_team(principal: Principal) -> str | None:
    return None if principal.team is None else principal.team.pk


def _team_ids(user_id: int, team_id: str | None) -> QuerySet[Membership, str]:
    rows = Membership.objects.filter(user=user_id)
    if team_id is not None:
        rows = rows.filter(team=team_id)
    return rows.values_list("team_id", flat=True)


def _sessions_of(user_id: int, team_id: str | None) -> QuerySet[Session]:
    return Session.objects.filter(project__team__in=_team_ids(user_id, team_id)).select_related(
        "project", "project__team", "owner"
    )


_SESSION = CompiledQuery(
    lambda user_id, session_id: _sessions_of(user_id, None).filter(pk=session_id), int, str
)
_SESSION_OF_TEAM = CompiledQuery(
    lambda user_id, team_id, session_id: _sessions_of(user_id, team_id).filter(pk=session_id),
    int,
    str,
    str,
)


def visible_projects(principal: Principal) -> QuerySet[Project]:
    """Returns: every project of the principal's teams."""
    teams = _team_ids(principal.user.pk, _only_team(principal))
    return Project.objects.filter(team__in=teams).select_related("team")


def visible_sessions(principal: Principal) -> QuerySet[Session]:
    """Returns: every session of the principal's teams, the project with each."""
    return _sessions_of(principal.user.pk, _only_team(principal))


def access_project(
    principal: Principal, project_id: str, *, need: Role = Role.VIEWER
) -> ProjectAccess:
    """Raises: NotFound for another team's or an unknown project; Forbidden below `need`."""
    project = visible_projects(principal).filter(pk=project_id).first()
    if project is None:
        raise NotFound("Project", project_id)
    return ProjectAccess(
        project, access_principal_team(principal, project.team_id, need=need), principal
    )


def access_session(
    principal: Principal, session_id: str, *, need: Role = Role.VIEWER
) -> SessionAccess:
    """Raises: NotFound for another team's or an unknown session; Forbidden below `need`."""
    user_id, team_id = principal.user.pk, _only_team(principal)
    session = (
        _SESSION.first(user_id, session_id)
        if team_id is None
        else _SESSION_OF_TEAM.first(user_id, team_id, session_id)
    )
    if session is None:
        raise NotFound("Session", session_id)
    team = access_principal_team(principal, session.project.team_id, need=need)
    return SessionAccess(session, team, principal)


def access_permission(
    principal: Principal, request_id: str, *, need: Role = Role.MEMBER
) -> tuple[PermissionRequest, SessionAccess]:
    """Raises: NotFound for another team's or an unknown request; Forbidden below `need`."""
    rows = PermissionRequest.objects.filter(pk=request_id)
    return _access_asked(principal, rows, need, missing=NotFound("Permission request", request_id))


def access_question(
    principal: Principal, request_id: str, *, need: Role = Role.MEMBER
) -> tuple[QuestionRequest, SessionAccess]:
    """Raises: NotFound for another team's or an unknown question; Forbidden below `need`."""
    rows = QuestionRequest.objects.filter(pk=request_id)
    return _access_asked(principal, rows, need, missing=NotFound("Question", request_id))


def _access_asked(
    principal: Principal, rows: QuerySet[Asked], need: Role, *, missing: NotFound
) -> tuple[Asked, SessionAccess]:
    row = rows.filter(session__in=visible_sessions(principal)).first()
    if row is None:
        raise missing
    return row, access_session(principal, row.session_id, need=need)


def may_change_input(access: SessionAccess, row: SessionInput) -> bool:
    """Whether a waiting prompt's text, delivery and removal are the principal's to decide.

    Who wrote it may, the owner of the session and admins of the team. The order of what waits is
    every member's.
    """
    user = access.principal.user
    wrote = user.pk in (row.author_id, row.edited_by_id)
    return wrote or access.session.owner_id == user.pk or access.team.can(Role.ADMIN)


def may_prompt(user: User | None, project: Project) -> bool:
    """Whether work that this person asked for may still run: asked again before every turn."""
    if user is None or not user.is_active:
        return False
    row = _MEMBERSHIP.first(user.pk, project.team_id)
    return row is not None and Role(row.role).rank >= Role.MEMBER.rank
