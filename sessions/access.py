"""Fetches that authorise.

Pages, REST, sockets and tasks reach projects and sessions only through these.

Whoever may not know that something exists gets NotFound; who may see it but not do it, Forbidden.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeVar

from django.db.models import Model, OuterRef, Q, QuerySet
from django.utils.translation import gettext as _

from opencode_web.lib.compiled import CompiledQuery
from opencode_web.lib.errors import Forbidden, NotFound
from sessions.models import (
    Checkout,
    PermissionRequest,
    Preview,
    Project,
    QuestionRequest,
    ReviewComment,
    Schedule,
    Session,
    SessionInput,
    TeamSkill,
    Terminal,
    Webhook,
    WebhookDelivery,
)
from sessions.visibility import (
    given_role,
    given_to,
    role_in,
    seen_projects,
    seen_sessions,
    sessions_in,
)
from teams.access import TeamAccess, access_team, require_role, roles_with
from teams.auth import Principal
from teams.models import Membership, Role, Scope
from teams.policy import unmet_teams

Asked = TypeVar("Asked", PermissionRequest, QuestionRequest)


@dataclass(frozen=True)
class ProjectAccess:
    """A project, and the principal's access to it: `team` has their role in this project."""

    project: Project
    team: TeamAccess
    principal: Principal


@dataclass(frozen=True)
class SessionAccess:
    """A session, and the principal's access to it: `team` has their role in its project."""

    session: Session
    team: TeamAccess
    principal: Principal

    @property
    def project(self) -> Project:
        return self.session.project


@dataclass(frozen=True)
class TerminalAccess:
    """A terminal, and the principal's access to it: `team` has their role in its project."""

    terminal: Terminal
    team: TeamAccess
    principal: Principal


def _scope_for(need: Role | None) -> Scope:
    match need:
        case None | Role.VIEWER:
            return Scope.READ
        case Role.MEMBER:
            return Scope.WRITE
        case _:
            return Scope.ADMIN


def access_principal_team(
    principal: Principal, slug_or_id: str, *, need: Role | None = Role.VIEWER
) -> TeamAccess:
    """Like `teams.access.access_team`, within the team and the scopes of a token.

    Raises: NotFound, Forbidden.
    """
    access = _team_of(principal, slug_or_id, need)
    require_role(access, need)
    return access


def _team_of(principal: Principal, slug_or_id: str, need: Role | None) -> TeamAccess:
    access = access_team(principal.user, slug_or_id, need=None)
    if principal.team is not None and principal.team.pk != access.team.pk:
        raise NotFound("Team", slug_or_id)
    principal.require(_scope_for(need))
    return access


def _access_in(principal: Principal, project: Project, found: Model, need: Role) -> TeamAccess:
    """`found` has the principal's role in the project itself."""
    access = _team_of(principal, project.team_id, need)
    role = role_in(access.membership, given=given_to(found), is_restricted=project.is_restricted)
    if role is None:
        raise NotFound("Project", project.pk)
    access = replace(access, role_here=role, project_id=project.pk)
    require_role(access, need)
    return access


def _only_team(principal: Principal) -> str | None:
    return None if principal.team is None else principal.team.pk


def _team_ids(principal: Principal, need: Role = Role.VIEWER) -> QuerySet[Membership, str]:
    return _ids_of(principal.user.pk, _only_team(principal), need).exclude(
        unmet_teams(principal.user, "team__")
    )


def _ids_of(
    user_id: int, team_id: str | None, need: Role = Role.VIEWER
) -> QuerySet[Membership, str]:
    rows = Membership.objects.current().filter(user=user_id, role__in=roles_with(need))
    if team_id is not None:
        rows = rows.filter(team=team_id)
    return rows.values_list("team_id", flat=True)


def _sessions_in(team_ids: QuerySet[Membership, str], user_id: int) -> QuerySet[Session]:
    rows = Session.objects.filter(seen_sessions(user_id), project__team__in=team_ids)
    return rows.select_related("project", "project__team", "owner")


def _session(user_id: int, team_id: str | None, session_id: str) -> QuerySet[Session]:
    rows = _sessions_in(_ids_of(user_id, team_id), user_id).filter(pk=session_id)
    return rows.annotate(given_role=given_role(user_id, OuterRef("project")))


# `access_team` then judges the sign-in.
_SESSION = CompiledQuery(lambda user_id, session_id: _session(user_id, None, session_id), int, str)
_SESSION_OF_TEAM = CompiledQuery(_session, int, str, str)


def visible_projects(principal: Principal) -> QuerySet[Project]:
    """Returns: every project that the principal sees, in any team."""
    user_id = principal.user.pk
    rows = Project.objects.filter(seen_projects(user_id), team__in=_team_ids(principal))
    rows = rows.annotate(given_role=given_role(user_id, OuterRef("pk")))
    return rows.select_related("team")


def visible_sessions(principal: Principal) -> QuerySet[Session]:
    """Returns: every session that the principal sees, in any team, the project with each."""
    return _sessions_in(_team_ids(principal), principal.user.pk)


def access_project(
    principal: Principal, project_id: str, *, need: Role = Role.VIEWER
) -> ProjectAccess:
    """Raises: NotFound for one that the principal does not see; Forbidden below `need`."""
    project = visible_projects(principal).filter(pk=project_id).first()
    if project is None:
        raise NotFound("Project", project_id)
    return to_project(principal, project, need=need)


def to_project(
    principal: Principal, project: Project, *, need: Role = Role.VIEWER
) -> ProjectAccess:
    """Of one that `visible_projects` has found. Raises: NotFound; Forbidden below `need`."""
    team = _access_in(principal, project, project, need)
    return ProjectAccess(project, team, principal)


def checkouts_in(access: ProjectAccess) -> QuerySet[Checkout]:
    """Returns: worktrees of a project, without those of sessions that the person does not see."""
    is_seen = Q(session=None) | Q(session__in=sessions_in(access.team))
    return Checkout.objects.filter(is_seen, project=access.project)


def access_session(
    principal: Principal, session_id: str, *, need: Role = Role.VIEWER
) -> SessionAccess:
    """Raises: NotFound for one that the principal does not see; Forbidden below `need`."""
    user_id, team_id = principal.user.pk, _only_team(principal)
    session = (
        _SESSION.first(user_id, session_id)
        if team_id is None
        else _SESSION_OF_TEAM.first(user_id, team_id, session_id)
    )
    if session is None:
        raise NotFound("Session", session_id)
    team = _access_in(principal, session.project, session, need)
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


def visible_terminals(principal: Principal) -> QuerySet[Terminal]:
    """Returns: the principal's own, and for admins everybody's in their teams."""
    governed = _team_ids(principal, Role.ADMIN)
    return _terminals(principal, Q(creator=principal.user) | Q(project__team__in=governed))


def _terminals(principal: Principal, allowed: Q) -> QuerySet[Terminal]:
    seen = seen_projects(principal.user.pk, prefix="project__")
    rows = Terminal.objects.filter(allowed, seen, project__team__in=_team_ids(principal))
    rows = rows.annotate(given_role=given_role(principal.user.pk, OuterRef("project")))
    return rows.select_related("project__team", "creator")


def access_terminal(
    principal: Principal, terminal_id: str, *, need: Role = Role.VIEWER, own: bool = False
) -> TerminalAccess:
    """With `own` for what only its person may do: to see what it shows, and to type.

    Raises: NotFound for another person's or an unknown terminal; Forbidden below `need`.
    """
    terminal = visible_terminals(principal).filter(pk=terminal_id).first()
    if terminal is None:
        raise NotFound("Terminal", terminal_id)
    team = _access_in(principal, terminal.project, terminal, need)
    if own and terminal.creator_id != principal.user.pk:
        raise Forbidden(_("Only the owner of a terminal can see its output."))
    return TerminalAccess(terminal, team, principal)


def watchable_terminals(principal: Principal) -> QuerySet[Terminal]:
    """Returns: the principal's own, and those that their persons let the team look at."""
    return _terminals(principal, Q(creator=principal.user) | Q(watchable=True))


def access_watched_terminal(principal: Principal, terminal_id: str) -> TerminalAccess:
    """To see what it shows, and nothing else.

    Raises: NotFound for one that its person has not opened to others; Forbidden below member.
    """
    terminal = watchable_terminals(principal).filter(pk=terminal_id).first()
    if terminal is None:
        raise NotFound("Terminal", terminal_id)
    team = _access_in(principal, terminal.project, terminal, Role.MEMBER)
    return TerminalAccess(terminal, team, principal)


def access_preview(principal: Principal, label: str) -> tuple[Preview, TerminalAccess]:
    """A preview of the principal's own, opened in the same browser.

    Raises: NotFound for any other; Forbidden below member.
    """
    key = principal.browser.key if principal.browser else ""
    preview = Preview.objects.filter(
        pk=label, browser_key=key, terminal__creator=principal.user
    ).first()
    if preview is None:
        raise NotFound("Page")
    terminal = access_terminal(principal, preview.terminal_id, need=Role.MEMBER, own=True)
    return preview, terminal


def access_team_skill(team: TeamAccess, name: str, *, need: Role = Role.VIEWER) -> TeamSkill:
    """Raises: NotFound for a skill that the team has not; Forbidden below `need`."""
    require_role(team, need)
    row = TeamSkill.objects.filter(team=team.team, name=name).first()
    if row is None:
        raise NotFound("Skill", name)
    return row


def access_schedule(
    principal: Principal, schedule_id: str, *, need: Role = Role.VIEWER
) -> tuple[Schedule, ProjectAccess]:
    """Raises: NotFound for another team's or an unknown schedule; Forbidden below `need`."""
    row = Schedule.objects.filter(pk=schedule_id, project__in=visible_projects(principal)).first()
    if row is None:
        raise NotFound("Schedule", schedule_id)
    return row, access_project(principal, row.project_id, need=need)


def access_webhook(team: TeamAccess, webhook_id: str) -> Webhook:
    """Raises: NotFound for a webhook that the team has not; Forbidden below admin."""
    require_role(team, Role.ADMIN)
    row = team.team.webhooks.select_related("project").filter(pk=webhook_id).first()
    if row is None:
        raise NotFound("Webhook", webhook_id)
    return row


def access_delivery(
    team: TeamAccess, webhook_id: str, delivery_id: str
) -> tuple[WebhookDelivery, Webhook]:
    """Raises: NotFound for a delivery that the team's webhook has not; Forbidden below admin."""
    hook = access_webhook(team, webhook_id)
    row = hook.deliveries.filter(pk=delivery_id).first()
    if row is None:
        raise NotFound("Delivery", delivery_id)
    return row, hook


def access_comment(access: SessionAccess, comment_id: int) -> ReviewComment:
    """A comment on the session's changes that was not sent yet. Raises: NotFound for another's."""
    mine = access.session.review_comments.filter(author=access.principal.user)
    row = mine.filter(pk=comment_id).first()
    if row is None:
        raise NotFound("Comment", str(comment_id))
    return row


def may_change_input(access: SessionAccess, row: SessionInput) -> bool:
    """Whether a waiting prompt's text, delivery and removal are the principal's to decide.

    Who wrote it may, the owner of the session and admins of the team. The order of what waits is
    every member's.
    """
    user = access.principal.user
    wrote = user.pk in (row.author_id, row.edited_by_id)
    return wrote or access.session.owner_id == user.pk or access.team.can(Role.ADMIN)
