"""Webhooks of a team, for its admins. `?team=` names the team where the caller has several."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired

from django.http import HttpResponse
from ninja import Field, Router, Schema
from typing_extensions import TypedDict

from opencode_web.lib.json import JsonObject
from opencode_web.lib.shapes import Unchecked, drop_none
from opencode_web.lib.signed_posts import MAX_RECEIVER_CHARS
from sessions.access import access_delivery, access_project, access_webhook
from sessions.actions.webhooks import (
    create_webhook,
    delete_webhook,
    ping_webhook,
    redeliver,
    rotate_secret,
    update_webhook,
)
from sessions.api.auth import ApiRequest
from sessions.api.config import team_of
from sessions.models import Project, Webhook, WebhookDelivery
from sessions.wire import CreatedTime, to_ms
from teams.access import TeamAccess
from teams.http import client_ip
from teams.models import Role

router = Router(tags=["webhook"])

MAX_LISTED = 200


class WebhookCreate(Schema):
    """`projectID` limits it to one project."""

    url: str = Field(max_length=MAX_RECEIVER_CHARS)
    events: list[str] = Field(max_length=20)
    projectID: str | None = None


class WebhookPatch(Schema):
    """Only what is given changes; an empty `projectID` means every project."""

    url: str | None = Field(default=None, max_length=MAX_RECEIVER_CHARS)
    events: list[str] | None = Field(default=None, max_length=20)
    projectID: str | None = None
    enabled: bool | None = None


class WebhookWire(TypedDict):
    id: str
    url: str
    events: list[str]
    projectID: NotRequired[str | None]
    enabled: bool
    disabledReason: str
    failingSince: NotRequired[int | None]
    time: CreatedTime


class WebhookWithSecret(WebhookWire):
    secret: str


class DeliveryTimes(CreatedTime):
    attempted: NotRequired[int | None]
    next: NotRequired[int | None]


class Delivery(TypedDict):
    id: str
    event: str
    state: Annotated[str, Unchecked(Literal["pending", "delivered", "failed"])]
    attempts: int
    status: int
    """Of the latest answer; 0 when there was none."""
    problem: str
    payload: JsonObject
    time: DeliveryTimes


@router.get("/webhook", summary="Webhooks of a team")
def list_webhooks(request: ApiRequest, team: str = "") -> list[WebhookWire]:
    access = _admin(request, team)
    return [webhook_to_wire(row) for row in access.team.webhooks.order_by("created_at")]


@router.post("/webhook", summary="Have an address told of events; the secret is shown once")
def post_webhook(
    request: ApiRequest, body: WebhookCreate, response: HttpResponse, team: str = ""
) -> WebhookWithSecret:
    access = _admin(request, team)
    project = _project(request, body.projectID)
    ip = client_ip(request)
    hook, secret = create_webhook(access, url=body.url, events=body.events, project=project, ip=ip)
    return _with_secret(hook, secret, response)


@router.get("/webhook/{webhook_id}", summary="One webhook")
def get_webhook(request: ApiRequest, webhook_id: str, team: str = "") -> WebhookWire:
    return webhook_to_wire(access_webhook(_admin(request, team), webhook_id))


@router.patch("/webhook/{webhook_id}", summary="Change it, or switch it on or off")
def patch_webhook(
    request: ApiRequest, webhook_id: str, body: WebhookPatch, team: str = ""
) -> WebhookWire:
    access = _admin(request, team)
    hook = access_webhook(access, webhook_id)
    changes = body.model_dump(exclude_none=True)
    if "projectID" in changes:
        changes["project"] = _project(request, changes.pop("projectID"))
    return webhook_to_wire(update_webhook(access, hook, ip=client_ip(request), **changes))


@router.delete("/webhook/{webhook_id}", summary="Forget it with its log")
def remove_webhook(request: ApiRequest, webhook_id: str, team: str = "") -> bool:
    access = _admin(request, team)
    delete_webhook(access, access_webhook(access, webhook_id), ip=client_ip(request))
    return True


@router.post("/webhook/{webhook_id}/secret", summary="Make a new secret; it is shown once")
def post_secret(
    request: ApiRequest, webhook_id: str, response: HttpResponse, team: str = ""
) -> WebhookWithSecret:
    access = _admin(request, team)
    hook = access_webhook(access, webhook_id)
    return _with_secret(*rotate_secret(access, hook, ip=client_ip(request)), response)


@router.post("/webhook/{webhook_id}/ping", summary="Send it something without meaning")
def ping(request: ApiRequest, webhook_id: str, team: str = "") -> Delivery:
    access = _admin(request, team)
    hook = access_webhook(access, webhook_id)
    return delivery_to_wire(ping_webhook(access, hook, ip=client_ip(request)))


@router.get("/webhook/{webhook_id}/delivery", summary="What was sent, newest first")
def list_deliveries(
    request: ApiRequest, webhook_id: str, team: str = "", limit: int = 50, before: str = ""
) -> list[Delivery]:
    rows = access_webhook(_admin(request, team), webhook_id).deliveries.order_by("-pk")
    if before:
        rows = rows.filter(pk__lt=before)
    return [delivery_to_wire(row) for row in rows[: max(1, min(limit, MAX_LISTED))]]


@router.post(
    "/webhook/{webhook_id}/delivery/{delivery_id}/redeliver", summary="Send it again, same id"
)
def post_redeliver(
    request: ApiRequest, webhook_id: str, delivery_id: str, team: str = ""
) -> Delivery:
    access = _admin(request, team)
    row, hook = access_delivery(access, webhook_id, delivery_id)
    return delivery_to_wire(redeliver(access, hook, row, ip=client_ip(request)))


def webhook_to_wire(row: Webhook) -> WebhookWire:
    wire: WebhookWire = {
        "id": row.pk,
        "url": row.url,
        "events": row.events,
        "projectID": row.project_id,
        "enabled": row.disabled_at is None,
        "disabledReason": row.disabled_reason,
        "failingSince": to_ms(row.failing_since) if row.failing_since else None,
        "time": {"created": to_ms(row.created_at)},
    }
    return drop_none(wire)


def delivery_to_wire(row: WebhookDelivery) -> Delivery:
    times: DeliveryTimes = {
        "created": to_ms(row.created_at),
        "attempted": to_ms(row.attempted_at) if row.attempted_at else None,
        "next": to_ms(row.next_at) if row.state == row.State.PENDING else None,
    }
    return {
        "id": row.pk,
        "event": row.event,
        "state": row.state,
        "attempts": row.attempts,
        "status": row.status,
        "problem": row.problem,
        "payload": row.payload,
        "time": drop_none(times),
    }


def _admin(request: ApiRequest, team: str) -> TeamAccess:
    return team_of(request, team, need=Role.ADMIN)


def _project(request: ApiRequest, project_id: str | None) -> Project | None:
    return access_project(request.auth, project_id).project if project_id else None


def _with_secret(hook: Webhook, secret: str, response: HttpResponse) -> WebhookWithSecret:
    # Neither caches nor the answers that an Idempotency-Key repeats may have it.
    response["Cache-Control"] = "no-store"
    return {**webhook_to_wire(hook), "secret": secret}
