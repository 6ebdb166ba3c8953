"""What a team has used. `?team=` names the team where the caller has several."""

from __future__ import annotations

from dataclasses import replace
from typing import NotRequired

from ninja import Router
from typing_extensions import TypedDict

from opencode_web.lib.errors import Invalid
from sessions.api.auth import ApiRequest
from sessions.api.config import team_of
from sessions.present.pages.usage import load_names, require_seen
from teams.access import TeamAccess
from teams.usage import Asked, Used, add_up, by, by_day, find_usage
from teams.usage_form import UsageForm

router = Router(tags=["usage"])


class UsedCache(TypedDict):
    read: int
    write: int


class UsedTokens(TypedDict):
    input: int
    output: int
    reasoning: int
    cache: UsedCache


class UsedWire(TypedDict):
    """Units: USD. `bound` is the part of the cost that is only an upper bound, for calls that ended
    early.

    `unpriced` counts calls of models whose price is not known: they are not in the cost, which is
    null where it has no others.
    """

    cost: float | None
    bound: float
    unpriced: int
    calls: int
    turns: int
    tokens: UsedTokens


class UsedOnDay(UsedWire):
    day: str


class UsedByMember(UsedWire):
    userID: int
    name: str
    email: str


class UsedByModel(UsedWire):
    providerID: str
    modelID: str


class UsedByProject(UsedWire):
    projectID: str
    name: str


class Usage(TypedDict):
    """`before` is the sum of as many days just before; `team` is told to who gets their own."""

    since: str
    until: str
    total: UsedWire
    before: UsedWire
    team: NotRequired[UsedWire]
    days: list[UsedOnDay]
    members: list[UsedByMember]
    models: list[UsedByModel]
    projects: list[UsedByProject]


@router.get("/usage", summary="Cost and tokens by day, member, model and project")
def get_usage(
    request: ApiRequest,
    team: str = "",
    range: str = "",
    since: str = "",
    until: str = "",
    member: str = "",
    model: str = "",
    project: str = "",
) -> Usage:
    """`range` is 7, 30, 90 or month; `since` and `until` (days of UTC) go before it. `member` is an
    id, 0 for deleted accounts; `model` is provider/model. Who
    is neither admin nor of the role billing gets their own.
    """
    access = team_of(request, team, need=None)
    form = UsageForm(
        {
            "range": range,
            "since": since,
            "until": until,
            "member": member,
            "model": model,
            "project": project,
        }
    )
    if not form.is_valid():
        wrong = "; ".join(
            f"{name}: {' '.join(str(one) for one in said)}" for name, said in form.errors.items()
        )
        raise Invalid(wrong, kind="Query")
    asked = form.asked(access)
    require_seen(access, asked)
    answer = _answer(access, asked)
    if not access.sees_spending:
        answer["team"] = _wire(add_up(find_usage(access.team, replace(asked, member=None))))
    return answer


def _answer(access: TeamAccess, asked: Asked) -> Usage:
    team = access.team
    entries = find_usage(team, asked)
    names = load_names(access, entries)
    days = by_day(entries)
    return {
        "since": asked.since.isoformat(),
        "until": asked.until.isoformat(),
        "total": _wire(add_up(entries)),
        "before": _wire(add_up(find_usage(team, asked.before()))),
        "days": [{"day": day.isoformat(), **_wire(days.get(day, Used()))} for day in asked.days],
        "members": [
            {
                "userID": key or 0,
                "name": names.person(key),
                "email": names.email(key),
                **_wire(used),
            }
            for (key,), used in by(entries, "user")
        ],
        "models": [
            {"providerID": provider, "modelID": name, **_wire(used)}
            for (provider, name), used in by(entries, "provider", "model")
        ],
        "projects": [
            {"projectID": key, "name": names.project(key), **_wire(used)}
            for (key,), used in by(entries, "project")
        ],
    }


def _wire(used: Used) -> UsedWire:
    return {
        "cost": None if used.known_cost is None else float(used.known_cost),
        "bound": float(used.bound),
        "unpriced": used.unpriced,
        "calls": used.calls,
        "turns": used.turns,
        "tokens": {
            "input": used.input,
            "output": used.output,
            "reasoning": used.reasoning,
            "cache": {"read": used.cache_read, "write": used.cache_write},
        },
    }
