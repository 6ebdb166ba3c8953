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
from teams.budgets import MONTHLY, BudgetReached, budgets_for, hard, standings_of
from teams.models import Basis, Budget, BudgetNotice, Reservation, Role, Team

# How long a call waits before it looks again, when others hold the rest.
_LOOK_AGAIN = timedelta(seconds=15)
# Titles, tests of a key and what MCP servers ask take at most two minutes: one that is older has
# lost its process.
LOST_AFTER = timedelta(minutes=5)
# By what their reservations begin with. No drain takes these over.
_BESIDE_SESSIONS = (
    Q(pk__startswith="title.") | Q(pk__startswith="test.") | Q(pk__startswith="sampling.")
)


def reserve(wanted: Reservation, *, least: Decimal) -> Reservation:
    """Set apart what a call may cost: `wanted.amount`, or as much as is left, but `least` of it.

    Must run inside a transaction, which holds the budgets until it ends: of two calls at the same
    moment the second one sees what the first has set apart. The team must have budgets.

    Returns: the row, with what is set apart. It is not saved where no budget holds. Units: USD.
    Raises: BudgetReached.
    """
    team, now = wanted.team, timezone.now()
    rows = budgets_for(team, wanted.user_id, wanted.project)
    budgets = list(rows.select_for_update())
    if not budgets:
        # Somebody has removed the last one meanwhile: a row would stay, as nobody settles it.
        return wanted
    for one in hard(standings_of(team, budgets, wanted.user_id, model=wanted.called)):
        if one.is_reached or one.spent + least > one.limit:
            raise BudgetReached(one, until=one.until)
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
    """Count calls beside the turns whose process has died with all that was reserved for them."""
    old = Reservation.objects.filter(_BESIDE_SESSIONS, created_at__lt=timezone.now() - LOST_AFTER)
    lost = list(old.select_for_update())
    for held in lost:
        entry = entry_beside_sessions(
            f"{held.pk}.{held.created_at.timestamp():.0f}",
            team_id=held.team_id,
            user_id=held.user_id,
            project=held.project,
            provider=held.provider,
            model=held.model,
            api_model=held.api_model,
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
    warn_percent: int | None = None,
    ip: str | None = None,
) -> bool:
    """Set the budgets of a month; None is none. Members that are not named keep theirs.

    `members` must be ids of people in the team. `allows_unpriced`: whether models whose price is
    not known may be used although a budget holds; None leaves it. Units: USD. `warn_percent`: from
    which share on people are warned, of all of these; None leaves that too.

    Returns: whether anything is different now.
    Raises: Forbidden unless the role includes billing.
    """
    require_role(access, Role.BILLING)
    # The lock of all who change them at once.
    (row,) = lock_teams(access.team.pk)
    before = {(one.scope, one.user_id): one for one in Budget.objects.filter(MONTHLY, team=row)}
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
    changes += _set_warning(row, warn_percent)
    if allows_unpriced is not None and allows_unpriced != row.allows_unpriced_models:
        row.allows_unpriced_models = allows_unpriced
        change: JsonObject = {"before": not allows_unpriced, "after": allows_unpriced}
        changes.append({"scope": "unpriced", **change})
    if not changes:
        return False
    row.save(update_fields=["allows_unpriced_models"])
    note_change(row)
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


def _set_warning(team: Team, percent: int | None) -> list[JsonObject]:
    """Returns: what is different now, for the audit trail."""
    if percent is None:
        return []
    rows = Budget.objects.filter(MONTHLY, team=team).exclude(warn_percent=percent)
    before = rows.values_list("warn_percent", flat=True).first()
    if before is None:
        return []
    rows.update(warn_percent=percent)
    return [{"scope": "warning", "before": before, "after": percent}]


def lock_teams(team_id: str | None) -> list[Team]:
    """Lock one team, or all of them, before any budget: everybody locks in this order.

    Not against rows that refer to a team: who sets apart from a budget commits such a one, and
    holds the budget until then.
    """
    rows = Team.objects.order_by("pk").select_for_update(no_key=True)
    return list(rows if team_id is None else rows.filter(pk=team_id))


def note_change(*teams: Team) -> None:
    """Keep whether locked teams have budgets, their own or the server's, after one has changed."""
    budgets = set(Budget.objects.values_list("team", flat=True))
    for team in teams:
        team.has_budgets = None in budgets or team.pk in budgets
        team.budgets_changed_at = timezone.now()
    Team.objects.bulk_update(teams, ["has_budgets", "budgets_changed_at"], batch_size=200)
    without = [team.pk for team in teams if not team.has_budgets]
    Reservation.objects.filter(team__in=without).delete()


@transaction.atomic
def note_budgets() -> int:
    """Keep that budgets have come near to their ends, once in a period for each threshold.

    Returns: how many are new. Those that somebody else notes meanwhile are left out.
    """
    return len(BudgetNotice.objects.bulk_create(find_passed(), ignore_conflicts=True))


@transaction.atomic
def put_away_notice(access: TeamAccess, notice: BudgetNotice) -> None:
    """Show the person neither this one any more, nor older ones of the same budget."""
    whose = ("user", "project", "model", "period", "is_soft")
    same = {name: getattr(notice, name) for name in whose}
    for one in notices_of(access).filter(time__lte=notice.time, **same):
        one.put_away_by.add(access.user)
