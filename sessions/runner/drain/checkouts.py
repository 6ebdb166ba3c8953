"""A session's own worktree is made when its first turn begins, before a model is asked."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from django.conf import settings

from opencode_web.lib.db import in_db
from opencode_web.lib.errors import Conflict
from opencode_web.lib.reasons import Cause
from sessions.actions.checkouts import checkout_of
from sessions.checkouts.create import make_checkout
from sessions.checkouts.follow import follow
from sessions.checkouts.repository import CheckoutError, NoCheckouts
from sessions.checkouts.rows import (
    end_job,
    find_checkout,
    mark_made,
    mark_shared,
    mark_unmade,
    report_preparing,
    wanted_of,
)
from sessions.events.checkout_reasons import CheckoutReason
from sessions.events.reasons import TurnReason, read_cause
from sessions.events.types import SessionEvent
from sessions.git.places import locked
from sessions.models import Checkout, Session
from sessions.runner.log.steps import CheckoutStep

# While one of these is done, nothing else may happen in the worktree.
_EXCLUSIVE = (Checkout.Job.DROP, Checkout.Job.RESTORE, Checkout.Job.COMMIT)


def missing_checkout(session: Session, prompt_id: str) -> CheckoutStep | None:
    """Returns: what has to be done before a turn can begin in the session's own worktree.

    Raises: Conflict when it could not be done for this prompt, or when the worktree is gone.
    """
    if not session.folder:
        return None
    checkout = checkout_of(session)
    if checkout is None:
        raise Conflict(Cause(TurnReason.WORKTREE_GONE))
    is_ready = checkout.state == Checkout.State.READY and checkout.job not in _EXCLUSIVE
    if is_ready and not checkout.follows:
        return None
    if session.project.host != settings.HOST_NAME:
        raise Conflict(Cause(TurnReason.WORKTREE_ELSEWHERE))
    if checkout.failed_for == prompt_id:
        why = read_cause(checkout.cause) or checkout.detail
        raise Conflict(Cause(TurnReason.WORKTREE_NOT_MADE, {"reason": why}))
    return CheckoutStep(checkout.pk, prompt_id)


async def prepare_checkout(step: CheckoutStep) -> list[SessionEvent]:
    """Make the worktree, or note why there is none. What is asked of it meanwhile comes first.

    Returns: events that have the session work in the project's folder, where nobody asked for more.
    """
    checkout = await in_db(find_checkout, step.checkout_id)
    if checkout is None:
        return []
    async with locked(Path(checkout.folder).parent, "checkout"):
        checkout = await in_db(find_checkout, step.checkout_id)
        if checkout is None:
            return []
        if checkout.state == Checkout.State.READY and Path(checkout.folder).is_dir():
            if checkout.job in _EXCLUSIVE:
                # Nobody has begun with it, or this lock could not be had: the turn comes first.
                await in_db(end_job, checkout, Cause(CheckoutReason.TURN_BEGAN), failed=True)
            if checkout.follows:
                await follow(checkout)
            return []
        return await _make(checkout, step.prompt_id)


async def _make(checkout: Checkout, prompt_id: str) -> list[SessionEvent]:
    try:
        made = await make_checkout(await in_db(wanted_of, checkout), partial(_report, checkout))
    except CheckoutError as exc:
        if isinstance(exc, NoCheckouts) and not (checkout.asked or checkout.rescued):
            return await in_db(mark_shared, checkout, exc.told)
        await in_db(mark_unmade, checkout, exc.told, prompt_id=prompt_id)
    else:
        await in_db(mark_made, checkout, made)
    return []


async def _report(checkout: Checkout, told: Cause) -> None:
    await in_db(report_preparing, checkout, told)
