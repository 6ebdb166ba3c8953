"""The rescued work of a project, as its page lists it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from sessions.checkouts.rescue import rescue_ref
from sessions.models import Checkout, Project
from sessions.present.place import Place
from sessions.present.projects import project_url
from sessions.present.stored_text import stored_text

_WORKING = {
    Checkout.Job.BRANCH: gettext_noop("Creating the branch"),
    Checkout.Job.DISCARD: gettext_noop("Deleting"),
    Checkout.Job.RESTORE: gettext_noop("Restoring"),
    Checkout.Job.DROP: gettext_noop("Rescuing"),
}


@dataclass(frozen=True)
class RescuedLine:
    """`session_url` is that of the worktree's page, empty when the session was deleted. `said` is
    what came of what was asked for last."""

    id: str
    title: str
    session_url: str
    author: str
    branch: str
    ref: str
    created: datetime
    working: str
    said: str
    failed: bool
    branch_url: str
    discard_url: str


@dataclass(frozen=True)
class RescuedList:
    lines: list[RescuedLine]
    url: str
    # A worker is at one of them: the list asks again.
    working: bool


def build_rescued(project: Project, rows: list[Checkout]) -> RescuedList:
    """`project.team` and the sessions of the rows with their owners should be loaded."""
    lines = [_line(project, row) for row in rows]
    working = any(line.working for line in lines)
    return RescuedList(lines, project_url(project, "rescued"), working)


def _line(project: Project, row: Checkout) -> RescuedLine:
    session, fields = row.session, {"checkout": row.pk}
    url = ""
    if session is not None:
        url = Place(project.team.slug, session.pk, session.folder).url("checkout")
    is_shown = row.job_failed or "on the branch" in row.job_detail
    asked = stored_text(row.job_cause, row.job_detail) if is_shown else ""
    return RescuedLine(
        id=row.pk,
        title=session.title if session else row.title,
        session_url=url,
        author=session.owner.display_name if session and session.owner else "",
        branch=row.branch,
        ref=rescue_ref(row.pk),
        created=row.created_at,
        working=_(_WORKING.get(Checkout.Job(row.job), gettext_noop("Working"))) if row.job else "",
        said=asked,
        failed=row.job_failed,
        branch_url=project_url(project, "rescued_branch", **fields),
        discard_url=project_url(project, "rescued_discard", **fields),
    )
