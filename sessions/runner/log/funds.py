"""What a turn needs before it calls a model: what that may cost, and room at the provider.

The cost is reserved in the budgets of the team, the project and the author of the prompt,
and of the server. When too little is
left, or every key is at its limit, the session is suspended. It continues when a budget is raised,
when its period ends, or when another call has ended and it is next in line.
"""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

from django.db import transaction
from django.utils import timezone

from providers.actions.room import leave_line, take_key
from providers.funding import FundedRequest, fund
from providers.llm.messages import ProviderRequest, Usage
from providers.room import NoRoom
from sessions.events.messages import CacheTokens, Tokens
from sessions.events.store import append, lock_session
from sessions.events.types import SessionStatus, SessionUsed
from sessions.models import Session, WaitsFor
from sessions.runner.log.lease import Lease, release_lease
from sessions.wake import wake_at
from sessions.wire import to_ms
from teams.actions.budgets import settle
from teams.budgets import BudgetReached
from teams.models import Basis, Reservation

# How long a turn that waits for room is written down as waiting, for a beat to find it after that.
_SAYS_SO = timedelta(minutes=2)


def fund_turn(
    session: Session, request: ProviderRequest, *, author_id: int | None, prompt_id: str
) -> FundedRequest:
    """Set apart what the next provider turn of a locked session may cost.

    Raises: BudgetReached; NoRoom; UnpricedModel.
    """
    team = session.project.team
    funded = fund(
        request,
        team,
        call_id=session.pk,
        user_id=author_id,
        project_id=session.project_id,
        prompt_id=prompt_id,
    )
    try:
        return take_key(funded, call=session.pk)
    except NoRoom:
        # What waits in one line must not keep others waiting in the other.
        release_turn(session)
        raise


def release_turn(session: Session) -> None:
    """End what was set apart for a turn of a locked session, in the transaction with its usage."""
    settle(session.project.team, session.pk)


def settle_turn(session: Session) -> None:
    """Count all that is still set apart: what the call has cost, nobody will say any more."""
    held = settle(session.project.team, session.pk)
    if held is not None:
        append(session, [used_at_most(held, held.amount)])


@transaction.atomic
def settle_cut_turn(lease: Lease, cost: Decimal) -> None:
    """Count a call that was ended from here with the most that it may have cost.

    Raises: LeaseLost; then all of it counts at the take-over.
    """
    session = lock_session(lease.session_id, token=lease.token)
    held = settle(session.project.team, session.pk)
    if held is not None and cost:
        append(session, [used_at_most(held, min(cost, held.amount))])


@transaction.atomic
def settle_counted_turn(lease: Lease, used: SessionUsed) -> None:
    """Count a call that has come to its end, when nothing else of its end is kept.

    Raises: LeaseLost, as `settle_cut_turn`.
    """
    session = lock_session(lease.session_id, token=lease.token)
    append(session, [used])
    release_turn(session)


def used_at_most(held: Reservation, cost: Decimal) -> SessionUsed:
    """What a call may have cost that has not come to its end. Nobody has counted its tokens."""
    return SessionUsed(
        cost=cost,
        tokens=Tokens(),
        provider_id=held.provider,
        model_id=held.model,
        api_model=held.api_model or None,
        prompt_id=held.prompt,
        author_id=held.user_id,
        basis=Basis.BOUND,
    )


def wait(session: Session, lease: Lease, exc: BudgetReached | NoRoom) -> None:
    """Suspend a locked session. Its prompts, and an answer that was to be tried again, are kept."""
    until, waits_for = exc.until, WaitsFor.FUNDS
    if isinstance(exc, NoRoom):
        # It looks again more often than it says so.
        until, waits_for = timezone.now() + _SAYS_SO, WaitsFor.ROOM
    if isinstance(exc, BudgetReached) or not _says_so(session):
        status = SessionStatus(state="busy", waits_for=waits_for.value, until=to_ms(until))
        append(session, [status.saying(exc.told)])
    wake_at(session.pk, session.project, exc.until)
    release_lease(lease)


def wait_no_longer(session: Session) -> None:
    """Give up the place of a locked session in a line, if it stands in one."""
    if session.waits_for == WaitsFor.ROOM:
        leave_line(session.pk)


def _says_so(session: Session) -> bool:
    is_ahead = session.wake_at is not None and session.wake_at > timezone.now()
    return session.waits_for == WaitsFor.ROOM and is_ahead


def to_tokens(usage: Usage) -> Tokens:
    """Returns: what a provider counted, as it stands in messages and sessions."""
    return Tokens(
        total=usage.total_tokens,
        input=usage.input_tokens,
        output=usage.output_tokens,
        reasoning=usage.reasoning_tokens,
        cache=CacheTokens(read=usage.cache_read_tokens, write=usage.cache_write_tokens),
    )
