"""What was answered with "always", in the lists of a project and of its team."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils.translation import gettext as _

from sessions.access import ProjectAccess
from sessions.models import SavedRule
from sessions.present.projects import project_url
from sessions.visibility import projects_in, sessions_in
from teams.access import TeamAccess
from teams.models import Role


@dataclass(frozen=True)
class SavedLine:
    """`where` says how far it reaches. Without a `revoke_url` it is revoked elsewhere."""

    permission: str
    pattern: str
    where: str
    author: str
    created: datetime
    revoke_url: str


def load_rules(access: ProjectAccess) -> list[SavedLine]:
    """Returns: what holds in a project or in sessions of it, by permission."""
    project = access.project
    rows = _lines_of(rules_in(access.team).filter(Q(project=project) | Q(project=None)))
    return [
        _line(row, project_url(project, "rule_revoke", rule=str(row.pk)) if row.project else "")
        for row in rows.order_by("permission", "pattern", "pk")
    ]


def rules_in(access: TeamAccess) -> QuerySet[SavedRule]:
    """Returns: what holds in a team, and in projects and sessions of it that the person sees."""
    is_seen = Q(project__in=projects_in(access), session=None) | Q(session__in=sessions_in(access))
    return SavedRule.objects.filter(Q(team=access.team) | is_seen)


def load_team_rules(access: TeamAccess, *, most: int) -> list[SavedLine]:
    """Returns: the newest of `rules_in`, with what the person may revoke."""
    return [
        _line(
            row,
            reverse("sessions:saved_rule_revoke", args=[access.team.slug, row.pk])
            if access.can(Role.MEMBER if row.project else Role.ADMIN)
            else "",
        )
        for row in _lines_of(rules_in(access)).order_by("-pk")[:most]
    ]


def _lines_of(rows: QuerySet[SavedRule]) -> QuerySet[SavedRule]:
    return rows.select_related("project__team", "session", "created_by")


def _line(row: SavedRule, revoke_url: str) -> SavedLine:
    return SavedLine(
        permission=row.permission,
        pattern=row.pattern,
        where=_where(row),
        author=row.created_by.display_name if row.created_by else "",
        created=row.created_at,
        revoke_url=revoke_url,
    )


def _where(row: SavedRule) -> str:
    if row.session:
        return _("Only in “%(session)s”") % {"session": row.session.title}
    return row.project.name if row.project else _("All projects of the team")
