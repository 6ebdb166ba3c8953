"""The pull requests that were opened from sessions."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from opencode_web.lib.json import number_of
from sessions.access import ProjectAccess
from sessions.forges.adapter import Checks, PullState
from sessions.models import PullRequest, Session
from sessions.present.stored_text import stored_text
from sessions.visibility import sessions_in

_MAX_PULLS = 5


@dataclass(frozen=True)
class PullLine:
    """`look` is the chip's, `checks` a few words or empty, with the page where they are told in
    full, `problem` why it may have changed since."""

    number: int
    branch: str
    title: str
    url: str
    state: str
    look: str
    checks: str
    checks_look: str
    checks_url: str
    base: str
    problem: str
    is_open: bool
    looked_at: datetime


def load_pulls(session: Session) -> list[PullLine]:
    """Returns: the newest pull requests that were opened from a session. One query."""
    rows = PullRequest.objects.filter(session=session.top_id).order_by("-created_at", "-pk")
    return [_pull(row) for row in rows[:_MAX_PULLS]]


def load_open_pulls(access: ProjectAccess) -> tuple[list[PullLine], int]:
    """Returns: the newest open ones of a project that were not opened from a session that the
    person does not see, and how many there are beside them."""
    is_open = (PullState.OPEN, PullState.DRAFT)
    is_seen = Q(session=None) | Q(session__in=sessions_in(access.team))
    rows = PullRequest.objects.filter(is_seen, project=access.project, state__in=is_open)
    found = [_pull(row) for row in rows.order_by("-created_at", "-pk")[:_MAX_PULLS]]
    return found, rows.count() - len(found)


def newest_pulls(sessions: Collection[str]) -> dict[str, PullLine]:
    """Returns: by session the newest that was opened from it. One query."""
    rows = PullRequest.objects.filter(session__in=sessions).order_by("created_at", "pk")
    return {row.session_id: _pull(row) for row in rows if row.session_id}


def _pull(row: PullRequest) -> PullLine:
    state, checks = PullState(row.state), Checks(row.checks)
    return PullLine(
        number=row.number,
        branch=row.branch,
        title=row.title,
        url=row.url,
        state=_states()[state],
        look=_LOOKS[state],
        checks=_counted(row) or _checks().get(checks, ""),
        checks_look=_CHECK_LOOKS.get(checks, ""),
        checks_url=_checks_url(row.url),
        base=row.base_branch,
        problem=stored_text(row.cause, row.problem),
        is_open=state in (PullState.OPEN, PullState.DRAFT),
        looked_at=row.looked_at,
    )


def _counted(row: PullRequest) -> str:
    """What is worst comes first."""
    said = {
        "failed": ngettext("%(count)s check failed", "%(count)s checks failed", _n(row, "failed")),
        "running": ngettext("%(count)s running", "%(count)s running", _n(row, "running")),
        "passed": ngettext("%(count)s passed", "%(count)s passed", _n(row, "passed")),
    }
    return ", ".join(
        text % {"count": _n(row, name)} for name, text in said.items() if _n(row, name)
    )


def _n(row: PullRequest, name: str) -> int:
    return number_of(row.check_counts, name) or 0


def _checks_url(url: str) -> str:
    """Where a forge has the checks of a pull request: on a page below its own, or on that."""
    if re.search(r"/pull/\d+$", url):
        return f"{url}/checks"
    return f"{url}/pipelines" if "/-/merge_requests/" in url else url


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
