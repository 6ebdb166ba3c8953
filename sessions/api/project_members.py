"""Who sees a project, with which role; and who sees a session."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired

from ninja import Router, Schema
from typing_extensions import TypedDict

from opencode_web.lib.errors import Invalid
from opencode_web.lib.shapes import Unchecked
from sessions.access import ProjectAccess, access_project, access_session
from sessions.actions.privacy import set_private
from sessions.actions.project_members import restrict_project, set_project_member
from sessions.api.auth import ApiRequest
from sessions.api.members import member_of
from sessions.models import ProjectMember
from sessions.wire import SessionWire, session_to_wire
from teams.actions.groups import access_group
from teams.http import client_ip
from teams.models import Membership, Role, TeamGroup

router = Router(tags=["member"])

RoleName = Literal["viewer", "member"]


class RestrictedBody(Schema):
    restricted: bool


class ProjectMemberBody(Schema):
    """Names a member or a group. Without a role they have none of their own in the project."""

    member: int | None = None
    group: str | None = None
    role: RoleName | None = None


class PrivateBody(Schema):
    private: bool


class ProjectMemberWire(TypedDict):
    """Either a member or a group."""

    member: NotRequired[int]
    group: NotRequired[str]
    role: Annotated[str, Unchecked(RoleName)]


class ProjectAccessWire(TypedDict):
    restricted: bool
    """Whether only its members see the project, and those who see everything in the team."""
    members: list[ProjectMemberWire]


@router.get("/project/{project_id}/access", summary="Who sees a project, and with which role")
def get_access(request: ApiRequest, project_id: str) -> ProjectAccessWire:
    return _to_wire(access_project(request.auth, project_id, need=Role.ADMIN))


@router.put("/project/{project_id}/access", summary="Restrict a project to its members, or open it")
def put_access(request: ApiRequest, project_id: str, body: RestrictedBody) -> ProjectAccessWire:
    access = access_project(request.auth, project_id, need=Role.ADMIN)
    restrict_project(access, restricted=body.restricted, ip=client_ip(request))
    return _to_wire(access_project(request.auth, project_id, need=Role.ADMIN))


@router.put("/project/{project_id}/access/member", summary="Set the role of somebody in a project")
def put_member(request: ApiRequest, project_id: str, body: ProjectMemberBody) -> ProjectAccessWire:
    access = access_project(request.auth, project_id, need=Role.ADMIN)
    role = Role(body.role) if body.role else None
    set_project_member(access, _named(access, body), role=role, ip=client_ip(request))
    return _to_wire(access)


@router.put("/session/{session_id}/privacy", summary="Make a session private, or open it again")
def put_privacy(request: ApiRequest, session_id: str, body: PrivateBody) -> SessionWire:
    access = access_session(request.auth, session_id, need=Role.MEMBER)
    return session_to_wire(set_private(access, private=body.private, ip=client_ip(request)))


def _named(access: ProjectAccess, body: ProjectMemberBody) -> Membership | TeamGroup:
    """Raises: NotFound; Invalid where not exactly one is named."""
    if body.member is not None and body.group is None:
        return member_of(access.team.in_team, body.member)
    if body.group is not None and body.member is None:
        return access_group(access.team.in_team, body.group)
    raise Invalid("Name a member or a group.", kind="Body")


def _to_wire(access: ProjectAccess) -> ProjectAccessWire:
    rows = ProjectMember.objects.filter(project=access.project).order_by("pk")
    return {
        "restricted": access.project.is_restricted,
        "members": [_member(row) for row in rows],
    }


def _member(row: ProjectMember) -> ProjectMemberWire:
    if row.group_id is not None:
        return {"group": row.group_id, "role": str(row.role)}
    return {"member": row.membership_id or 0, "role": str(row.role)}
