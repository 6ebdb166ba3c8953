"""Reserve before a call of a model, settle after it, so that nobody spends more than a budget.

    reserve ─▶ the call ─▶ settle, in the transaction that writes what it has cost

A call that has been made and whose cost nobody knows counts with all that was reserved for it.
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
from teams.actions.usage import entry_beside_sessions, write_usage
from teams.audit import AuditAction, record
from teams.budget_notices import find_passed, notices_of
from teams.budgets import BudgetReached, budgets_for, next_month, standings_of
from teams.models import Basis, Budget, BudgetNotice, Reservation, Role, Team

# How long a call waits before it looks again, when others hold the rest.
_LOOK_AGAIN = timedelta(seconds=15)
# Titles and tests of a key take at most half a minute: one that is older has lost its process.
LOST_AFTER = timedelta(minutes=5)
# By what their reservations begin with. No drain takes these over.
_BESIDE_SESSIONS = Q(pk__startswith="title.") | Q(pk__startswith="test.")


def reserve(wanted: Reservation, *, least: Decimal) -> Reservation:
    """Set apart what a call may cost: `wanted.amount`, or as much as is left, but `least` of it.

    Must run inside a transaction, which holds the budgets until it ends: of two calls at the same
    moment the second one sees what the first has set apart. The team must have budgets.

    Returns: the row, with what is set apart. It is not saved where no budget holds. Units: USD.
    Raises: BudgetReached.
    """
    team, now = wanted.team, timezone.now()
    budgets = list(budgets_for(team, wanted.user_id).select_for_update())
    if not budgets:
        # Somebody has removed the last one meanwhile: a row would stay, as nobody settles it.
        return wanted
    for one in standings_of(team, budgets, wanted.user_id):
        if one.is_reached or one.spent + least > one.limit:
            raise BudgetReached(one, until=next_month(now))
        if one.free < least:
            raise BudgetReached(one, until=now + _LOOK_AGAIN, is_held=True)
        wanted.amount = min(wanted.amount, one.free)
    wanted.save(force_insert=True)
    return wanted


def settle(team: Team, reservation_id: str) -> Reservation | None:
    """End a reservation, in the transaction that writes what the call has cost.

    Returns: what was set apart; None, and no query, where the team has no budget.
    """
    if not team.has_budgets:
        return None
    found = Reservation.objects.select_for_update().filter(pk=reservation_id)
    held = found.first()
    if held is not None:
        found.delete()
    return held


@transaction.atomic
def settle_lost_calls() -> None:
    """Count titles and tests of keys whose process has died with all that was reserved for them."""
    old = Reservation.objects.filter(_BESIDE_SESSIONS, created_at__lt=timezone.now() - LOST_AFTER)
    lost = list(old.select_for_update())
    for held in lost:
        entry = entry_beside_sessions(
            f"{held.pk}.{held.created_at.timestamp():.0f}",
            team_id=held.team_id,
            user_id=held.user_id,
            provider=held.provider,
            model=held.model,
            cost=held.amount,
            basis=Basis.BOUND,
        )
        write_usage([entry])
    Reservation.objects.filter(pk__in=[held.pk for held in lost]).delete()


@transaction.atomic
def change_budgets(
    access: TeamAccess,
    *,
    team: Decimal | None,
    each: Decimal | None,
    members: Mapping[int, Decimal | None],
    allows_unpriced: bool | None = None,
    ip: str | None = None,
) -> bool:
    """Set the budgets of a month; None is none. Members that are not named keep theirs.

    `members` must be ids of people in the team. `allows_unpriced`: whether models whose price is
    not known may be used although a budget holds; None leaves it. Units: USD.

    Returns: whether anything is different now.
    Raises: Forbidden unless the role includes billing.
    """
    require_role(access, Role.BILLING)
    # The lock of all who change them at once. Not against rows that refer to the team: who sets
    # apart from a budget commits such a one, and holds the budget until then.
    row = Team.objects.select_for_update(no_key=True).get(pk=access.team.pk)
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
    if allows_unpriced is not None and allows_unpriced != row.allows_unpriced_models:
        row.allows_unpriced_models = allows_unpriced
        change: JsonObject = {"before": not allows_unpriced, "after": allows_unpriced}
        changes.append({"scope": "unpriced", **change})
    if not changes:
        return False
    row.has_budgets = Budget.objects.filter(team=row).exists()
    row.budgets_changed_at = timezone.now()
    row.save(update_fields=["has_budgets", "budgets_changed_at", "allows_unpriced_models"])
    if not row.has_budgets:
        Reservation.objects.filter(team=row).delete()
    access.team.has_budgets = row.has_budgets
    access.team.allows_unpriced_models = row.allows_unpriced_models
    record(
        AuditAction.BUDGETS_CHANGED,
        actor=access.user,
        team=row,
        target=row,
        data={"changes": [*changes]},
        ip=ip,
    )
    return True


@transaction.atomic
def note_budgets() -> int:
    """Keep that budgets have come near to their ends, once in a month for each threshold.

    Returns: how many are new. Those that somebody else notes meanwhile are left out.
    """
    return len(BudgetNotice.objects.bulk_create(find_passed(), ignore_conflicts=True))


@transaction.atomic
def put_away_notice(access: TeamAccess, notice: BudgetNotice) -> None:
    """Show the person neither this one any more, nor older ones of the same budget."""
    for one in notices_of(access).filter(user=notice.user_id, time__lte=notice.time):
        one.put_away_by.add(access.user)
