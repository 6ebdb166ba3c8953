"""Ask for more of a budget, and answer that."""

from __future__ import annotations

from decimal import Decimal

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from opencode_web.lib.errors import Conflict, Forbidden, Invalid
from opencode_web.lib.json import JsonObject
from teams.access import TeamAccess, has_role, is_operator, require_role
from teams.actions.budgets import lock_teams, note_change
from teams.audit import AuditAction, record
from teams.budgets import Scope
from teams.budgets.requests import askable
from teams.models import Budget, BudgetRequest, Membership, Period, Role, Team, User

Status = BudgetRequest.Status
MAX_TEXT = 500


@transaction.atomic
def ask_for_more(
    access: TeamAccess,
    *,
    budget_id: int,
    amount: Decimal,
    reason: str,
    project_id: str = "",
    session_id: str = "",
    ip: str | None = None,
) -> BudgetRequest:
    """Ask those who can raise a budget for more of it, until its period ends.

    Raises: Forbidden for viewers; Invalid for a budget that does not hold for the person, and
    without a reason; Conflict when they have asked already.
    """
    require_role(access, Role.MEMBER)
    reason = " ".join(reason.split())
    if not reason or len(reason) > MAX_TEXT:
        raise Invalid(_("Give a reason of at most %(most)s characters.") % {"most": MAX_TEXT})
    if amount <= 0:
        raise Invalid(_("Enter an amount above 0."))
    if budget_id not in {one.budget_id for one in askable(access, project_id)}:
        raise Invalid(_("This budget does not limit you."))
    budget = Budget.objects.select_for_update().get(pk=budget_id)
    start = Period(budget.period).first_day()
    asked = {"budget": budget, "asker": access.user, "start": start}
    if BudgetRequest.objects.filter(status=Status.PENDING, **asked).exists():
        raise Conflict(_("You have already asked for more of this budget."))
    row = BudgetRequest.objects.create(
        team=access.team, session=session_id, amount=amount, reason=reason, **asked
    )
    data: JsonObject = {"request": row.pk, "scope": budget.scope, "amount": str(amount)}
    record(
        AuditAction.BUDGET_REQUESTED,
        actor=access.user,
        team=access.team,
        target=access.team,
        data=data,
        ip=ip,
    )
    return row


@transaction.atomic
def answer_request(
    request: BudgetRequest,
    *,
    actor: User,
    grant: Decimal | None,
    answer: str = "",
    ip: str | None = None,
) -> BudgetRequest:
    """Add `grant` to the budget until its period ends, or deny the request with None.

    Raises: Forbidden for who cannot raise the budget; Conflict when somebody has answered before,
    or its period is over; Invalid for an amount or words that are none.
    """
    teams = lock_teams(None if request.budget.team_id is None else request.team_id)
    budget = Budget.objects.select_for_update().filter(pk=request.budget_id).first()
    row = BudgetRequest.objects.select_for_update(of=("self",)).filter(pk=request.pk).first()
    if budget is None or row is None:
        raise Conflict(_("This budget no longer exists."))
    _require_power(row.team, budget, actor)
    if row.status != Status.PENDING:
        raise Conflict(_("This request has already been answered."))
    if row.start != Period(budget.period).first_day():
        raise Conflict(_("The budget has been reset since this request."))
    answer = " ".join(answer.split())
    if len(answer) > MAX_TEXT:
        raise Invalid(_("Enter at most %(most)s characters.") % {"most": MAX_TEXT})
    if grant is not None and grant <= 0:
        raise Invalid(_("Enter an amount above 0."))
    now = timezone.now()
    row.status = Status.DENIED if grant is None else Status.GRANTED
    row.granted, row.answer = grant or Decimal(0), answer
    row.answered_by, row.answered_at = actor, now
    row.save()
    if grant is not None:
        note_change(*teams)
    data: JsonObject = {
        "request": row.pk,
        "scope": budget.scope,
        "user": row.asker_id,
        "amount": str(row.amount),
        "granted": None if grant is None else str(grant),
    }
    record(
        AuditAction.BUDGET_REQUEST_ANSWERED,
        actor=actor,
        team=row.team,
        target=row.team,
        data=data,
        ip=ip,
    )
    return row


def put_away_answer(access: TeamAccess, request: BudgetRequest) -> None:
    """Show the asker an answer no more. Nothing happens to a request that waits."""
    rows = BudgetRequest.objects.filter(pk=request.pk, asker=access.user)
    rows.exclude(status=Status.PENDING).update(is_put_away=True)


def _require_power(team: Team, budget: Budget, actor: User) -> None:
    if budget.scope == Scope.INSTANCE:
        is_able = is_operator(actor)
    else:
        row = Membership.objects.filter(team=team, user=actor).first()
        is_able = row is not None and has_role(row.role, Role.BILLING)
    if not is_able:
        raise Forbidden(_("You cannot raise this budget."))
