"""What a call of a model may cost, set apart from the budgets of the team and of who prompted.

When too little is left the session parks. It goes on when a budget is raised or the month is over.
"""

from __future__ import annotations

from providers.messages import ProviderRequest
from providers.pricing import estimate_cost
from sessions.events.store import append
from sessions.events.types import SessionStatus
from sessions.models import Session
from sessions.runner.lease import Lease, release_lease
from sessions.wake import wake_at
from sessions.wire import to_ms
from teams.actions.budgets import reserve, settle
from teams.budgets import BudgetReached


def reserve_turn(session: Session, request: ProviderRequest, *, author_id: int | None) -> None:
    """Set apart what the next provider turn of a locked session may cost.

    Raises: BudgetReached.
    """
    team = session.project.team
    if team.has_budgets:
        amount = estimate_cost(request)
        reserve(team, reservation_id=session.pk, user_id=author_id, amount=amount)


def settle_turn(session: Session) -> None:
    """End what was set apart for a turn of a locked session: it is over, or its worker is dead."""
    settle(session.project.team, session.pk)


def wait_for_funds(session: Session, lease: Lease, exc: BudgetReached) -> None:
    """Park a locked session. Its prompts, and an answer that was to be tried again, are kept."""
    status = SessionStatus(
        state="busy", waits_for="funds", until=to_ms(exc.until), detail=exc.message
    )
    append(session, [status])
    wake_at(session.pk, session.project, exc.until)
    release_lease(lease)
