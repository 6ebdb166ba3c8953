"""What the routes of webhooks, schedules, service accounts and usage answer, for `/doc`."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict
from pydantic.json_schema import SkipJsonSchema

from opencode_web.lib.json import JsonValue

# Absent when there is none, never null.
Text = str | SkipJsonSchema[None]
Time = int | SkipJsonSchema[None]


class Shape(BaseModel):
    model_config = ConfigDict(extra="allow")


class CreatedTime(Shape):
    """Units: milliseconds since the epoch."""

    created: int


class Webhook(Shape):
    id: str
    url: str
    events: list[str]
    projectID: Text = None
    enabled: bool
    disabledReason: str
    failingSince: Time = None
    time: CreatedTime


class WebhookWithSecret(Webhook):
    secret: str


class Delivery(Shape):
    id: str
    event: str
    state: Literal["pending", "delivered", "failed"]
    attempts: int
    status: int
    """Of the latest answer; 0 when there was none."""
    problem: str
    payload: dict[str, JsonValue]
    time: CreatedTime


class ServiceToken(Shape):
    id: str
    name: str
    prefix: str
    scope: Literal["read", "write", "admin"]


class MadeServiceToken(ServiceToken):
    secret: str


class ServiceAccount(Shape):
    id: int
    name: str
    email: str
    role: Literal["admin", "member", "viewer", "billing"]
    enabled: bool
    tokens: list[ServiceToken]


class ScheduleTimes(CreatedTime):
    updated: int
    next: Time = None


class Schedule(Shape):
    id: str
    projectID: str
    name: str
    prompt: str
    cron: str
    timezone: str
    agent: str
    model: str
    author: Text = None
    """The e-mail of whose rights it has."""
    paused: bool
    pausedReason: str
    failures: int
    time: ScheduleTimes


class RunTimes(Shape):
    """Units: milliseconds since the epoch."""

    due: int
    started: int
    ended: Time = None


class ScheduleRun(Shape):
    id: str
    scheduleID: str
    state: Literal["running", "done", "failed", "stopped", "skipped"]
    detail: str
    sessionID: Text = None
    time: RunTimes


class UsedCache(Shape):
    read: int
    write: int


class UsedTokens(Shape):
    input: int
    output: int
    reasoning: int
    cache: UsedCache


class Used(Shape):
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


class UsedOnDay(Used):
    day: str


class UsedByMember(Used):
    userID: int
    name: str
    email: str


class UsedByModel(Used):
    providerID: str
    modelID: str


class UsedByProject(Used):
    projectID: str
    name: str


class Usage(Shape):
    """`before` is the sum of as many days just before; `team` is told to who gets their own."""

    since: str
    until: str
    total: Used
    before: Used
    team: Used | SkipJsonSchema[None] = None
    days: list[UsedOnDay]
    members: list[UsedByMember]
    models: list[UsedByModel]
    projects: list[UsedByProject]


class BudgetStanding(Shape):
    """Units: USD; `percent` is 0 to 100."""

    limit: float
    left: float
    percent: int
    reached: bool


class MemberBudget(Shape):
    """`own`: the budget is the member's own and not that of each. Units: USD."""

    userID: int
    name: str
    email: str
    own: bool
    spent: float
    budget: BudgetStanding | SkipJsonSchema[None] = None


class Budgets(Shape):
    """`month` is "2026-11", `until` its end in milliseconds since the epoch. Units: USD."""

    month: str
    until: int
    spent: float
    team: BudgetStanding | SkipJsonSchema[None] = None
    each: float | SkipJsonSchema[None] = None
    session: float | SkipJsonSchema[None] = None
    allowUnpriced: bool
    members: list[MemberBudget]


class SignedHead(Shape):
    """A chain up to one entry, signed with Ed25519. Hashes, keys and signatures are hexadecimal."""

    type: Literal["head"]
    chain: str
    seq: int
    hash: str
    time: str
    checkpoint: bool
    public_key: str
    signature: str


class AuditHead(Shape):
    """The end of a chain. `problem` is what the last check found wrong."""

    chain: str
    seq: int
    hash: str
    problem: str
    signed: list[SignedHead]
    public_keys: list[str]


class BudgetForecast(Shape):
    """A straight line over the period. `runsOut`: when it is spent, if before its end. USD."""

    total: float
    runsOut: int | SkipJsonSchema[None] = None


class BudgetLimit(Shape):
    """One budget; without `spent` it counts for each of several people. Units: USD.

    `granted` is what was added to `limit` until it resets, at `until` in milliseconds.
    """

    id: int
    scope: str
    userID: int | SkipJsonSchema[None] = None
    projectID: str | SkipJsonSchema[None] = None
    period: str
    since: str
    until: int
    timeZone: str
    soft: bool
    limit: float
    granted: float | SkipJsonSchema[None] = None
    spent: float | SkipJsonSchema[None] = None
    left: float | SkipJsonSchema[None] = None
    percent: int | SkipJsonSchema[None] = None
    reached: bool | SkipJsonSchema[None] = None
    forecast: BudgetForecast | SkipJsonSchema[None] = None


class BudgetAsked(Shape):
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
    answeredBy: str | SkipJsonSchema[None] = None


ANSWERS: dict[tuple[str, str], Any] = {  # types and generic aliases
    ("get", "/service-account"): list[ServiceAccount],
    ("post", "/service-account"): ServiceAccount,
    ("get", "/service-account/{account_id}"): ServiceAccount,
    ("patch", "/service-account/{account_id}"): ServiceAccount,
    ("delete", "/service-account/{account_id}"): bool,
    ("post", "/service-account/{account_id}/token"): MadeServiceToken,
    ("delete", "/service-account/{account_id}/token/{key_id}"): bool,
    ("get", "/schedule"): list[Schedule],
    ("post", "/schedule"): Schedule,
    ("get", "/schedule/{schedule_id}"): Schedule,
    ("patch", "/schedule/{schedule_id}"): Schedule,
    ("delete", "/schedule/{schedule_id}"): bool,
    ("post", "/schedule/{schedule_id}/run"): ScheduleRun,
    ("get", "/schedule/{schedule_id}/run"): list[ScheduleRun],
    ("get", "/usage"): Usage,
    # JSON lines.
    ("get", "/audit"): None,
    ("get", "/audit/head"): AuditHead,
    ("get", "/budget"): Budgets,
    ("put", "/budget"): Budgets,
    ("get", "/budget/limits"): list[BudgetLimit],
    ("put", "/budget/limits"): list[BudgetLimit],
    ("delete", "/budget/limits/{budget_id}"): bool,
    ("get", "/budget/requests"): list[BudgetAsked],
    ("post", "/budget/requests"): BudgetAsked,
    ("post", "/budget/requests/{ask_id}"): BudgetAsked,
    ("get", "/webhook"): list[Webhook],
    ("post", "/webhook"): WebhookWithSecret,
    ("get", "/webhook/{webhook_id}"): Webhook,
    ("patch", "/webhook/{webhook_id}"): Webhook,
    ("delete", "/webhook/{webhook_id}"): bool,
    ("post", "/webhook/{webhook_id}/secret"): WebhookWithSecret,
    ("post", "/webhook/{webhook_id}/ping"): Delivery,
    ("get", "/webhook/{webhook_id}/delivery"): list[Delivery],
    ("post", "/webhook/{webhook_id}/delivery/{delivery_id}/redeliver"): Delivery,
}
