"""What is erased for good: by the owners of a team, and by operators. It cannot be undone."""

from __future__ import annotations

from typing import Annotated, Literal

from django.db.models import Exists, OuterRef, QuerySet
from ninja import Field, Router, Schema
from typing_extensions import TypedDict

from opencode_web.lib.errors import Invalid, NotFound
from opencode_web.lib.shapes import Unchecked
from sessions.access import access_project
from sessions.actions.erasure import (
    request_person_erasure,
    request_project_erasure,
    request_team_erasure,
)
from sessions.api.auth import ApiRequest, asks_as_operator, require_operator
from sessions.api.config import team_of
from sessions.present.pages.erasures import access_erasure, told
from sessions.wire import to_ms
from teams.audit import AuditAction
from teams.models import AuditEntry, Erasure, Role, Scope, Team

router = Router(tags=["erasure"])

_LISTED = 100


class ErasureBody(Schema):
    """Without a project it is the whole team."""

    project: str = Field(default="", max_length=40, description="The ID of a project of yours")
    confirm: str = Field(max_length=300, description="The name of the project, or the team's slug")


class InstanceErasureBody(Schema):
    kind: Literal["person", "team"]
    what: str = Field(max_length=300, description="The e-mail address, or the team's slug")
    confirm: str = Field(max_length=300, description="The same again")


class ErasureWire(TypedDict):
    """Times in milliseconds since the epoch."""

    id: str
    kind: Annotated[str, Unchecked(Literal["person", "project", "team"])]
    subject: str
    """The ID of what is erased."""
    state: Annotated[str, Unchecked(Literal["waiting", "running", "done", "failed"])]
    done: int
    total: int
    problem: str
    """Why it failed, or what stops it so far."""
    failingSince: int | None
    report: list[str]
    """What was done and what was not, in sentences."""
    requestedBy: str | None
    created: int
    ended: int | None


@router.get("/erasure", summary="What you have had erased; for operators, what anybody has")
def list_erasures(request: ApiRequest) -> list[ErasureWire]:
    """The newest first."""
    rows = Erasure.objects.select_related("requested_by")
    seen = rows if asks_as_operator(request) else _own(request, rows)
    return [_to_wire(row) for row in seen.order_by("-created_at")[:_LISTED]]


@router.post("/erasure", summary="Erase a team or a project for good")
def post_erasure(request: ApiRequest, body: ErasureBody, team: str = "") -> ErasureWire:
    """For owners. Nothing of it can be restored."""
    if body.project:
        project = access_project(request.auth, body.project, need=Role.OWNER)
        return _to_wire(request_project_erasure(project, confirm=body.confirm))
    access = team_of(request, team, need=Role.OWNER)
    return _to_wire(request_team_erasure(access, access.team, confirm=body.confirm))


@router.get("/erasure/{erasure_id}", summary="How far an erasure is, and its report")
def get_erasure(request: ApiRequest, erasure_id: str) -> ErasureWire:
    rows = _own(request, Erasure.objects.filter(pk=erasure_id))
    if row := rows.first():
        return _to_wire(row)
    if request.auth.via == "token":
        raise NotFound("Erasure", erasure_id)
    return _to_wire(access_erasure(request.auth.user, erasure_id))


@router.post("/instance/erasures", summary="Erase a person or a team for good, for operators")
def post_instance_erasure(request: ApiRequest, body: InstanceErasureBody) -> ErasureWire:
    """Nothing of it can be restored."""
    require_operator(request)
    user = request.auth.user
    if body.kind == "person":
        return _to_wire(request_person_erasure(user, email=body.what, confirm=body.confirm))
    team = Team.objects.filter(slug=body.what.strip()).first()
    if team is None:
        raise Invalid("There is no team with this address.", field="what")
    return _to_wire(request_team_erasure(user, team, confirm=body.confirm))


def _own(request: ApiRequest, rows: QuerySet[Erasure]) -> QuerySet[Erasure]:
    """Returns: those that the caller has asked for. Raises: Forbidden."""
    request.auth.require(Scope.ADMIN)
    rows = rows.filter(requested_by=request.auth.user)
    if request.auth.team is None:
        return rows
    # A token sees what was asked for in its team.
    asked = AuditEntry.objects.filter(
        team=request.auth.team, action=AuditAction.ERASURE_REQUESTED, target_id=OuterRef("pk")
    )
    return rows.filter(Exists(asked))


def _to_wire(row: Erasure) -> ErasureWire:
    return {
        "id": row.pk,
        "kind": row.kind,
        "subject": row.subject,
        "state": row.state,
        "done": row.done,
        "total": row.total,
        "problem": row.problem,
        "failingSince": to_ms(row.failing_since) if row.failing_since else None,
        "report": told(row) if row.state == Erasure.State.DONE else [],
        "requestedBy": row.requested_by.email if row.requested_by else None,
        "created": to_ms(row.created_at),
        "ended": to_ms(row.ended_at) if row.ended_at else None,
    }
