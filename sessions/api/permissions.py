from __future__ import annotations

from ninja import Router

from opencode_web.lib.errors import NotFound
from sessions.access import access_permission
from sessions.actions.permissions import reply_permission
from sessions.api.auth import ApiRequest
from sessions.api.location import sessions_in_scope
from sessions.api.schemas import PermissionReply, PermissionResponse
from sessions.models import PermissionRequest
from sessions.wire import PermissionRequestWire, permission_to_wire

router = Router(tags=["permission"])


@router.get("/permission", summary="Requests that wait for an answer")
def list_permissions(request: ApiRequest) -> list[PermissionRequestWire]:
    rows = PermissionRequest.objects.pending().filter(session__in=sessions_in_scope(request))
    return [permission_to_wire(row) for row in rows]


@router.post("/permission/{request_id}/reply", summary="Answer a request; the first answer wins")
def reply(request: ApiRequest, request_id: str, body: PermissionReply) -> bool:
    row, access = access_permission(request.auth, request_id)
    reply_permission(access, row, reply=body.reply, message=body.message)
    return True


@router.post("/session/{session_id}/permissions/{request_id}", summary="The older form of a reply")
def respond(
    request: ApiRequest, session_id: str, request_id: str, body: PermissionResponse
) -> bool:
    row, access = access_permission(request.auth, request_id)
    if row.session_id != session_id:
        raise NotFound("Permission request", request_id)
    reply_permission(access, row, reply=body.response)
    return True
