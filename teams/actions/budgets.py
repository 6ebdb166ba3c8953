"""Reserve before a call of a model, settle after it, so that together nobody spends twice the rest.

    reserve(estimate) ─▶ the call ─▶ settle, in the transaction that writes what it has cost

What an answer costs beyond its estimate is spent: the next call finds less.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from decimal import Decimal

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from opencode_web.lib.json import JsonObject
from teams.access import TeamAccess, require_role
from teams.audit import AuditAction, record
from teams.budgets import BudgetReached, budgets_for, next_month, standings_of
from teams.models import Budget, Reservation, Role, Team

# Longer than any answer takes; what nobody settles ends then.
LIFETIME = timedelta(minutes=30)
# After this a call looks again that others kept from the rest.
_LOOK_AGAIN = timedelta(seconds=15)


def reserve(
    team: Team,
    *,
    reservation_id: str,
    user_id: int | None,
    amount: Decimal,
    lifetime: timedelta = LIFETIME,
) -> None:
    """Set the estimated cost of a call apart. No query where the team has no budget.

    Must run inside a transaction, which holds the budgets until it ends: of two calls at the same
    moment the second one sees what the first has set apart.

    Raises: BudgetReached when it is more than is left.
    """
    if not team.has_budgets:
        return
    budgets = list(budgets_for(team, user_id).select_for_update())
    now = timezone.now()
    for one in standings_of(team, budgets, user_id, but=reservation_id):
        if one.is_reached or one.spent + amount > one.limit:
            raise BudgetReached(one, until=next_month(now))
        if one.spent + one.reserved + amount > one.limit:
            raise BudgetReached(one, until=now + _LOOK_AGAIN, is_held=True)
    Reservation.objects.update_or_create(
        pk=reservation_id,
        defaults={
            "team": team,
            "user_id": user_id,
            "amount": amount,
            "expires_at": now + lifetime,
        },
    )


def settle(team: Team, reservation_id: str) -> None:
    """End a reservation, in the transaction that writes what the call has cost, or after it failed.

    No query where the team has no budget.
    """
    if team.has_budgets:
        # With it go those of dead workers that nobody has taken over.
        left = Q(team=team, expires_at__lte=timezone.now())
        Reservation.objects.filter(Q(pk=reservation_id) | left).delete()


@transaction.atomic
def change_budgets(
    access: TeamAccess,
    *,
    team: Decimal | None,
    each: Decimal | None,
    members: Mapping[int, Decimal | None],
    ip: str | None = None,
) -> bool:
    """Set the budgets of a month; None is none. Members that are not named keep theirs.

    `members` must be ids of people in the team. Units: USD.

    Returns: whether anything is different now.
    Raises: Forbidden unless the role includes billing.
    """
    require_role(access, Role.BILLING)
    # The lock of all who change them at once.
    row = Team.objects.select_for_update().get(pk=access.team.pk)
    before = {(one.scope, one.user_id): one for one in Budget.objects.filter(team=row)}
    wanted: dict[tuple[str, int | None], Decimal | None] = {
        (Budget.Scope.TEAM.value, None): team,
        (Budget.Scope.EACH.value, None): each,
    }
    for user_id, amount in members.items():
        wanted[(Budget.Scope.MEMBER.value, user_id)] = amount
    changes: list[JsonObject] = []
    for (scope, user), amount in wanted.items():
        old = before.get((scope, user))
        if (old.amount if old else None) == amount:
            continue
        changes.append(
            {
                "scope": scope,
                **({"user": user} if user is not None else {}),
                "before": str(old.amount) if old else None,
                "after": None if amount is None else str(amount),
            }
        )
        if old is not None and amount is not None:
            old.amount = amount
            old.save(update_fields=["amount"])
        elif old is not None:
            old.delete()
        elif amount is not None:
            Budget.objects.create(team=row, scope=scope, user_id=user, amount=amount)
    if not changes:
        return False
    row.has_budgets = Budget.objects.filter(team=row).exists()
    row.budgets_changed_at = timezone.now()
    row.save(update_fields=["has_budgets", "budgets_changed_at"])
    if not row.has_budgets:
        Reservation.objects.filter(team=row).delete()
    access.team.has_budgets = row.has_budgets
    record(
        AuditAction.BUDGETS_CHANGED,
        actor=access.user,
        team=row,
        target=row,
        data={"changes": [*changes]},
        ip=ip,
    )
    return True
