from __future__ import annotations

from ninja import Router

from sessions.access import access_session
from sessions.actions.shares import share_session, unshare_session
from sessions.api.auth import ApiRequest
from sessions.wire import SessionWire, session_to_wire
from teams.http import client_ip
from teams.models import Role

router = Router(tags=["session"])


@router.post("/session/{session_id}/share", summary="Share a session with its team by a link")
def share(request: ApiRequest, session_id: str) -> SessionWire:
    access = access_session(request.auth, session_id, need=Role.MEMBER)
    return session_to_wire(share_session(access, ip=client_ip(request)))


@router.delete("/session/{session_id}/share", summary="End all links to a session")
def unshare(request: ApiRequest, session_id: str) -> SessionWire:
    access = access_session(request.auth, session_id, need=Role.MEMBER)
    return session_to_wire(unshare_session(access, ip=client_ip(request)))
