from __future__ import annotations

from functools import partial
from typing import Annotated

from ninja import Body

from opencode_web.lib.json import JsonObject
from opencode_web.lib.shapes import Unchecked
from sessions.access import access_session
from sessions.actions.fork import fork_session
from sessions.actions.history import delete_messages, delete_part, update_part
from sessions.actions.revert import (
    revert_file,
    revert_session,
    undo_file_revert,
    unrevert_session,
)
from sessions.api.auth import ApiRequest, AsyncTokenOrCookie
from sessions.api.prompts import router
from sessions.api.restore import put_back
from sessions.api.schemas import FileBody, ForkBody, RevertBody, RevertFileBody
from sessions.events.parts import AnyPart
from sessions.wire import SessionWire, session_to_wire
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
) -> Annotated[JsonObject, Unchecked(AnyPart)]:
    access = access_session(request.auth, session_id, need=Role.MEMBER)
    part = update_part(access, message_id, part_id, body)
    return dict(part.data)


@router.post("/session/{session_id}/fork", summary="Copy the history into a session of its own")
def fork(request: ApiRequest, session_id: str, body: ForkBody | None = None) -> SessionWire:
    access = access_session(request.auth, session_id, need=Role.MEMBER)
    return session_to_wire(fork_session(access, before=body.messageID if body else None))


@router.post(
    "/session/{session_id}/revert",
    auth=AsyncTokenOrCookie(),
    summary="Roll back to before a message or a part, with the files",
)
async def revert(request: ApiRequest, session_id: str, body: RevertBody) -> SessionWire:
    act = partial(revert_session, message_id=body.messageID, part_id=body.partID)
    return await put_back(request.auth, session_id, act)


@router.post(
    "/session/{session_id}/unrevert",
    auth=AsyncTokenOrCookie(),
    summary="Bring back what was rolled back, with the files",
)
async def unrevert(request: ApiRequest, session_id: str) -> SessionWire:
    return await put_back(request.auth, session_id, unrevert_session)


@router.post(
    "/session/{session_id}/revert/file",
    auth=AsyncTokenOrCookie(),
    summary="Put one file back as it was before a turn",
)
async def revert_one(request: ApiRequest, session_id: str, body: RevertFileBody) -> SessionWire:
    act = partial(revert_file, scope=body.messageID, file=body.file)
    return await put_back(request.auth, session_id, act)


@router.post(
    "/session/{session_id}/unrevert/file",
    auth=AsyncTokenOrCookie(),
    summary="Undo that, until the next prompt",
)
async def unrevert_one(request: ApiRequest, session_id: str, body: FileBody) -> SessionWire:
    return await put_back(request.auth, session_id, partial(undo_file_revert, file=body.file))
