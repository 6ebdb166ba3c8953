"""Legal holds on sessions: their own, their team's, and those of people who took part."""

from __future__ import annotations

from django.db.models import Exists, Model, OuterRef, Q, QuerySet

from sessions.models import (
    KeptDraft,
    Message,
    PermissionRequest,
    Project,
    QuestionRequest,
    Session,
    SessionInput,
)
from sessions.tree import tree_of
from teams.models import LegalHold, Team
from teams.models.hold import LegalHoldQuerySet
from teams.retention.holds import Scope, holds_of_people

# By what somebody takes part in a session, beside owning one of its tree.
_TAKES_PART: tuple[tuple[type[Model], str], ...] = (
    (Message, "author"),
    (SessionInput, "author"),
    (PermissionRequest, "replied_by"),
    (QuestionRequest, "replied_by"),
)


def holds_on_session(session: Session, team: Team) -> LegalHoldQuerySet:
    """Returns: every hold that the deletion of the session, or of one in its tree, would break."""
    tree = tree_of(session)
    people = set(tree.values_list("owner_id", flat=True))
    for model, name in _TAKES_PART:
        rows = model._default_manager.filter(session__in=tree)
        people.update(rows.values_list(f"{name}_id", flat=True).distinct())
    of_team = Q(scope=Scope.TEAM) | Q(scope=Scope.SESSION, session=session.top_id)
    return LegalHold.objects.filter(
        Q(of_team, team=team) | holds_of_people(team.pk, {*filter(None, people)})
    )


def holds_in_project(project: Project) -> LegalHoldQuerySet:
    """Returns: every hold that the deletion of the project would break."""
    rows = LegalHold.objects.live().filter(Q(team=project.team_id) | Q(team=None))
    if not rows.exists():
        return rows
    sessions = project.sessions.filter(root=None)
    kept = without_held(sessions, project.team).values("pk")
    held = sessions.exclude(pk__in=kept).select_related("project").first()
    if held is not None:
        return holds_on_session(held, project.team)
    return rows.filter(scope=Scope.TEAM, team=project.team_id)


def without_held(rows: QuerySet[Session], team: Team) -> QuerySet[Session]:
    """Returns: those of these sessions at the top of their trees that no hold keeps."""
    live = LegalHold.objects.live().filter(Q(team=team) | Q(team=None))
    if live.filter(scope=Scope.TEAM).exists():
        return rows.none()
    rows = rows.exclude(pk__in=live.filter(scope=Scope.SESSION).values("session"))
    people = list(live.filter(scope=Scope.PERSON).values_list("user_id", flat=True))
    if not people:
        return rows
    tree = Q(session=OuterRef("pk")) | Q(session__root=OuterRef("pk"))
    for model, name in _TAKES_PART:
        theirs = model._default_manager.filter(tree, **{f"{name}__in": people})
        rows = rows.exclude(Exists(theirs))
    owned = Session.objects.filter(root=OuterRef("pk"), owner__in=people)
    return rows.exclude(owner__in=people).exclude(Exists(owned))


def without_held_drafts(rows: QuerySet[KeptDraft]) -> QuerySet[KeptDraft]:
    """Returns: those of these drafts whose team, session and writer are under no hold."""
    of_session = Q(session=OuterRef("session")) | Q(session=OuterRef("session__root"))
    held = LegalHold.objects.live().filter(
        Q(scope=Scope.TEAM)
        | Q(of_session, scope=Scope.SESSION)
        | Q(scope=Scope.PERSON, user=OuterRef("user")),
        Q(team=OuterRef("project__team")) | Q(team=None),
    )
    return rows.exclude(Exists(held))


def held_among(rows: QuerySet[Session]) -> set[str]:
    """Returns: the ids of those of these sessions whose trees a hold keeps."""
    if not LegalHold.objects.live().exists():
        return set()
    held: set[str] = set()
    for team in Team.objects.filter(projects__sessions__in=rows).distinct():
        own = rows.filter(project__team=team)
        tops = own.values_list("pk", "root_id")
        ids = {root or pk for pk, root in tops}
        unheld = without_held(Session.objects.filter(pk__in=ids), team)
        kept = ids - set(unheld.values_list("pk", flat=True))
        held.update(pk for pk, root in tops if (root or pk) in kept)
    return held
