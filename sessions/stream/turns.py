"""Wait for a session to come to rest, without a thread or a database connection meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Literal, TypeVar

from opencode_web.lib.db import in_db
from opencode_web.lib.errors import Conflict
from sessions.access import access_session
from sessions.inbox import find_input
from sessions.models import Message, SessionInput, State
from sessions.stream.hub import Body, Overflow, Subscription
from teams.auth import Principal, require_live

T = TypeVar("T")

# The rows are looked at this often even when the bus says nothing: it may lose a message.
POLL_S = 5.0


async def wait_until(
    principal: Principal,
    check: Callable[[], T | None],
    subscription: Subscription,
    *,
    at_once: bool = True,
    row_of: str = "",
) -> T:
    """Ask `check` on the database pool until it has an answer.

    It is asked after every idle status in what is watched, and before the first if `at_once`. With
    the id of a session at the top in `row_of` it is also asked after every message of a
    `rail_group` about that session, so also when a sub-agent asks something. `subscription` is one
    of `watch_rights`. Raises: Unauthorized once the sign-in has ended.
    """

    def look() -> T | None:
        require_live(principal)
        return check()

    if not at_once:
        await _next_rest(subscription, row_of)
    while (answer := await in_db(look)) is None:
        await _next_rest(subscription, row_of)
    return answer


async def _next_rest(subscription: Subscription, row_of: str) -> None:
    loop = asyncio.get_running_loop()
    end = loop.time() + POLL_S
    try:
        async with asyncio.timeout_at(end):
            async for body in subscription:
                if _is_reason_to_look(body, row_of):
                    return
    except Overflow:
        await asyncio.sleep(max(0, end - loop.time()))
    except TimeoutError:
        return


def _is_reason_to_look(body: Body, row_of: str) -> bool:
    match body["t"]:
        case "deleted" | "access":
            return True
        case "events":
            return any(
                record["type"] == "session.status" and record["data"]["state"] == State.IDLE
                for record in body["events"]
            )
        case "session":
            return body["session"] == row_of
    return False


def find_answer(principal: Principal, prompt: SessionInput) -> Message | None:
    """The last assistant message of the turn that took this prompt; None while it goes on.

    Raises: Conflict when the turn ended before the agent said anything, or the prompt was taken off
    the queue; NotFound once the session is not visible any more.
    """
    session = access_session(principal, prompt.session_id).session
    # It may have been taken off the queue by somebody else since it was admitted.
    now = find_input(prompt.pk)
    if now is not None and now.status == SessionInput.Status.CANCELLED:
        raise Conflict("The prompt was removed from the queue before the agent read it.")
    ends = session.events.filter(type="session.status", data__state="idle")
    end = ends.filter(seq__gt=prompt.admitted_seq).order_by("seq").only("seq").first()
    if end is None and session.state != State.IDLE:
        return None
    before = session.seq + 1 if end is None else end.seq
    answers = session.messages.filter(role="assistant", seq__gt=prompt.admitted_seq)
    answer = answers.filter(seq__lt=before).order_by("-seq").first()
    if answer is None:
        raise Conflict(session.outcome_detail or "The turn ended before the agent answered.")
    return answer


def is_stopped(principal: Principal, session_id: str) -> Literal[True] | None:
    """True when a requested stop has been settled. Raises: NotFound once it is not visible."""
    session = access_session(principal, session_id).session
    settled = session.state == State.IDLE and session.run.stop_requested_at is None
    return True if settled else None
