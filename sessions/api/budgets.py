"""The budgets of a team. `?team=` names the team where the caller has several."""

from __future__ import annotations

from decimal import Decimal
from typing import NotRequired

from ninja import Field, Router, Schema
from typing_extensions import TypedDict

from opencode_web.lib.errors import Invalid
from opencode_web.lib.shapes import drop_none
from sessions.actions.budgets import set_budgets
from sessions.api.approvals import or_request
from sessions.api.auth import ApiRequest
from sessions.api.config import team_of
from sessions.config.cost_limit import team_session_cost
from sessions.present.pages.budgets.page import BudgetLine, budgets_of, load_budgets, people_of
from sessions.wire import to_ms
from teams.access import TeamAccess
from teams.budget_form import MAX_AMOUNT
from teams.budgets import Standing
from teams.http import client_ip
from teams.models import Role

router = Router(tags=["usage"])

# More members than any team has.
MAX_MEMBERS = 10_000


class BudgetOfMember(Schema):
    """Without `limit` the member has the budget of each."""

    userID: int
    limit: Decimal | None = Field(default=None, ge=0, le=MAX_AMOUNT, decimal_places=2)


class BudgetBody(Schema):
    """USD for a calendar month of UTC; what is not given is no budget.

    Members that are not named keep theirs. `session` is what one may cost before an admin is asked:
    it stays when it is not given, and null takes it away. `allowUnpriced`: whether models whose
    price is not known may be used although a budget is set; it stays when it is not given.
    """

    team: Decimal | None = Field(default=None, ge=0, le=MAX_AMOUNT, decimal_places=2)
    each: Decimal | None = Field(default=None, ge=0, le=MAX_AMOUNT, decimal_places=2)
    session: Decimal | None = Field(default=None, gt=0, le=MAX_AMOUNT, decimal_places=6)
    allowUnpriced: bool | None = None
    members: list[BudgetOfMember] = Field(default_factory=list, max_length=MAX_MEMBERS)


class BudgetStanding(TypedDict):
    """Units: USD; `percent` is 0 to 100."""

    limit: float
    left: float
    percent: int
    reached: bool


class MemberBudget(TypedDict):
    """`own`: the budget is the member's own and not that of each. Units: USD."""

    userID: int
    name: str
    email: str
    own: bool
    spent: float
    budget: NotRequired[BudgetStanding | None]


class Budgets(TypedDict):
    """`month` is "2026-11", `until` its end in milliseconds since the epoch. Units: USD."""

    month: str
    until: int
    spent: float
    team: NotRequired[BudgetStanding | None]
    each: NotRequired[float | None]
    session: NotRequired[float | None]
    allowUnpriced: bool
    members: list[MemberBudget]


@router.get("/budget", summary="Budgets of this month, and what of them is spent")
def get_budget(request: ApiRequest, team: str = "") -> Budgets:
    """Admins and the role billing get every member's, others their own."""
    return _answer(team_of(request, team, need=None))


@router.put("/budget", summary="Set the budgets of a month")
@or_request
def put_budget(request: ApiRequest, body: BudgetBody, team: str = "") -> Budgets:
    """What waits for a budget looks again."""
    access = team_of(request, team, need=Role.BILLING)
    known = {row.user_id for row in people_of(access)}
    members = {one.userID: one.limit for one in body.members}
    if unknown := sorted(members.keys() - known):
        raise Invalid(f"Not a member of this team: {unknown[0]}.", kind="Body")
    given = "session" in body.model_fields_set
    session = body.session if given else team_session_cost(access.team)
    ip = client_ip(request)
    set_budgets(
        access,
        team=body.team,
        each=body.each,
        members=members,
        session=session,
        allows_unpriced=body.allowUnpriced,
        ip=ip,
    )
    return _answer(access)


def _answer(access: TeamAccess) -> Budgets:
    page = load_budgets(access, people_of(access), budgets_of(access.team))
    wire: Budgets = {
        "month": f"{page.month:%Y-%m}",
        "until": to_ms(page.until),
        "spent": float(page.spent),
        "team": _standing(page.team) if page.team else None,
        "each": None if page.each is None else float(page.each),
        "session": None if page.session is None else float(page.session),
        "allowUnpriced": access.team.allows_unpriced_models,
        "members": [_line(line) for line in page.lines],
    }
    return drop_none(wire)


def _line(line: BudgetLine) -> MemberBudget:
    wire: MemberBudget = {
        "userID": line.user_id,
        "name": line.name,
        "email": line.email,
        "own": line.is_own,
        "spent": float(line.spent),
        "budget": _standing(line.standing) if line.standing else None,
    }
    return drop_none(wire)


def _standing(one: Standing) -> BudgetStanding:
    return {
        "limit": float(one.limit),
        "left": float(one.left),
        "percent": one.percent,
        "reached": one.is_reached,
    }
