"""A further try for an answer that its provider, or its worker, left empty."""

from __future__ import annotations

from dataclasses import replace

from django.utils import timezone

from opencode_web.lib.errors import AppError
from providers.room import NoRoom
from sessions.events.parts import RetryPart, StepStartPart
from sessions.events.store import append
from sessions.events.types import MessageUpdated, PartRemoved
from sessions.inbox import Boundary, pending_inputs, select_inputs
from sessions.models import Session, WaitsFor
from sessions.runner.drain.endings import refuse
from sessions.runner.drain.next_turn import next_turn
from sessions.runner.log.funds import wait
from sessions.runner.log.history import Answer, newest_prompt
from sessions.runner.log.lease import Lease, release_lease
from sessions.runner.log.settle import completed
from sessions.runner.log.steps import Next, ProviderTurn
from sessions.runner.turn.start import count_tries, go_on, start_turn
from sessions.wake import wake_at
from teams.budgets import BudgetReached

# A shorter wait for the next try is not worth to give the session out of the hand.
MAX_SLEEP_S = 1.0


def try_again(
    session: Session, lease: Lease, answer: Answer, *, is_known: bool, leaves: bool
) -> Next | None:
    """Make the next try of an answer when it is due. `is_known`: an alarm for it is set already."""
    assert session.wake_at is not None
    wait_s = (session.wake_at - timezone.now()).total_seconds()
    if wait_s > MAX_SLEEP_S or leaves:
        if not is_known:
            wake_at(session.pk, session.project, session.wake_at)
        release_lease(lease)
        return None
    step = _fill(session, lease, answer)
    return replace(step, wait_s=max(0.0, wait_s)) if isinstance(step, ProviderTurn) else step


def start_over(session: Session, lease: Lease, answer: Answer) -> Next | None:
    """Ask again for an answer that its worker handed over half: nobody is to see a text twice."""
    parts = [part for part in answer.parts if not isinstance(part, StepStartPart | RetryPart)]
    message_id = answer.info.id
    append(session, [PartRemoved(message_id=message_id, part_id=part.id) for part in parts])
    return _fill(session, lease, answer)


def _fill(session: Session, lease: Lease, answer: Answer) -> Next | None:
    """Have an empty answer filled. A steer that came meanwhile goes first."""
    prompt = newest_prompt(session)
    if prompt is None or (
        not prompt.compacts and select_inputs(pending_inputs(session.pk), Boundary.STEP)
    ):
        append(session, [MessageUpdated(info=completed(answer.info))])
        return next_turn(session, lease, answer, leaves=False)
    if session.waits_for != WaitsFor.ROOM:
        go_on(session)
    try:
        step = count_tries(start_turn(session, prompt, again=answer.info), answer)
    except (BudgetReached, NoRoom) as exc:
        # The empty answer stays open: the next drain fills it.
        wait(session, lease, exc)
        return None
    except AppError as exc:
        refuse(session, lease, answer, exc.told)
        return None
    go_on(session)
    return step
