"""What an earlier owner of the session left in the middle of its answer.

Source: design 3.4 and 3.5.
"""

from __future__ import annotations

from django.utils.translation import gettext_noop

from sessions.events.messages import MessageError
from sessions.events.parts import ToolPart
from sessions.events.store import append
from sessions.events.types import PartUpdated
from sessions.models import Session
from sessions.runner.history import Answer
from sessions.runner.lease import Lease
from sessions.runner.settle import fail_call, settle_answer

LOST = gettext_noop("Interrupted: the worker that ran this was lost.")
LEFT = gettext_noop("Interrupted: the server was stopped while this ran.")
DOUBTFUL = gettext_noop("{reason} It may have had effects; look before you repeat it.")


def settle_left(session: Session, lease: Lease, answer: Answer) -> bool:
    """Settle what a dead owner left: calls that had begun become errors, partial text is marked.

    Calls that wait for a person are kept; so is a message whose step only has to be closed.

    Returns: whether anything was open.
    """
    if answer.info.time.completed is not None:
        return False
    if lease.taken_over:
        session.run.recoveries += 1
        session.run.save(update_fields=["recoveries"])
    begun = answer.running
    if answer.info.finish is not None:
        # The stream was complete: only the calls that had begun are in doubt.
        reason = LOST if lease.taken_over else LEFT
        append(session, [_failed_call(part, reason) for part in begun])
        return True
    error = MessageError(name="MessageAbortedError", data={"message": LOST, "interrupted": True})
    calls = [*begun, *answer.pending]
    append(session, settle_answer(answer, error=error, reason=LOST, calls=calls))
    return True


def _failed_call(part: ToolPart, reason: str) -> PartUpdated:
    return fail_call(part, DOUBTFUL.format(reason=reason), interrupted=True)
