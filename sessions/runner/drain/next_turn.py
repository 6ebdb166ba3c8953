"""Whether another turn follows, with which prompts, or the drain is at its end."""

from __future__ import annotations

from django.conf import settings

from opencode_web.lib.compiled import write_columns
from opencode_web.lib.errors import AppError
from providers.llm.events import FinishReason
from providers.room import NoRoom
from sessions.actions.sessions import is_default_title
from sessions.events.removal import MessageRemoved
from sessions.events.store import append
from sessions.events.types import SessionUpdated
from sessions.inbox import Boundary, pending_inputs, promotion_events, select_inputs
from sessions.models import Session, SessionInput, State, WaitsFor
from sessions.queue_position import do_others_wait
from sessions.runner.calls.agent_switch import agreed_switch, switch_events
from sessions.runner.calls.command_calls import command_step, is_typed_step
from sessions.runner.compaction.compact import can_compact
from sessions.runner.drain.checkouts import missing_checkout
from sessions.runner.drain.cost_limit import is_affordable
from sessions.runner.drain.endings import fail_turn, finish, hand_over, stop_at_limit
from sessions.runner.drain.titles import title_from
from sessions.runner.drain.turn_limits import reached_cost, reached_steps
from sessions.runner.log.funds import wait
from sessions.runner.log.history import Answer, Prompted, newest_prompt
from sessions.runner.log.lease import Lease
from sessions.runner.log.steps import Next
from sessions.runner.turn.start import count_tries, go_on, require_folder, start_turn
from teams.budgets import BudgetReached


def next_turn(
    session: Session, lease: Lease, answer: Answer | None, *, leaves: bool, takes_up: bool = False
) -> Next | None:
    """Promote what may be promoted and begin the turn, or end the drain.

    `takes_up`: the drain has just begun. Later, a turn that has ended makes room for others in
    line: else a session with many queued prompts would keep a worker from them.

    Returns: None when the drain is over.
    """
    # What is rolled back goes for good with the next prompt, which is then the next thing to do.
    is_reverted = session.hidden_from is not None
    goes_on = (
        session.state != State.IDLE and not is_reverted and _requires_continuation(session, answer)
    )
    if session.waits_for == WaitsFor.BUDGET and not _is_paid(session, lease, answer):
        return None
    boundary = Boundary.STEP if goes_on else Boundary.TURN
    rows = select_inputs(pending_inputs(session.pk), boundary)
    ends_turn = bool(rows) and not goes_on and not takes_up
    if (leaves and (rows or goes_on)) or (ends_turn and do_others_wait(session)):
        hand_over(session, lease)
        return None
    if rows:
        _promote(session, rows, mid_turn=goes_on and answer is not None)
    elif not goes_on:
        finish(session, lease, answer)
        return None
    elif _is_at_limit(session, lease, answer):
        return None
    switch = agreed_switch(answer) if goes_on else None
    # Behind what people have added meanwhile: they may have written it for the agent of before.
    switched = switch_events(session, *switch) if switch else []
    append(session, switched)
    overflowed = goes_on and answer is not None and answer.overflowed
    if overflowed and answer is not None and not (answer.tools or answer.says_something):
        # Nothing was said, and the turn goes on: there is nothing to show.
        append(session, [MessageRemoved(message_id=answer.info.id)])
        answer = None
    is_prompted = bool(rows or switched)
    return _start(session, lease, None if is_prompted else answer, rows, overflowed=overflowed)


def _is_paid(session: Session, lease: Lease, answer: Answer | None) -> bool:
    """Look at the answer about the cost before anything is promoted: it was given for this turn."""
    prompt = newest_prompt(session)
    return prompt is None or is_affordable(session, lease, prompt, answer)


def _is_at_limit(session: Session, lease: Lease, answer: Answer | None) -> bool:
    limit = reached_steps(session) or reached_cost(session)
    if limit is None or (prompt := newest_prompt(session)) is None:
        return False
    stop_at_limit(session, lease, prompt, answer, limit)
    return True


def _promote(session: Session, rows: list[SessionInput], *, mid_turn: bool) -> None:
    events = promotion_events(session, rows, mid_turn=mid_turn)
    if is_default_title(session.title):
        title = title_from(rows[0])
        if title:
            events.append(SessionUpdated(title=title))
            session.run.title_due = settings.TITLES and session.parent_id is None
            write_columns(session.run, ["title_due"])
    append(session, events)


def _start(
    session: Session,
    lease: Lease,
    answer: Answer | None,
    promoted: list[SessionInput],
    *,
    overflowed: bool,
) -> Next | None:
    prompt = newest_prompt(session)
    if prompt is None:
        finish(session, lease, answer)
        return None
    if not is_affordable(session, lease, prompt, answer):
        return None
    if session.waits_for != WaitsFor.ROOM:
        go_on(session)
    try:
        step = _step(session, prompt, answer, promoted, overflowed=overflowed)
    except (BudgetReached, NoRoom) as exc:
        wait(session, lease, exc)
        return None
    except AppError as exc:
        # Somebody took the model, its key or the author's role away since the prompt was admitted.
        fail_turn(session, lease, prompt, exc)
        return None
    # What stood in line has its place now.
    go_on(session)
    return step


def _step(
    session: Session,
    prompt: Prompted,
    answer: Answer | None,
    promoted: list[SessionInput],
    *,
    overflowed: bool,
) -> Next:
    missing = missing_checkout(session, prompt.info.id)
    if missing is not None:
        return missing
    require_folder(session)
    step = command_step(session, prompt, answer, promoted)
    if step is not None:
        return step
    started = start_turn(session, prompt, overflowed=overflowed)
    # The tries of an answer whose worker was lost count.
    return count_tries(started, answer) if answer and answer.was_interrupted else started


def _requires_continuation(session: Session, answer: Answer | None) -> bool:
    """Whether the model is asked again. None: the newest message is a prompt, or there is none."""
    if answer is None:
        return newest_prompt(session) is not None
    if answer.overflowed:
        # A summary that was too long has had its shorter try.
        return not answer.info.summary and can_compact(session)
    if answer.info.error is not None:
        return answer.was_interrupted
    if answer.was_rejected or answer.ending or answer.info.structured is not None:
        return False
    if is_typed_step(session, answer):
        return False
    return bool(answer.tools) or _was_cut_short(session, answer)


def _was_cut_short(session: Session, answer: Answer) -> bool:
    """Whether an answer of nothing, which ended for a reason nobody knows, is asked for again.

    Once for each prompt: a provider that always ends so must not be asked without end.
    Source: behaviour facts 4.3, which goes on after every unknown end.
    """
    if answer.info.finish != FinishReason.UNKNOWN or answer.says_something:
        return False
    alike = session.messages.filter(
        role="assistant", data__parentID=answer.info.parentID, data__finish=answer.info.finish
    )
    return alike.count() == 1
