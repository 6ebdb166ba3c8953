"""Whether what somebody has asked for may still run. Asked again and again while it does."""

from __future__ import annotations

from collections.abc import Collection

from django.db.models import Exists, F, Model, OuterRef, Subquery

from opencode_web.lib.compiled import CompiledQuery
from sessions.models import Message, Project, Session
from sessions.visibility import given_role, given_to, may_see, role_in
from teams.access import has_role
from teams.models import Membership, Role, User

_MEMBERSHIP = CompiledQuery(
    lambda user_id, project_id: (
        Membership.objects.current()
        .filter(user=user_id, team__projects=project_id)
        .annotate(
            given_role=given_role(user_id, project_id),
            is_restricted=F("team__projects__is_restricted"),
        )[:1]
    ),
    int,
    str,
)


def may_work(user: User | None, project: Project) -> bool:
    """Whether work of this person in a project may still run."""
    return _worker(user, project) is not None


def may_prompt(user: User | None, session: Session) -> bool:
    """Whether a prompt of this person may still run: asked again before every turn."""
    membership = _worker(user, session.project)
    # A sub-agent ends with the session at the top.
    return membership is not None and (session.root_id is not None or may_see(membership, session))


def _worker(user: User | None, project: Project) -> Membership | None:
    if user is None or not user.is_active:
        return None
    row = _MEMBERSHIP.first(user.pk, project.pk)
    if row is None or not _is_worker(row, row, vars(row)["is_restricted"]):
        return None
    return row


def without_author(session_ids: Collection[str]) -> list[str]:
    """Returns: those whose newest prompt is of somebody who may not prompt any more. One query.

    Sessions that are restoring files are left out: a restore must finish.
    """
    prompts = Message.objects.filter(session=OuterRef("pk"), role="user").order_by("-seq")
    author = Membership.objects.current().filter(
        user=OuterRef("author_id"), user__is_active=True, team=OuterRef("project__team")
    )
    rows = Session.objects.filter(Exists(prompts), pk__in=session_ids, run__restore={})
    rows = rows.annotate(author_id=Subquery(prompts.values("author")[:1])).annotate(
        author_role=Subquery(author.values("role")[:1]),
        author_until=Subquery(author.values("expires_at")[:1]),
        given_role=given_role(OuterRef("author_id"), OuterRef("project")),
    )
    return [row.pk for row in rows.select_related("project", "root") if not _has_author(row)]


def _has_author(row: Session) -> bool:
    found = vars(row)
    if found["author_role"] is None:
        return False
    author = Membership(
        user_id=found["author_id"], role=found["author_role"], expires_at=found["author_until"]
    )
    return _is_worker(author, row, row.project.is_restricted) and may_see(author, row.root or row)


def _is_worker(membership: Membership, found: Model, is_restricted: bool) -> bool:
    role = role_in(membership, given=given_to(found), is_restricted=is_restricted)
    return role is not None and has_role(role, Role.MEMBER)
