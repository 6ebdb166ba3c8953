"""Whether budgets would become looser, and that as a change for a second person to approve."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import replace
from decimal import Decimal

from opencode_web.lib.json import JsonObject, JsonValue
from sessions.approvals.hold import Change, hold_for_approval, is_held
from sessions.approvals.people import require_approver, require_other_than
from sessions.config.cost_limit import team_session_cost
from sessions.models import ChangeKind
from teams.access import TeamAccess, access_team
from teams.actions.budgets import lock_teams
from teams.budgets import Limit, Scope
from teams.models import Budget, BudgetRequest, Period, Role, Team, User

Amounts = Mapping[Limit, Decimal | None]


def is_looser(before: Decimal | None, after: Decimal | None) -> bool:
    """None stands for no limit."""
    return before is not None and (after is None or after > before)


def said(amount: Decimal | None) -> str | None:
    """Returns: the amount as JSON can hold it exactly."""
    return None if amount is None else str(amount)


def hold_budgets(
    access: TeamAccess,
    *,
    team: Decimal | None,
    each: Decimal | None,
    members: Mapping[int, Decimal | None],
    session: Decimal | None,
    allows_unpriced: bool | None,
    warn_percent: int | None,
) -> None:
    """Hold what the form of all budgets sets, where one becomes looser. Raises: NeedsApproval."""
    if not is_held(access.team, ChangeKind.BUDGETS):
        return
    wanted: dict[Limit, Decimal | None] = {
        Limit(Scope.TEAM, Period.MONTH): team,
        Limit(Scope.EACH, Period.MONTH): each,
        **{Limit(Scope.MEMBER, Period.MONTH, user_id=one): own for one, own in members.items()},
    }
    arguments: JsonObject = {
        "team": said(team),
        "each": said(each),
        "members": {str(one): said(amount) for one, amount in members.items()},
        "session": said(session),
        "unpriced": allows_unpriced,
        "warn_percent": warn_percent,
    }
    (row,) = lock_teams(access.team.pk)
    cost, unpriced = team_session_cost(row), row.allows_unpriced_models
    others = list[JsonObject]()
    if cost != session:
        others.append({"scope": "session", "before": said(cost), "after": said(session)})
    if allows_unpriced is not None and allows_unpriced != unpriced:
        others.append({"scope": "unpriced", "before": unpriced, "after": allows_unpriced})
    before = _amounts(row)
    if is_looser(cost, session) or (allows_unpriced and not unpriced) or _loosens(before, wanted):
        state: JsonObject = {"session": said(cost), "unpriced": unpriced}
        _hold(access, "budgets.set", arguments, before, wanted, others=others, state=state)


def hold_limit(access: TeamAccess, limit: Limit, amount: Decimal | None) -> None:
    """Hold one budget that becomes looser; None removes it. Raises: NeedsApproval."""
    if not is_held(access.team, ChangeKind.BUDGETS):
        return
    (team,) = lock_teams(access.team.pk)
    before, wanted = _amounts(team), {replace(limit, warn_percent=None): amount}
    if _loosens(before, wanted):
        arguments: JsonObject = {
            **limit.columns(),
            "amount": said(amount),
            "warn_percent": limit.warn_percent,
        }
        _hold(access, "budget.set", arguments, before, wanted)


def require_other(request: BudgetRequest, actor: User) -> None:
    """Who asks for more is one person, and who grants it has to be another.

    Raises: Forbidden for `actor` where the team has a second person approve higher budgets.
    """
    is_servers = request.budget.team_id is None
    if is_servers or ChangeKind.BUDGETS not in request.team.needs_approval:
        return
    require_other_than(request.asker, actor)
    require_approver(access_team(actor, request.team_id, need=None), Role.BILLING)


def limit_of(row: Budget) -> Limit:
    """Returns: which budget a row is."""
    whose = (row.user_id, row.project, row.model)
    return Limit(Scope(row.scope), Period(row.period), row.is_soft, *whose)


def _amounts(team: Team) -> dict[Limit, Decimal]:
    return {limit_of(row): row.amount for row in Budget.objects.filter(team=team)}


def _loosens(before: Amounts, wanted: Amounts) -> bool:
    """Whether anybody may spend more than before in a period."""
    after = {**before, **wanted}
    services = _services(after)
    return any(
        is_looser(_in_force(before, one, services), _in_force(after, one, services))
        for one in after
    )


def _in_force(amounts: Amounts, limit: Limit, services: Set[int]) -> Decimal | None:
    """Returns: the most special budget that there is, as `teams.budgets` holds a person to it."""
    own = amounts.get(limit)
    if own is not None or limit.scope not in (Scope.MEMBER, Scope.SERVICE):
        return own
    is_service = limit.user_id in services
    shared = Scope.SERVICE if limit.scope == Scope.MEMBER and is_service else Scope.EACH
    return _in_force(amounts, replace(limit, scope=shared, user_id=None), services)


def _services(amounts: Amounts) -> Set[int]:
    people = [one.user_id for one in amounts if one.user_id is not None]
    rows = User.objects.filter(pk__in=people).exclude(service_of=None)
    return set(rows.values_list("pk", flat=True))


def _hold(
    access: TeamAccess,
    what: str,
    arguments: JsonObject,
    before: Amounts,
    wanted: Amounts,
    *,
    others: list[JsonObject] | None = None,
    state: JsonObject | None = None,
) -> None:
    services = _services(wanted)
    changes: list[JsonObject] = [
        {**limit.columns(), "before": said(before.get(limit)), "after": said(amount)}
        for limit, amount in wanted.items()
        if before.get(limit) != amount
    ]
    replaced: list[JsonValue] = [
        [
            *limit.columns().values(),
            said(before.get(limit)),
            said(_in_force(before, limit, services)),
        ]
        for limit in wanted
    ]
    hold_for_approval(
        access,
        Change(
            kind=ChangeKind.BUDGETS,
            what=what,
            need=Role.BILLING,
            arguments=arguments,
            told={"changes": [*changes, *(others or [])]},
            state={"team": access.team.pk, "replaced": replaced, **(state or {})},
        ),
    )
