"""Legal holds on sessions: their own, their team's, and those of people who took part."""

from __future__ import annotations

from django.db.models import Exists, OuterRef, Q, QuerySet

from sessions.models import Message, Project, Session, SessionInput
from sessions.tree import tree_of
from teams.models import LegalHold, Team
from teams.models.hold import LegalHoldQuerySet
from teams.retention.holds import Scope, holds_of_people


def holds_on_session(session: Session, team: Team) -> LegalHoldQuerySet:
    """Returns: every hold that the deletion of the session, or of one in its tree, would break."""
    tree = tree_of(session)
    people = set(tree.exclude(owner=None).values_list("owner_id", flat=True))
    for model in (Message, SessionInput):
        rows = model._default_manager.filter(session__in=tree).exclude(author=None)
        people.update(rows.values_list("author_id", flat=True))
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
    # Who owns any session of the tree, or has prompted in it.
    tree = Q(session=OuterRef("pk")) | Q(session__root=OuterRef("pk"))
    said = Message.objects.filter(tree, author__in=people)
    waiting = SessionInput.objects.filter(tree, author__in=people)
    owned = Session.objects.filter(root=OuterRef("pk"), owner__in=people)
    return rows.exclude(owner__in=people).exclude(
        Q(Exists(said)) | Q(Exists(waiting)) | Q(Exists(owned))
    )


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
