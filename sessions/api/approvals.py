"""Changes that a second person approves. `?team=` as for the settings."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Literal, NotRequired, ParamSpec, TypeVar, cast

from django.http import JsonResponse
from ninja import Field, Router, Schema
from typing_extensions import TypedDict

from opencode_web.lib.shapes import drop_none
from sessions.actions.change_approval import approve_request
from sessions.actions.change_requests import (
    MAX_TEXT,
    explain_request,
    reject_request,
    request_change,
    set_approvals,
    withdraw_request,
)
from sessions.api.auth import ApiRequest
from sessions.api.config import team_of
from sessions.approvals.hold import NeedsApproval
from sessions.approvals.people import approvers_for, deciders
from sessions.approvals.requests import access_change, visible_changes
from sessions.approvers import Approver, approvers
from sessions.models import ChangeKind, ChangeRequest
from sessions.present.approval_titles import title_of
from sessions.wire import to_ms
from teams.http import client_ip
from teams.models import Role, Scope

router = Router(tags=["approval"])
P = ParamSpec("P")
T = TypeVar("T")
MAX_LISTED = 100

Kind = Literal["merge", "push", "secrets", "rules", "budgets"]


class ApprovalsBody(Schema):
    """All kinds of changes that a second person must approve."""

    kinds: list[Kind] = Field(max_length=len(ChangeKind))


class DecisionBody(Schema):
    """`approve` and `reject` take a note for the person who asked, `explain` their reason."""

    act: Literal["approve", "reject", "withdraw", "explain"]
    note: str = Field(default="", max_length=MAX_TEXT)


class ApprovalsWire(TypedDict):
    kinds: list[str]


class ChangeWire(TypedDict):
    """A change that waits for an approval, or did. Times in milliseconds.

    `status`: pending, approved, rejected, withdrawn, expired, or failed for one that no longer
    fitted. `waitsFor`: the ids of the people who can decide.
    """

    id: str
    kind: str
    title: str
    status: str
    projectID: NotRequired[str | None]
    userID: int
    reason: str
    time: int
    expires: int
    waitsFor: list[int]
    decidedBy: NotRequired[int | None]
    decided: NotRequired[int | None]
    note: str


def or_request(view: Callable[P, T]) -> Callable[P, T]:
    """Have a route answer 202 with the request, where a second person must approve the change."""

    @wraps(view)
    def respond(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return view(*args, **kwargs)
        except NeedsApproval as held:
            row = request_change(held, ip=client_ip(cast(ApiRequest, args[0])))
            # ninja sends a response as it is.
            return cast(
                T, JsonResponse(_to_wire(row, approvers(row.team, row.project)), status=202)
            )

    # ninja would look for the names of types in this module.
    respond.__signature__ = signature(view, eval_str=True)  # type: ignore[attr-defined]
    respond.may_wait = True  # type: ignore[attr-defined]  # read by `sessions.api.openapi`
    return respond


@router.get("/approval", summary="Which changes a second person must approve")
def get_approvals(request: ApiRequest, team: str = "") -> ApprovalsWire:
    return {"kinds": team_of(request, team, need=None).team.needs_approval}


@router.put("/approval", summary="Set which changes a second person must approve")
@or_request
def put_approvals(request: ApiRequest, body: ApprovalsBody, team: str = "") -> ApprovalsWire:
    """Fewer of them need the approval of another owner."""
    access = team_of(request, team, need=Role.OWNER)
    set_approvals(access, [ChangeKind(one) for one in body.kinds], ip=client_ip(request))
    return {"kinds": access.team.needs_approval}


@router.get("/approval/requests", summary="Changes that wait for an approval, and earlier ones")
def list_changes(request: ApiRequest, team: str = "", status: str = "") -> list[ChangeWire]:
    """Your own and those that your role could make, the newest first."""
    access = team_of(request, team, need=None)
    rows = visible_changes(access).order_by("-created_at", "-pk")
    if status:
        rows = rows.filter(status=status)
    shown = list(rows[:MAX_LISTED])
    named = approvers_for(access.team, shown)
    return [_to_wire(row, named[row.project_id]) for row in shown]


@router.post("/approval/requests/{change_id}", summary="Decide on a change, or withdraw it")
def decide(request: ApiRequest, change_id: str, body: DecisionBody, team: str = "") -> ChangeWire:
    """An approval makes the change. `status` is `failed` where it no longer fits."""
    access, ip = team_of(request, team, need=None), client_ip(request)
    row = access_change(access, change_id)
    request.auth.require(Scope.WRITE if row.need == Role.MEMBER else Scope.ADMIN)
    match body.act:
        case "approve":
            row = approve_request(access, row, note=body.note, ip=ip)
        case "reject":
            row = reject_request(access, row, note=body.note, ip=ip)
        case "withdraw":
            row = withdraw_request(access, row, ip=ip)
        case "explain":
            row = explain_request(access, row, reason=body.note)
    return _to_wire(row, approvers(access.team, row.project))


def _to_wire(row: ChangeRequest, named: list[Approver]) -> ChangeWire:
    is_pending = row.status == ChangeRequest.Status.PENDING
    waits_for = deciders(named, row) if is_pending else []
    wire: ChangeWire = {
        "id": row.pk,
        "kind": row.kind,
        "title": title_of(row),
        "status": row.status,
        "projectID": row.project_id,
        "userID": row.asker_id,
        "reason": row.reason,
        "time": to_ms(row.created_at),
        "expires": to_ms(row.expires_at),
        "waitsFor": [one.pk for one in waits_for],
        "decidedBy": row.decided_by_id,
        "decided": to_ms(row.decided_at) if row.decided_at else None,
        "note": row.note,
    }
    return drop_none(wire)
