"""The pull requests that were opened from a session."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from sessions.forges.adapter import Checks, PullState
from sessions.models import Project, PullRequest, Session

_MAX_PULLS = 5


@dataclass(frozen=True)
class PullLine:
    """`look` is the chip's, `checks` a word or empty, `problem` why it may have changed since."""

    number: int
    branch: str
    title: str
    url: str
    state: str
    look: str
    checks: str
    checks_look: str
    base: str
    problem: str
    is_open: bool
    looked_at: datetime


def load_pulls(session: Session) -> list[PullLine]:
    """Returns: the newest pull requests that were opened from a session. One query."""
    rows = PullRequest.objects.filter(session=session.top_id).order_by("-created_at", "-pk")
    return [_pull(row) for row in rows[:_MAX_PULLS]]


def load_open_pulls(project: Project) -> tuple[list[PullLine], int]:
    """Returns: the newest open ones of a project, and how many there are beside them."""
    is_open = (PullState.OPEN, PullState.DRAFT)
    rows = PullRequest.objects.filter(project=project, state__in=is_open)
    found = [_pull(row) for row in rows.order_by("-created_at", "-pk")[:_MAX_PULLS]]
    return found, rows.count() - len(found)


def _pull(row: PullRequest) -> PullLine:
    state, checks = PullState(row.state), Checks(row.checks)
    return PullLine(
        number=row.number,
        branch=row.branch,
        title=row.title,
        url=row.url,
        state=_states()[state],
        look=_LOOKS[state],
        checks=_checks().get(checks, ""),
        checks_look=_CHECK_LOOKS.get(checks, ""),
        base=row.base_branch,
        problem=row.problem,
        is_open=state in (PullState.OPEN, PullState.DRAFT),
        looked_at=row.looked_at,
    )


_LOOKS = {
    PullState.OPEN: "done",
    PullState.DRAFT: "idle",
    PullState.MERGED: "queue",
    PullState.CLOSED: "fail",
}
_CHECK_LOOKS = {Checks.RUNNING: "run", Checks.PASSED: "done", Checks.FAILED: "fail"}


def _states() -> dict[PullState, str]:
    return {
        PullState.OPEN: pgettext("state of a pull request", "Open"),
        PullState.DRAFT: _("Draft"),
        PullState.MERGED: _("Merged"),
        PullState.CLOSED: _("Closed"),
    }


def _checks() -> dict[Checks, str]:
    return {
        Checks.RUNNING: _("Checks are running"),
        Checks.PASSED: _("Checks passed"),
        Checks.FAILED: _("Checks failed"),
    }
