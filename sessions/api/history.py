from __future__ import annotations

from ninja import Body

from opencode_web.lib.json import JsonObject
from sessions.access import access_session
from sessions.actions.fork import fork_session
from sessions.actions.history import delete_messages, delete_part, update_part
from sessions.actions.revert import revert_session, unrevert_session
from sessions.api.auth import ApiRequest
from sessions.api.prompts import router
from sessions.api.schemas import ForkBody, RevertBody
from sessions.wire import session_to_wire
from teams.models import Role

# One router with prompts.py and messages.py: all answer below /session/{id}/message, and a path
# belongs to one.
__all__ = ["router"]


@router.delete("/session/{session_id}/message/{message_id}", summary="Remove a message for good")
def remove_message(request: ApiRequest, session_id: str, message_id: str) -> bool:
    delete_messages(access_session(request.auth, session_id, need=Role.MEMBER), [message_id])
    return True


@router.delete(
    "/session/{session_id}/message/{message_id}/part/{part_id}", summary="Remove a part for good"
)
def remove_part(request: ApiRequest, session_id: str, message_id: str, part_id: str) -> bool:
    access = access_session(request.auth, session_id, need=Role.MEMBER)
    delete_part(access, message_id, part_id)
    return True


@router.patch("/session/{session_id}/message/{message_id}/part/{part_id}", summary="Replace a part")
def patch_part(
    request: ApiRequest,
    session_id: str,
    message_id: str,
    part_id: str,
    body: Body[JsonObject],
) -> JsonObject:
    access = access_session(request.auth, session_id, need=Role.MEMBER)
    part = update_part(access, message_id, part_id, body)
    return dict(part.data)


@router.post("/session/{session_id}/fork", summary="Copy the history into a session of its own")
def fork(request: ApiRequest, session_id: str, body: ForkBody | None = None) -> JsonObject:
    access = access_session(request.auth, session_id, need=Role.MEMBER)
    return session_to_wire(fork_session(access, before=body.messageID if body else None))


@router.post("/session/{session_id}/revert", summary="Roll back to before a message or a part")
def revert(request: ApiRequest, session_id: str, body: RevertBody) -> JsonObject:
    access = access_session(request.auth, session_id, need=Role.MEMBER)
    return session_to_wire(revert_session(access, body.messageID, part_id=body.partID))


@router.post("/session/{session_id}/unrevert", summary="Bring back what was rolled back")
def unrevert(request: ApiRequest, session_id: str) -> JsonObject:
    access = access_session(request.auth, session_id, need=Role.MEMBER)
    return session_to_wire(unrevert_session(access))
