"""Have a person, a project or a team erased for good: what asks for it, and what deletes the rows.

Unlike a deletion, nothing is rescued, and the audit log loses the words about it, too.
"""

from __future__ import annotations

from django.db import transaction
from django.db.models import TextField
from django.db.models.functions import Cast
from django.utils.translation import gettext as _

from opencode_web.lib.errors import Conflict, Invalid
from sessions.access import ProjectAccess
from sessions.actions.mcp_sign_ins import erase_removed_grants
from sessions.actions.sessions import remove_tree
from sessions.events.store import lock_session
from sessions.models import AuditCursor, Project, Session, State, Terminal, WebhookDelivery
from sessions.retention.holds import holds_in_project, holds_on_session
from sessions.tree import tree_of
from sessions.wake import wake_erasure
from teams.access import TeamAccess, require_lasting, require_operator, require_role
from teams.actions.erasure import (
    erase_targets_in_audit,
    forget_imported,
    open_erasure,
    open_person_erasure,
)
from teams.actions.members import announce_access
from teams.actions.usage import keep_spend
from teams.models import AuditEntry, Budget, BudgetRequest, Erasure, Role, Team, User
from teams.retention.holds import holds_in_team, refuse_held


@transaction.atomic
def request_person_erasure(actor: User | None, *, email: str, confirm: str) -> Erasure:
    """`actor` is an operator, or None for the command line.

    Raises: Forbidden; Invalid for an unknown address, and when it is not typed again; as
    `open_person_erasure`.
    """
    _require_operator(actor)
    user = User.objects.filter(email__iexact=email.strip()).first()
    if user is None:
        raise Invalid(_("There is no account with this address."), field="what")
    _confirm(confirm, user.email)
    row = open_person_erasure(user, actor=actor)
    wake_erasure(row.pk)
    return row


@transaction.atomic
def request_project_erasure(access: ProjectAccess, *, confirm: str) -> Erasure:
    """Raises: Forbidden below owner; Invalid when the name is not typed; Held; Conflict while a
    session runs."""
    _require_owner(access.team)
    return open_project_erasure(access.project, actor=access.team.user, confirm=confirm)


@transaction.atomic
def open_project_erasure(project: Project, *, actor: User | None, confirm: str) -> Erasure:
    """For the command line, and for who may do it. Raises: as `request_project_erasure`."""
    _confirm(confirm, project.name)
    refuse_held(holds_in_project(project))
    _require_rest(project.team, project)
    kind = Erasure.Kind.PROJECT
    row = open_erasure(kind, project.pk, actor=actor, team=project.team)
    wake_erasure(row.pk, project)
    return row


@transaction.atomic
def request_team_erasure(actor: TeamAccess | User | None, team: Team, *, confirm: str) -> Erasure:
    """`actor` is an owner, an operator, or None for the command line.

    Raises: Forbidden; Invalid when the slug is not typed; Held; Conflict while a session runs.
    """
    if isinstance(actor, TeamAccess):
        _require_owner(actor)
    else:
        _require_operator(actor)
    _confirm(confirm, team.slug)
    refuse_held(holds_in_team(team))
    _require_rest(team)
    by = actor.user if isinstance(actor, TeamAccess) else actor
    row = open_erasure(Erasure.Kind.TEAM, team.pk, actor=by, team=team)
    wake_erasure(row.pk, team.projects.order_by("pk").first())
    return row


def _require_owner(access: TeamAccess) -> None:
    require_role(access, Role.OWNER)
    require_lasting(access)


def _require_operator(actor: User | None) -> None:
    if actor is not None:
        require_operator(actor)


def _confirm(confirm: str, wanted: str) -> None:
    if confirm.strip().casefold() != wanted.casefold():
        raise Invalid(_("Type %(name)s to confirm.") % {"name": wanted}, field="confirm")


def _require_rest(team: Team, project: Project | None = None) -> None:
    busy = Session.objects.filter(project__team=team, state=State.BUSY)
    if (busy if project is None else busy.filter(project=project)).exists():
        raise Conflict(_("Sessions are running. Stop them first."))


@transaction.atomic
def erase_tree(session_id: str, team: Team) -> list[str]:
    """Delete a session at the top with all below it. Its work is not rescued.

    Returns: the ids of all. Raises: Held; Conflict while one runs; SessionGone.
    """
    session = lock_session(session_id)
    refuse_held(holds_on_session(session, team))
    ids = list(tree_of(session).values_list("pk", flat=True))
    for model, kinds in _rows_about(Session, ids).items():
        erase_targets_in_audit(team, model, kinds)
    erase_targets_in_audit(team, "session", ids)
    _forget_deliveries(team, ids)
    BudgetRequest.objects.filter(session__in=ids).update(session="", reason="", answer="")
    remove_tree(session, rescues=False)
    return ids


@transaction.atomic
def erase_project_rows(project: Project) -> list[str]:
    """Delete a project that has no sessions any more. Returns: the ids of its terminals."""
    refuse_held(holds_in_project(project))
    team, ids = project.team, [project.pk]
    for model, kinds in _rows_about(Project, ids).items():
        erase_targets_in_audit(team, model, kinds)
    erase_targets_in_audit(team, "project", ids)
    _forget_deliveries(team, ids)
    terminals = list(Terminal.objects.filter(project=project).values_list("pk", flat=True))
    Budget.objects.filter(project=project.pk).delete()
    # The erasure of its team may run at the same time, and have been faster.
    Project.objects.filter(pk=project.pk).delete()
    erase_removed_grants(team)
    return terminals


@transaction.atomic
def erase_team_rows(team: Team) -> None:
    """Delete a team whose projects are gone. Its audit log is still there."""
    refuse_held(holds_in_team(team))
    of_server = AuditEntry.objects.filter(team=None, target_type="team", target_id=team.pk)
    of_server.exclude(seq=None).erase()
    AuditCursor.objects.filter(chain=team.pk).delete()
    announce_access(team.pk)
    keep_spend(team)
    forget_imported(team)
    team.delete()


def _rows_about(model: type[Project | Session], ids: list[str]) -> dict[str, list[str]]:
    """Returns: by the names of the models that refer to it, the keys of the rows that do."""
    found: dict[str, list[str]] = {}
    for relation in model._meta.related_objects:
        related = relation.related_model
        assert not isinstance(related, str)
        rows = related._base_manager.filter(**{f"{relation.field.name}__in": ids})
        keys = [str(pk) for pk in rows.values_list("pk", flat=True)]
        found.setdefault(related._meta.model_name or "", []).extend(keys)
    return found


def _forget_deliveries(team: Team, ids: list[str]) -> None:
    """Of webhooks of the team, which stay: what they were told of these."""
    rows = WebhookDelivery.objects.filter(webhook__team=team)
    rows = rows.alias(text=Cast("payload", TextField()))
    for one in ids:
        rows.filter(text__contains=one).delete()
