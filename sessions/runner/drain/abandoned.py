"""What an earlier owner of the session left in the middle of its answer.

Source: design 3.4 and 3.5.
"""

from __future__ import annotations

from django.utils import timezone

from opencode_web.lib.reasons import Cause
from sessions.actions.control import stop_below
from sessions.actions.requests import close_requests
from sessions.events.parts import ToolPart
from sessions.events.reasons import TurnReason, told_error
from sessions.events.store import append
from sessions.events.types import (
    MessageUpdated,
    PartUpdated,
    SessionEvent,
    SessionFailed,
    SessionStatus,
)
from sessions.inbox import not_begun
from sessions.models import Session
from sessions.runner.drain.endings import leave
from sessions.runner.log.answers import failed_answer
from sessions.runner.log.funds import settle_turn
from sessions.runner.log.history import Answer, newest_answer, newest_prompt
from sessions.runner.log.lease import Lease
from sessions.runner.log.settle import fail_call, settle_answer

# Lost workers of one turn. Most likely it is the turn that ends them.
MAX_RECOVERIES = 3
_LOST = Cause(TurnReason.WORKER_LOST)
_ERROR = told_error(_LOST, name="MessageAbortedError", more={"interrupted": True})


def settle_left(session: Session, lease: Lease, answer: Answer) -> bool:
    """Settle what a dead owner left: calls that had begun become errors, partial text is marked.

    Calls that wait for a person are kept; so is a message whose step only has to be closed.

    Returns: whether anything was open.
    """
    if answer.info.time.completed is not None:
        return False
    begun = answer.running
    if answer.info.finish is not None:
        # The stream was complete: only the calls that had begun are in doubt.
        why = _LOST if lease.taken_over else Cause(TurnReason.SERVER_STOPPED)
        append(session, [_failed_call(part, why) for part in begun])
        return True
    append(session, _settled(answer))
    return True


def give_up(session: Session, lease: Lease) -> bool:
    """Count a lost worker, and end the turn that has cost too many of them.

    Returns: whether the turn has ended.
    """
    if session.run.restore or session.run.stop_requested_at is not None:
        return False  # it ends anyway
    session.run.recoveries += 1
    session.run.save(update_fields=["recoveries"])
    if session.run.recoveries < MAX_RECOVERIES:
        return False
    settle_turn(session)
    # Then it is a prompt of the inbox that ends the workers: it is held there, as by a stop.
    since = timezone.now() if not_begun([session]) else None
    answer = newest_answer(session)
    events: list[SessionEvent] = [*close_requests(session, "cancelled", by_id=None)]
    if answer is not None and answer.info.time.completed is None:
        events += _settled(answer)
    elif since is None and (prompt := newest_prompt(session)) is not None:
        events.append(MessageUpdated(info=failed_answer(session, prompt.info, _ERROR)))
    status = SessionStatus(state="idle", outcome="interrupted").saying(_LOST)
    append(session, [*events, SessionFailed(error=_ERROR), status])
    stop_below(session, None)
    leave(session, lease, since=since)
    return True


def _settled(answer: Answer) -> list[SessionEvent]:
    calls = [*answer.running, *answer.pending]
    return settle_answer(answer, error=_ERROR, calls=calls)


def _failed_call(part: ToolPart, why: Cause) -> PartUpdated:
    doubtful = Cause(TurnReason.DOUBTFUL, {"reason": why})
    return fail_call(part, doubtful, interrupted=True)
