"""Budgets of every scope and period, and requests for more. `?team=` as for the budgets."""

from __future__ import annotations

from decimal import Decimal
from typing import Literal, NotRequired

from ninja import Field, Router, Schema
from typing_extensions import TypedDict

from opencode_web.lib.errors import Forbidden, Invalid
from opencode_web.lib.shapes import drop_none
from sessions.access import access_project
from sessions.actions.budget_limits import (
    answer_request,
    put_instance_limit,
    put_limit,
    remove_instance_limit,
    remove_limit,
)
from sessions.api.approvals import or_request
from sessions.api.auth import ApiRequest, asks_as_operator
from sessions.api.config import team_of
from sessions.present.pages.budgets.limits import LimitLine, load_instance_limits, load_limits
from sessions.present.pages.budgets.page import budgets_of
from sessions.wire import to_ms
from teams.access import TeamAccess
from teams.actions.budget_requests import MAX_TEXT, ask_for_more
from teams.budget_form import MAX_AMOUNT
from teams.budgets import Limit, Scope
from teams.budgets.all_standings import standings_for
from teams.budgets.requests import (
    access_request,
    current_requests,
    instance_requests,
    waiting_requests,
)
from teams.http import client_ip
from teams.models import Budget, BudgetRequest, Period, Role
from teams.models import Scope as TokenScope

router = Router(tags=["usage"])
Amount = Field(gt=0, le=MAX_AMOUNT, decimal_places=2)


class LimitBody(Schema):
    """One budget. Units: USD.

    `scope`: `instance` (the whole server, for operators), `team`, `project` with `projectID`,
    `member` with `userID` (also of a service account), `each` member, `service` for each service
    account, `model` for what the team spends on the models that `model` matches, a pattern such as
    `anthropic/*` of the providers' own names. `period` is of UTC, weeks begin on Monday. A `soft`
    one only notifies. From `warnAt` percent on people are warned; without it that stays, and is 80
    at first.
    """

    scope: Literal["instance", "team", "project", "each", "service", "member", "model"]
    period: Literal["day", "week", "month"] = "month"
    soft: bool = False
    limit: Decimal = Field(ge=0, le=MAX_AMOUNT, decimal_places=2)
    warnAt: int | None = Field(default=None, ge=1, le=99)
    userID: int | None = None
    projectID: str = Field(default="", max_length=40)
    model: str = Field(default="", max_length=200)


class AskBody(Schema):
    """More of a budget until it resets. `projectID`: where the work is that it stops. USD."""

    budgetID: int
    amount: Decimal = Amount
    reason: str = Field(min_length=1, max_length=MAX_TEXT)
    projectID: str = Field(default="", max_length=40)


class AnswerBody(Schema):
    """`amount` is granted; without one the request is denied. Units: USD."""

    amount: Decimal | None = Field(default=None, gt=0, le=MAX_AMOUNT, decimal_places=2)
    answer: str = Field(default="", max_length=MAX_TEXT)


class ForecastWire(TypedDict):
    """A straight line over the period. `runsOut`: when it is spent, if before its end. USD."""

    total: float
    runsOut: NotRequired[int | None]


class LimitWire(TypedDict):
    """One budget; without `spent` it counts for each of several people. Units: USD.

    `granted` is what was added to `limit` until it resets, at `until` in milliseconds.
    """

    id: int
    scope: str
    userID: NotRequired[int | None]
    projectID: NotRequired[str | None]
    model: NotRequired[str | None]
    period: str
    since: str
    until: int
    timeZone: str
    soft: bool
    limit: float
    granted: NotRequired[float | None]
    spent: NotRequired[float | None]
    left: NotRequired[float | None]
    percent: NotRequired[int | None]
    reached: NotRequired[bool | None]
    forecast: NotRequired[ForecastWire | None]


class RequestWire(TypedDict):
    """A request for more of a budget. `status`: pending, granted or denied. Units: USD."""

    id: str
    budgetID: int
    scope: str
    period: str
    userID: int
    name: str
    amount: float
    reason: str
    time: int
    status: str
    granted: float
    answer: str
    answeredBy: NotRequired[str | None]


@router.get("/budget/limits", summary="Budgets of every scope and period")
def get_limits(request: ApiRequest, team: str = "") -> list[LimitWire]:
    """Admins and the role billing get all of the team, others what holds for them.

    Operators also get those of the whole server.
    """
    return _limits(request, team_of(request, team, need=None))


@router.put("/budget/limits", summary="Set a budget of one scope and period")
@or_request
def set_limit(request: ApiRequest, body: LimitBody, team: str = "") -> list[LimitWire]:
    """Changes the amount where there is one already. What waits for a budget looks again."""
    limit = Limit(
        scope=Scope(body.scope),
        period=Period(body.period),
        is_soft=body.soft,
        user_id=body.userID,
        project=body.projectID,
        model=body.model,
        warn_percent=body.warnAt,
    )
    ip = client_ip(request)
    if limit.scope == Scope.INSTANCE:
        access = team_of(request, team, need=None)
        _require_operator(request)
        if limit.user_id is not None or limit.project or limit.model:
            raise Invalid("A budget of the server names nobody.", kind="Body")
        put_instance_limit(request.auth.user, limit, amount=body.limit, ip=ip)
    else:
        access = team_of(request, team, need=Role.BILLING)
        put_limit(access, limit, amount=body.limit, ip=ip)
    return _limits(request, access)


@router.delete("/budget/limits/{budget_id}", summary="Remove a budget")
@or_request
def delete_limit(request: ApiRequest, budget_id: int, team: str = "") -> bool:
    """Of the team, or of the server for operators."""
    ip = client_ip(request)
    access = team_of(request, team, need=None)
    is_servers = Budget.objects.filter(pk=budget_id, team=None).exists()
    if is_servers and asks_as_operator(request):
        _require_operator(request)
        remove_instance_limit(request.auth.user, budget_id, ip=ip)
    else:
        access = team_of(request, team, need=Role.BILLING)
        remove_limit(access, budget_id, ip=ip)
    return True


@router.get("/budget/requests", summary="Requests for more of a budget")
def get_requests(request: ApiRequest, team: str = "") -> list[RequestWire]:
    """Your own of the current periods, and those that you can answer."""
    access = team_of(request, team, need=None)
    own = list(current_requests().filter(team=access.team, asker=access.user))
    others = list(waiting_requests(access))
    if asks_as_operator(request):
        others += instance_requests(access.user).filter(team=access.team)
    rows = {row.pk: row for row in (*own, *others)}
    return [_request(row) for row in rows.values()]


@router.post("/budget/requests", summary="Ask for more of a budget")
def ask(request: ApiRequest, body: AskBody, team: str = "") -> RequestWire:
    """Of one that holds for you. It goes to those who can raise it."""
    access = team_of(request, team, need=Role.MEMBER)
    if body.projectID:
        project = access_project(request.auth, body.projectID).project
        if project.team_id != access.team.pk:
            raise Invalid("Not a project of this team.", kind="Body")
    row = ask_for_more(
        access,
        budget_id=body.budgetID,
        amount=body.amount,
        reason=body.reason,
        project_id=body.projectID,
        ip=client_ip(request),
    )
    return _request(row)


@router.post("/budget/requests/{ask_id}", summary="Grant or deny a request for more")
def answer(request: ApiRequest, ask_id: str, body: AnswerBody, team: str = "") -> RequestWire:
    """What is granted counts until the budget resets. What waits for it looks again."""
    access = team_of(request, team, need=None)
    request.auth.require(TokenScope.ADMIN)
    row = access_request(access, ask_id)
    if row.budget.scope == Scope.INSTANCE:
        _require_operator(request)
    row = answer_request(
        row, actor=access.user, grant=body.amount, answer=body.answer, ip=client_ip(request)
    )
    return _request(row)


def _require_operator(request: ApiRequest) -> None:
    request.auth.require(TokenScope.ADMIN)
    if not asks_as_operator(request):
        raise Forbidden("Only operators can change the budgets of this server, with their sign-in.")


def _limits(request: ApiRequest, access: TeamAccess) -> list[LimitWire]:
    budgets = budgets_of(access.team)
    lines = load_limits(access, budgets, standings_for(budgets), every=True)
    if asks_as_operator(request):
        lines = [*load_instance_limits(), *lines]
    return [_line(line, names_projects=access.sees_work) for line in lines]


def _line(line: LimitLine, *, names_projects: bool) -> LimitWire:
    standing, found = line.standing, line.forecast
    wire: LimitWire = {
        "id": line.id,
        "scope": line.scope.value,
        "userID": line.user_id,
        "projectID": (line.project or None) if names_projects else None,
        "model": line.model or None,
        "period": line.period.value,
        "since": line.since.isoformat(),
        "until": to_ms(line.until),
        "timeZone": "UTC",
        "soft": line.is_soft,
        "limit": float(line.amount),
    }
    if standing is not None:
        wire["granted"] = float(standing.limit - line.amount)
        wire["spent"] = float(standing.spent)
        wire["left"] = float(standing.left)
        wire["percent"] = standing.percent
        wire["reached"] = standing.is_reached
    if found is not None:
        runs_out = to_ms(found.runs_out) if found.runs_out else None
        forecast: ForecastWire = {"total": float(found.total), "runsOut": runs_out}
        wire["forecast"] = drop_none(forecast)
    return drop_none(wire)


def _request(row: BudgetRequest) -> RequestWire:
    wire: RequestWire = {
        "id": row.pk,
        "budgetID": row.budget_id,
        "scope": row.budget.scope,
        "period": row.budget.period,
        "userID": row.asker_id,
        "name": row.asker.display_name,
        "amount": float(row.amount),
        "reason": row.reason,
        "time": to_ms(row.created_at),
        "status": row.status,
        "granted": float(row.granted),
        "answer": row.answer,
        "answeredBy": row.answered_by.display_name if row.answered_by else None,
    }
    return drop_none(wire)
