"""What a worker writes about pull requests while it opens them and looks at them."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from sessions.forges.adapter import Pull, PullState
from sessions.models import Checkout, PullRequest

# What was seen within this time is not asked for again.
FRESH = timedelta(seconds=20)
_AT_ONCE = 3


def note_opened(checkout: Checkout, branch: str, pull: Pull) -> PullRequest:
    """A pull request of a branch is there, whoever opened it."""
    row, _ = PullRequest.objects.update_or_create(
        project=checkout.project,
        url=pull.url,
        defaults={"branch": branch, **_seen(pull)},
        create_defaults={
            "branch": branch,
            # The project's own folder has no session: the form says which one asked.
            "session_id": checkout.session_id
            or str(checkout.job_data.get("session") or "")
            or None,
            "opened_by": checkout.job_by,
            **_seen(pull),
        },
    )
    return row


def note_seen(row: PullRequest, pull: Pull) -> None:
    """How it stands now."""
    PullRequest.objects.filter(pk=row.pk).update(**_seen(pull))


def note_unseen(row: PullRequest, problem: str) -> None:
    """It could not be looked at. What is known of it stays."""
    PullRequest.objects.filter(pk=row.pk).update(problem=problem, looked_at=timezone.now())


def stale_requests(checkout: Checkout) -> list[PullRequest]:
    """Returns: a few that may have changed since they were looked at, the newest first."""
    rows = PullRequest.objects.filter(
        project=checkout.project_id, looked_at__lt=timezone.now() - FRESH
    ).exclude(state=PullState.MERGED)
    if checkout.session_id:
        rows = rows.filter(session=checkout.session_id)
    else:
        rows = rows.filter(session__folder="")
    return list(rows.order_by("-created_at")[:_AT_ONCE])


def _seen(pull: Pull) -> dict[str, object]:
    return {
        "number": pull.number,
        "title": pull.title,
        "base_branch": pull.base[:250],
        "state": pull.state.value,
        "checks": pull.checks.value,
        "looked_at": timezone.now(),
        "problem": "",
    }
