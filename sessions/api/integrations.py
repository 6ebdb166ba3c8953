"""What starts sessions from outside: a project's integrations, their rules and what was delivered.

`tracker` names an issue tracker; without it, the forge is meant.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any, Literal, NotRequired

from django.http import HttpResponse
from ninja import Field, Router, Schema
from typing_extensions import TypedDict

from opencode_web.lib.errors import NotFound
from opencode_web.lib.shapes import Unchecked, drop_none
from sessions.access import ProjectAccess, access_project, visible_projects
from sessions.api.auth import ApiRequest
from sessions.api.config import team_of
from sessions.integrations.repeat import repeat_failed
from sessions.integrations.rules import (
    DEFAULT_PER_HOUR,
    RuleDraft,
    create_rule,
    delete_rule,
    find_rule,
    move_rule,
    update_rule,
)
from sessions.integrations.setup import (
    DEFAULT_COMMAND,
    address_of,
    problems_of,
    remove_integration,
    require_integration,
    rotate_secret,
    set_up_integration,
)
from sessions.models import InboundDelivery, Integration, IntegrationRule
from sessions.publish_settings import Publishing, publishing_of, publishing_of_each
from sessions.wire import CreatedTime, to_ms
from teams.http import client_ip
from teams.models import Role

router = Router(tags=["integration"])

MAX_LISTED = 200
_P = "/project/{project_id}/integration"
_RULE = _P + "/rule/{forge_rule_id}"
Audience = Literal["linked", "collaborators", "anybody"]
Trigger = Literal[
    "issue_opened",
    "issue_labeled",
    "issue_assigned",
    "pull_opened",
    "pull_pushed",
    "review_comment",
    "check_failed",
]

AccountId = Annotated[int, Field(ge=1, lt=2**63)]
Cost = Annotated[Decimal, Field(gt=0, max_digits=8, decimal_places=2)]


class ForgeIntegrationBody(Schema):
    """`serviceAccountID`: for people without a linked account."""

    command: str = Field(default=DEFAULT_COMMAND, max_length=20)
    serviceAccountID: AccountId | None = None
    checks: bool = False
    pulls: bool = False
    approves: bool = False


class ForgeRuleBody(Schema):
    """Empty `agent` and `model` are the project's; `costLimit` is USD of each session."""

    trigger: Trigger
    prompt: str = Field(max_length=20_000)
    label: str = Field(default="", max_length=100)
    agent: str = Field(default="", max_length=60)
    model: str = Field(default="", max_length=200)
    serviceAccountID: AccountId | None = None
    audience: Audience = "linked"
    forks: bool = False
    bots: bool = False
    costLimit: Cost | None = None
    perHour: int = DEFAULT_PER_HOUR
    enabled: bool = True


class ForgeRulePatch(Schema):
    """Only what is given changes. `position`: 1 is the rule that is looked at first."""

    trigger: Trigger | None = None
    prompt: str | None = Field(default=None, max_length=20_000)
    label: str | None = Field(default=None, max_length=100)
    agent: str | None = Field(default=None, max_length=60)
    model: str | None = Field(default=None, max_length=200)
    serviceAccountID: AccountId | None = None
    audience: Audience | None = None
    forks: bool | None = None
    bots: bool | None = None
    costLimit: Cost | None = None
    perHour: int | None = None
    enabled: bool | None = None
    position: int | None = Field(default=None, ge=1)


class ForgeIntegrationWire(TypedDict):
    id: str
    projectID: str
    forge: str
    address: str
    """Where a webhook of the repository sends to. A GitHub App has an address of its own."""
    teamKey: NotRequired[str | None]
    """Of an issue tracker."""
    command: str
    serviceAccountID: NotRequired[int | None]
    checks: bool
    pulls: bool
    approves: bool
    problems: list[str]
    """What stands in the way, as sentences."""
    time: CreatedTime


class ForgeIntegrationWithSecret(ForgeIntegrationWire):
    secret: NotRequired[str | None]
    """Of a new one, and shown once."""


class ForgeRuleWire(TypedDict):
    id: str
    trigger: Annotated[str, Unchecked(Trigger)]
    label: str
    prompt: str
    agent: str
    model: str
    serviceAccountID: NotRequired[int | None]
    audience: Annotated[str, Unchecked(Audience)]
    forks: bool
    bots: bool
    costLimit: NotRequired[float | None]
    perHour: int
    enabled: bool
    time: CreatedTime


class ForgeDeliveryTimes(TypedDict):
    """Units: milliseconds since the epoch."""

    received: int
    next: NotRequired[int | None]


class ForgeDeliveryWire(TypedDict):
    id: str
    event: str
    thread: str
    author: str
    state: Annotated[str, Unchecked(Literal["waiting", "handled", "ignored", "failed"])]
    attempts: int
    problem: str
    """Why it was ignored or has failed."""
    ruleID: NotRequired[str | None]
    promptID: NotRequired[str | None]
    time: ForgeDeliveryTimes


@router.get("/integration", summary="Integrations of a team's projects")
def list_integrations(
    request: ApiRequest, team: str = "", tracker: str = ""
) -> list[ForgeIntegrationWire]:
    found = visible_projects(request.auth).filter(team=team_of(request, team).team)
    rows = Integration.objects.filter(project__in=found, is_tracker=bool(tracker))
    rows = rows.filter(kind=tracker) if tracker else rows
    rows = rows.select_related("project", "account").order_by("pk")[:MAX_LISTED]
    published = publishing_of_each([row.project for row in rows])
    return [integration_to_wire(row, published[row.project.pk]) for row in rows]


@router.get(_P, summary="The integration of a project")
def get_integration(
    request: ApiRequest, project_id: str, tracker: str = ""
) -> ForgeIntegrationWire:
    row = require_integration(access_project(request.auth, project_id), tracker)
    return integration_to_wire(row, publishing_of(row.project))


@router.put(_P, summary="Set it up, or change it; the secret of a new one is shown once")
def put_integration(
    request: ApiRequest, project_id: str, body: ForgeIntegrationBody, response: HttpResponse
) -> ForgeIntegrationWithSecret:
    access, given = _admin(request, project_id), body.model_dump()
    account_id = given.pop("serviceAccountID")
    ip = client_ip(request)
    row, secret = set_up_integration(access, account_id=account_id, ip=ip, **given)
    return _with_secret(row, secret, response)


@router.delete(_P, summary="Remove it with its rules; its sessions stay")
def delete_integration(request: ApiRequest, project_id: str, tracker: str = "") -> bool:
    remove_integration(_admin(request, project_id), tracker, ip=client_ip(request))
    return True


@router.post(_P + "/secret", summary="Make a new secret; it is shown once")
def post_integration_secret(
    request: ApiRequest, project_id: str, response: HttpResponse
) -> ForgeIntegrationWithSecret:
    access = _admin(request, project_id)
    secret = rotate_secret(access, ip=client_ip(request))
    return _with_secret(require_integration(access), secret, response)


@router.get(_P + "/rule", summary="Its rules, in the order in which they are looked at")
def list_rules(request: ApiRequest, project_id: str, tracker: str = "") -> list[ForgeRuleWire]:
    row = require_integration(_admin(request, project_id), tracker)
    return [_rule_to_wire(one) for one in row.rules.all()]


@router.post(_P + "/rule", summary="Add a rule, after all others")
def post_rule(
    request: ApiRequest, project_id: str, body: ForgeRuleBody, tracker: str = ""
) -> ForgeRuleWire:
    access = _admin(request, project_id)
    draft = RuleDraft(**_renamed(body.model_dump()))
    return _rule_to_wire(create_rule(access, draft, tracker=tracker, ip=client_ip(request)))


@router.get(_RULE, summary="One rule")
def get_rule(
    request: ApiRequest, project_id: str, forge_rule_id: str, tracker: str = ""
) -> ForgeRuleWire:
    return _rule_to_wire(find_rule(_admin(request, project_id), forge_rule_id, tracker))


@router.patch(_RULE, summary="Change a rule, switch it on or off, or move it")
def patch_rule(
    request: ApiRequest,
    project_id: str,
    forge_rule_id: str,
    body: ForgeRulePatch,
    tracker: str = "",
) -> ForgeRuleWire:
    access, ip = _admin(request, project_id), client_ip(request)
    row = find_rule(access, forge_rule_id, tracker)
    sent = body.model_dump(exclude_unset=True)
    given = {name: value for name, value in sent.items() if value is not None or name in _NULLS}
    position = given.pop("position", None)
    if given:
        known = {name: getattr(row, name) for name in RuleDraft.__dataclass_fields__}
        draft = RuleDraft(**{**known, **_renamed(given)})
        row = update_rule(access, forge_rule_id, draft, tracker=tracker, ip=ip)
    if position is not None:
        row = move_rule(access, forge_rule_id, to=position, tracker=tracker, ip=ip)
    return _rule_to_wire(row)


@router.delete(_RULE, summary="Remove a rule; its sessions stay")
def remove_rule(
    request: ApiRequest, project_id: str, forge_rule_id: str, tracker: str = ""
) -> bool:
    access, ip = _admin(request, project_id), client_ip(request)
    delete_rule(access, forge_rule_id, tracker=tracker, ip=ip)
    return True


@router.get(_P + "/delivery", summary="What was delivered, newest first")
def list_inbound(
    request: ApiRequest, project_id: str, limit: int = 50, before: str = "", tracker: str = ""
) -> list[ForgeDeliveryWire]:
    rows = require_integration(_admin(request, project_id), tracker).deliveries.order_by("-pk")
    if before:
        rows = rows.filter(pk__lt=before)
    return [_delivery_to_wire(row) for row in rows[: max(1, min(limit, MAX_LISTED))]]


@router.post(_P + "/delivery/{inbound_id}/retry", summary="Handle a failed delivery again")
def post_retry(
    request: ApiRequest, project_id: str, inbound_id: str, tracker: str = ""
) -> ForgeDeliveryWire:
    access = _admin(request, project_id)
    found = require_integration(access, tracker).deliveries.filter(pk=inbound_id).first()
    if found is None:
        raise NotFound("Delivery", inbound_id)
    repeat_failed(access.team, found.integration, inbound_id)
    found.refresh_from_db()
    return _delivery_to_wire(found)


def _admin(request: ApiRequest, project_id: str) -> ProjectAccess:
    return access_project(request.auth, project_id, need=Role.ADMIN)


_NAMES = {
    "serviceAccountID": "account_id",
    "forks": "takes_forks",
    "bots": "takes_bots",
    "costLimit": "cost_limit",
    "perHour": "per_hour",
    "enabled": "is_enabled",
}


# That null means something for.
_NULLS = {"serviceAccountID", "costLimit"}


def _renamed(given: dict[str, Any]) -> dict[str, Any]:  # Any: as their fields are
    return {_NAMES.get(name, name): value for name, value in given.items()}


def integration_to_wire(row: Integration, publishing: Publishing) -> ForgeIntegrationWire:
    wire: ForgeIntegrationWire = {
        "id": row.pk,
        "projectID": row.project.pk,
        "forge": row.kind,
        "address": address_of(row),
        "teamKey": row.outside.get("path"),
        "command": row.command,
        "serviceAccountID": row.account_id,
        "checks": row.checks,
        "pulls": row.pulls,
        "approves": row.approves,
        "problems": problems_of(row, publishing),
        "time": {"created": to_ms(row.created_at)},
    }
    return drop_none(wire)


def _with_secret(
    row: Integration, secret: str, response: HttpResponse
) -> ForgeIntegrationWithSecret:
    # Neither caches nor the answers that an Idempotency-Key repeats may have it.
    response["Cache-Control"] = "no-store"
    wire: ForgeIntegrationWithSecret = {
        **integration_to_wire(row, publishing_of(row.project)),
        "secret": secret or None,
    }
    return drop_none(wire)


def _rule_to_wire(row: IntegrationRule) -> ForgeRuleWire:
    wire: ForgeRuleWire = {
        "id": row.pk,
        "trigger": row.trigger,
        "label": row.label,
        "prompt": row.prompt,
        "agent": row.agent,
        "model": row.model,
        "serviceAccountID": row.account_id,
        "audience": row.audience,
        "forks": row.takes_forks,
        "bots": row.takes_bots,
        "costLimit": None if row.cost_limit is None else float(row.cost_limit),
        "perHour": row.per_hour,
        "enabled": row.is_enabled,
        "time": {"created": to_ms(row.created_at)},
    }
    return drop_none(wire)


def _delivery_to_wire(row: InboundDelivery) -> ForgeDeliveryWire:
    times: ForgeDeliveryTimes = {
        "received": to_ms(row.received_at),
        "next": to_ms(row.next_at) if row.state == row.State.WAITING else None,
    }
    wire: ForgeDeliveryWire = {
        "id": row.pk,
        "event": row.event,
        "thread": row.thread,
        "author": row.author,
        "state": row.state,
        "attempts": row.attempts,
        "problem": row.problem,
        "ruleID": row.rule_id,
        "promptID": row.prompt_id or None,
        "time": drop_none(times),
    }
    return drop_none(wire)
