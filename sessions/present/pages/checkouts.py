"""A session's own worktree, as its page and the API show it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import NotRequired

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from typing_extensions import TypedDict

from sessions.actions.sessions import is_default_title
from sessions.checkouts.rescue import rescue_ref
from sessions.models import Checkout, Session
from sessions.present.place import Place
from sessions.present.stored_text import stored_text
from sessions.wire import to_ms

State = Checkout.State
_STATES = {
    State.NEW: ("idle", gettext_noop("Created with the first turn")),
    State.PREPARING: ("run", gettext_noop("Being created")),
    State.READY: ("done", gettext_noop("Ready")),
    State.FAILED: ("fail", gettext_noop("Could not be created")),
    State.SHARED: ("idle", gettext_noop("In the project folder")),
    State.RESCUED: ("queue", gettext_noop("Rescued")),
    State.DROPPED: ("idle", gettext_noop("Dropped")),
}
_WORKING = {
    Checkout.Job.LOOK: gettext_noop("Checking the worktree"),
    Checkout.Job.COMMIT: gettext_noop("Committing"),
    Checkout.Job.MERGE: gettext_noop("Merging"),
    Checkout.Job.PUSH: gettext_noop("Pushing"),
    Checkout.Job.DROP: gettext_noop("Removing"),
    Checkout.Job.RESTORE: gettext_noop("Restoring"),
    Checkout.Job.BRANCH: gettext_noop("Creating the branch"),
    Checkout.Job.DISCARD: gettext_noop("Deleting"),
}


@dataclass(frozen=True)
class CheckoutView:
    """What the page of a worktree shows. Addresses are empty where something cannot be done now."""

    branch: str
    base_branch: str
    folder: str
    look: str
    state: str
    detail: str
    # What is being done, and what came of what was done last.
    working: str
    # Not only looked at: nothing else can be asked for meanwhile.
    blocked: bool
    result: str
    failed: bool
    ahead: int
    behind: int
    dirty: int
    looked_at: datetime | None
    # The message that a commit is proposed with.
    proposed: str
    rescue: str
    address: str
    url: str
    commit_url: str
    merge_url: str
    push_url: str
    drop_url: str
    restore_url: str
    leave_url: str


def build_checkout(session: Session, checkout: Checkout) -> CheckoutView:
    """`session.project.team` should be loaded."""
    place = Place.of(session)
    look, state = _STATES[State(checkout.state)]
    blocked = checkout.job not in ("", Checkout.Job.LOOK)
    ready = checkout.state == State.READY and not blocked
    seen = checkout.looked_at is not None

    def act(what: str, possible: bool) -> str:
        return place.url("checkout_act", act=what) if possible else ""

    return CheckoutView(
        branch=checkout.branch,
        base_branch=checkout.base_branch,
        folder=checkout.folder,
        look=look,
        state=_(state),
        detail=stored_text(checkout.cause, checkout.detail),
        working=_(_WORKING[Checkout.Job(checkout.job)]) if checkout.job else "",
        blocked=blocked,
        result=stored_text(checkout.job_cause, checkout.job_detail),
        failed=checkout.job_failed,
        ahead=checkout.ahead,
        behind=checkout.behind,
        dirty=checkout.dirty,
        looked_at=checkout.looked_at,
        proposed="" if is_default_title(session.title) else session.title,
        rescue=rescue_ref(checkout.pk) if checkout.rescued else "",
        address=session.project.git_url,
        url=place.url("checkout"),
        commit_url=act("commit", ready and (checkout.dirty > 0 or not seen)),
        merge_url=act("merge", ready and checkout.ahead > 0 and bool(checkout.base_branch)),
        push_url=act("push", ready and seen),
        drop_url=act("drop", ready),
        restore_url=act("restore", not blocked and checkout.state == State.RESCUED),
        leave_url=act("leave", checkout.state in (State.NEW, State.FAILED)),
    )


class WorktreeBase(TypedDict):
    branch: str
    commit: str


class WorktreeResult(TypedDict):
    ok: bool
    message: str


class RescuedCommit(TypedDict):
    ref: str
    commit: str


class Worktree(TypedDict):
    name: str
    branch: str
    directory: str
    sessionID: str | None
    base: WorktreeBase
    state: str
    detail: str
    job: str
    """What is being done with it; empty when nothing is."""
    result: WorktreeResult
    ahead: int
    behind: int
    dirty: int
    lookedAt: NotRequired[int]
    rescue: NotRequired[RescuedCommit]


def checkout_to_wire(checkout: Checkout) -> Worktree:
    """Returns: a worktree, a shape of our own beside `Worktree` {name, branch, directory}."""
    wire: Worktree = {
        "name": checkout.branch,
        "branch": checkout.branch,
        "directory": checkout.folder,
        "sessionID": checkout.session_id,
        "base": {"branch": checkout.base_branch, "commit": checkout.base},
        "state": checkout.state,
        "detail": checkout.detail,
        "job": checkout.job,
        "result": {"ok": not checkout.job_failed, "message": checkout.job_detail},
        "ahead": checkout.ahead,
        "behind": checkout.behind,
        "dirty": checkout.dirty,
    }
    if checkout.looked_at is not None:
        wire["lookedAt"] = to_ms(checkout.looked_at)
    if checkout.rescued:
        wire["rescue"] = {"ref": rescue_ref(checkout.pk), "commit": checkout.rescued}
    return wire
