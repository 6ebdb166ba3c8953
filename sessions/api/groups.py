"""Groups of people of a team. `?team=` names it where the caller has several."""

from __future__ import annotations

from ninja import Field, Router, Schema
from typing_extensions import TypedDict

from sessions.api.auth import ApiRequest
from sessions.api.config import team_of
from sessions.api.members import member_of
from teams.actions.groups import (
    MAX_NAME_CHARS,
    access_group,
    create_group,
    delete_group,
    put_in_group,
    take_from_group,
    update_group,
)
from teams.http import client_ip
from teams.models import Role, TeamGroup

router = Router(tags=["group"])


class GroupBody(Schema):
    name: str = Field(max_length=MAX_NAME_CHARS)


class GroupPatch(Schema):
    """Only what is given changes."""

    name: str | None = Field(default=None, max_length=MAX_NAME_CHARS)
    approver: bool | None = Field(
        default=None, description="Whether its people allow what needs a second person"
    )


class GroupWire(TypedDict):
    id: str
    name: str
    approver: bool
    members: list[int]
    """Their ids, as `/member` has them."""


@router.get("/group", summary="Groups of a team")
def list_groups(request: ApiRequest, team: str = "") -> list[GroupWire]:
    access = team_of(request, team, need=Role.ADMIN)
    rows = access.team.groups.prefetch_related("members").order_by("name")
    return [_to_wire(row) for row in rows]


@router.post("/group", summary="Make a group")
def post_group(request: ApiRequest, body: GroupBody, team: str = "") -> GroupWire:
    access = team_of(request, team, need=Role.ADMIN)
    return _to_wire(create_group(access, name=body.name, ip=client_ip(request)))


@router.patch("/group/{group_id}", summary="Rename a group, or make its people approvers")
def patch_group(request: ApiRequest, group_id: str, body: GroupPatch, team: str = "") -> GroupWire:
    access = team_of(request, team, need=Role.ADMIN)
    row = access_group(access, group_id)
    ip = client_ip(request)
    return _to_wire(update_group(access, row, name=body.name, is_approver=body.approver, ip=ip))


@router.delete("/group/{group_id}", summary="Delete a group; its people stay in the team")
def remove_group(request: ApiRequest, group_id: str, team: str = "") -> bool:
    access = team_of(request, team, need=Role.ADMIN)
    delete_group(access, access_group(access, group_id), ip=client_ip(request))
    return True


@router.put("/group/{group_id}/member/{member_id}", summary="Add a member to a group")
def put_member(request: ApiRequest, group_id: str, member_id: int, team: str = "") -> GroupWire:
    access = team_of(request, team, need=Role.ADMIN)
    row = access_group(access, group_id)
    put_in_group(access, row, member_of(access, member_id), ip=client_ip(request))
    return _to_wire(row)


@router.delete("/group/{group_id}/member/{member_id}", summary="Remove a member from a group")
def remove_member(request: ApiRequest, group_id: str, member_id: int, team: str = "") -> GroupWire:
    access = team_of(request, team, need=Role.ADMIN)
    row = access_group(access, group_id)
    take_from_group(access, row, member_of(access, member_id), ip=client_ip(request))
    return _to_wire(row)


def _to_wire(row: TeamGroup) -> GroupWire:
    return {
        "id": row.pk,
        "name": row.name,
        "approver": row.is_approver,
        "members": sorted(one.pk for one in row.members.all()),
    }
