"""What a worker writes about a checkout while it makes it and works on it."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from pathlib import Path

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from opencode_web.lib.reasons import Cause, Told, english, stored
from sessions.checkouts.create import Made, Wanted
from sessions.checkouts.fetch import Remote
from sessions.checkouts.operations import Looked
from sessions.checkouts.repository import CheckoutError, Person
from sessions.checkouts.rescue import Rescued
from sessions.checkouts.survey import Survey
from sessions.events.checkout_reasons import CheckoutReason as Why
from sessions.events.live import publish_worktree
from sessions.events.types import SessionEvent, SessionUpdated
from sessions.models import Checkout, Project, Session
from sessions.models import State as SessionState
from sessions.publish_settings import git_credential, publishing_of
from sessions.secrets import project_redactor
from teams.models import User

State = Checkout.State
# What changes no file and no branch that a turn could be at work on.
BESIDE_TURNS = (Checkout.Job.LOOK, Checkout.Job.REQUEST)
# A job that nobody has begun after this long was lost with its worker.
_FORGOTTEN_AFTER = timedelta(seconds=15)


def find_checkout(checkout_id: str) -> Checkout | None:
    """Returns: the row with its project and session, when its files are on this host."""
    rows = Checkout.objects.select_related("project__team", "session__owner", "job_by")
    return rows.filter(pk=checkout_id, project__host=settings.HOST_NAME).first()


def wanted_of(checkout: Checkout) -> Wanted:
    """What has to be made of the row. Raises: CheckoutError."""
    project = checkout.project
    seed = None
    if checkout.seed and not checkout.rescued:
        shadow = settings.DATA_DIR / "snapshots" / str(checkout.seed["files"])
        seed = (shadow, str(checkout.seed["tree"]))
    rescued = None
    if checkout.rescued:
        rescued = Rescued(checkout.rescued, checkout.rescued_head)
    return Wanted(
        project_id=project.pk,
        session_id=checkout.pk,
        directory=project.directory,
        folder=Path(checkout.folder),
        branch=checkout.branch,
        base=checkout.base_branch,
        base_commit=checkout.base,
        person=person_of(checkout.session.owner if checkout.session else None),
        origin=project.git_url,
        rescued=rescued,
        seed=seed,
        fetch=checkout.fetch,
        remote=_remote_of(project) if checkout.fetch else None,
    )


def _remote_of(project: Project) -> Remote:
    publishing = publishing_of(project)
    url = publishing.url
    return Remote(url, partial(git_credential, publishing, url, push=False))


def person_of(user: User | None) -> Person:
    """In whose name commits are made."""
    if user is None:
        return Person("OpenCode Web", "opencode-web@localhost")
    return Person(user.display_name, user.email)


def _detail(told: Told) -> dict[str, object]:
    return {"detail": english(told), "cause": stored(told)}


def report_preparing(checkout: Checkout, told: Cause) -> None:
    """Say how far the making is."""
    Checkout.objects.filter(pk=checkout.pk).update(state=State.PREPARING, **_detail(told))


def mark_made(checkout: Checkout, made: Made) -> None:
    """Its folder is there."""
    Checkout.objects.filter(pk=checkout.pk).update(
        state=State.READY,
        **_detail(""),
        failed_for="",
        base_branch=made.base_branch,
        base=made.base,
        looked_at=None,
    )
    publish_worktree(checkout)


def note_followed(checkout: Checkout, *, moved: bool) -> None:
    """It was brought to the commit that it follows, or is left where it is."""
    # Not where another commit has come meanwhile.
    rows = Checkout.objects.filter(pk=checkout.pk, follows=checkout.follows)
    base = checkout.follows if moved else checkout.base
    if not rows.update(follows="", base=base, looked_at=None) and moved:
        Checkout.objects.filter(pk=checkout.pk).update(base=base)


def mark_unmade(checkout: Checkout, told: Told, *, prompt_id: str = "") -> None:
    """It could not be made. Rescued work stays rescued."""
    state = State.RESCUED if checkout.rescued else State.FAILED
    Checkout.objects.filter(pk=checkout.pk).update(
        state=state, failed_for=prompt_id, **_detail(told)
    )
    publish_worktree(checkout, problem=english(told))


def mark_shared(checkout: Checkout, told: Told) -> list[SessionEvent]:
    """Returns: the events that have the session work in the project's folder."""
    Checkout.objects.filter(pk=checkout.pk).update(state=State.SHARED, **_detail(told))
    return [SessionUpdated(folder="")]


def unfinished_jobs() -> list[Checkout]:
    """Returns: rows with a job, somebody may be at it. Asking twice does no harm."""
    return list(Checkout.objects.exclude(job="").select_related("project"))


def forgotten_jobs() -> list[Checkout]:
    """Returns: rows whose job should long be done."""
    before = timezone.now() - _FORGOTTEN_AFTER
    return [row for row in unfinished_jobs() if row.job_at is None or row.job_at < before]


def begin_job(checkout: Checkout) -> bool:
    """Take the job. Returns: False when a turn has begun there since it was asked for."""
    with transaction.atomic():
        row = Checkout.objects.select_for_update().get(pk=checkout.pk)
        if row.job not in BESIDE_TURNS and at_work(row.project_id, row.folder).exists():
            return False
        Checkout.objects.filter(pk=row.pk).update(job_begun=True)
    return True


def note_head(checkout: Checkout, head: str) -> None:
    """Where the branch was before a commit: whoever goes on sees whether it was made."""
    checkout.job_data = {**checkout.job_data, "head": head}
    Checkout.objects.filter(pk=checkout.pk).update(job_data=checkout.job_data)


def report_job(checkout: Checkout, told: Cause) -> None:
    """Say how far the job is."""
    Checkout.objects.filter(pk=checkout.pk).exclude(job="").update(
        job_detail=english(told), job_cause=told.to_json()
    )


def note_pushed(checkout: Checkout, branch: str, head: str) -> None:
    """What is on the other side now."""
    checkout.pushed_branch, checkout.pushed_head = branch, head
    Checkout.objects.filter(pk=checkout.pk).update(pushed_branch=branch, pushed_head=head)


def claim_branch(checkout: Checkout, name: str) -> None:
    """The worktree is on another branch now. Raises: CheckoutError when another one has it."""
    try:
        with transaction.atomic():
            Checkout.objects.filter(pk=checkout.pk).update(branch=name)
    except IntegrityError as exc:
        raise CheckoutError(Why.BRANCH_TAKEN, branch=name) from exc
    checkout.branch = name


def note_rescued(checkout: Checkout, rescued: Rescued | None) -> None:
    """Record the rescued work of a checkout before its folder is removed."""
    checkout.rescued, checkout.rescued_head = "", ""
    if rescued is not None:
        checkout.rescued, checkout.rescued_head = rescued.commit, rescued.head
    Checkout.objects.filter(pk=checkout.pk).update(
        rescued=checkout.rescued, rescued_head=checkout.rescued_head
    )


def end_job(
    checkout: Checkout,
    told: Told,
    *,
    failed: bool = False,
    state: Checkout.State | None = None,
    looked: Looked | None = None,
    survey: Survey | None = None,
) -> None:
    """Settle the job with one sentence for people; a plain look keeps the last one.

    Where a push went that has failed is kept, to be tried again.
    """
    is_push = checkout.job == Checkout.Job.PUSH
    kept = {"url": checkout.job_data["url"]} if failed and is_push else {}
    redactor = project_redactor(checkout.project_id)
    changes: dict[str, object] = {"job": "", "job_data": kept, "job_begun": False}
    if checkout.job != Checkout.Job.LOOK or failed:
        changes |= {
            "job_detail": redactor.text(english(told)),
            "job_cause": redactor.json(stored(told), keys=False),
            "job_failed": failed,
        }
    if state is not None:
        changes["state"] = state
    if state == State.DROPPED:
        # Made again, it starts from where the branch is by then.
        changes["base"] = ""
    if looked is not None:
        changes |= {
            "head": looked.head,
            "ahead": looked.ahead,
            "behind": looked.behind,
            "dirty": looked.dirty,
        }
    if survey is not None:
        changes["survey"] = redactor.json(survey.to_json(), keys=False)
    if looked is not None or failed:
        changes["looked_at"] = timezone.now()
    Checkout.objects.filter(pk=checkout.pk).update(**changes)


def end_discard(checkout: Checkout) -> None:
    """The rescued work is deleted. Without a session, the row is of no use either."""
    with transaction.atomic():
        note_rescued(checkout, None)
        end_job(checkout, Cause(Why.DISCARDED), state=State.DROPPED)
        Checkout.objects.filter(pk=checkout.pk, session=None).delete()


def at_work(project_id: str, folder: str) -> QuerySet[Session]:
    """The sessions that work in a folder, or wait for somebody in the middle of a turn there."""
    there = Session.objects.filter(project=project_id, folder=folder)
    return there.exclude(state=SessionState.IDLE)
