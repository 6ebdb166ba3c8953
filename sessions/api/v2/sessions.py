from __future__ import annotations

import asyncio
from functools import partial
from typing import Annotated, Literal

from django.http import HttpResponse
from ninja import Field, Query, Router, Schema

from opencode_web.lib.db import in_db
from opencode_web.lib.errors import NotFound, Unavailable
from opencode_web.lib.ids import is_id
from opencode_web.lib.json import JsonObject, JsonValue
from providers.llm.messages import ModelRef
from sessions.access import SessionAccess, access_session, visible_sessions
from sessions.actions.compaction import request_compaction
from sessions.actions.control import request_stop
from sessions.actions.model_choice import choose_for_session
from sessions.actions.revert import commit_revert, revert_session, unrevert_session
from sessions.actions.sessions import WorkFolder, create_session
from sessions.api.auth import ApiRequest, AsyncTokenOrCookie
from sessions.api.location import below, require_location, sessions_in_scope
from sessions.api.restore import put_back
from sessions.api.schemas import SessionModel
from sessions.api.v2.page import Paged, PageQuery, take_page
from sessions.api.v2.place import Wrapped
from sessions.api.v2.session_answers import SessionV2
from sessions.api.v2.shapes import session_to_v2
from sessions.events.live import session_group
from sessions.models import State
from sessions.stream.reverted import RevertV2, revert_to_v2
from sessions.stream.rights import watch_rights
from sessions.stream.turns import wait_until
from teams.auth import Principal
from teams.models import Role

router = Router(tags=["session"])

# A call that waits longer is likely cut by a proxy; the client asks again.
WAIT_S = 600.0


class SessionsQuery(PageQuery):
    """`project` is an id; a directory is named as everywhere."""

    search: str = Field(default="", max_length=300)
    subpath: str = Field(
        default="", max_length=1000, description="Folder of the project; those below it count too."
    )


class PlaceRef(Schema):
    directory: str = Field(max_length=1000)


class SessionStart(Schema):
    """A session; with the id of one that is there already, that one is the answer: the same request
    can be sent again. A new id is made like this server's, in the last ten minutes."""

    id: str | None = Field(default=None, max_length=40)
    agent: str | None = Field(default=None, max_length=60)
    model: SessionModel | None = None
    location: PlaceRef | None = None


class WaitQuery(Schema):
    """How long to wait, in seconds."""

    timeout: Annotated[float, Field(gt=0, le=WAIT_S)] = WAIT_S


class AgentChoice(Schema):
    agent: str = Field(max_length=60)


class ModelChoice(Schema):
    model: SessionModel


class RevertStage(Schema):
    """Where the rollback begins. Without `files` they stay as they are."""

    messageID: str
    files: bool = True


@router.get("/api/session", summary="Sessions, the latest first, in pages")
def list_sessions(
    request: ApiRequest, query: Annotated[SessionsQuery, Query()]
) -> Paged[list[SessionV2]]:
    rows = sessions_in_scope(request).filter(below(query.subpath))
    if query.search:
        rows = rows.filter(title__icontains=query.search)
    # Ids of sessions fall with time.
    page, cursors = take_page(rows, query, column="pk", newest_last=False)
    return {"data": [session_to_v2(row) for row in page], "cursor": cursors}


@router.post("/api/session", summary="Create a session")
def post_session(request: ApiRequest, body: SessionStart | None = None) -> Wrapped[SessionV2]:
    body = body or SessionStart()
    if body.id is not None:
        known = visible_sessions(request.auth).filter(pk=body.id).first()
        if known is not None:
            return {"data": session_to_v2(access_session(request.auth, known.pk).session)}
    named = body.location.directory.replace("\0", "") if body.location else ""
    location = require_location(request, need=Role.MEMBER, named=named)
    session = create_session(
        location.access,
        agent=body.agent or "",
        model=body.model.to_json() if body.model else None,
        folder=WorkFolder(location.folder, location.path),
        session_id=body.id or "",
    )
    return {"data": session_to_v2(session)}


@router.get("/api/session/active", summary="Sessions that are not idle, by their ids")
def list_active(request: ApiRequest) -> Wrapped[JsonObject]:
    rows = visible_sessions(request.auth).exclude(state=State.IDLE)
    active: dict[str, JsonValue] = {row.pk: {"type": "running"} for row in rows}
    return {"data": active}


@router.get("/api/session/{session_id}", summary="One session")
def get_session(request: ApiRequest, session_id: str) -> Wrapped[SessionV2]:
    return {"data": session_to_v2(access_session(request.auth, session_id).session)}


@router.post(
    "/api/session/{session_id}/agent", response={204: None}, summary="Choose the agent from now on"
)
def switch_agent(request: ApiRequest, session_id: str, body: AgentChoice) -> HttpResponse:
    choose_for_session(_member(request.auth, session_id), agent=body.agent)
    return HttpResponse(status=204)


@router.post(
    "/api/session/{session_id}/model", response={204: None}, summary="Choose the model from now on"
)
def switch_model(request: ApiRequest, session_id: str, body: ModelChoice) -> HttpResponse:
    model = ModelRef(body.model.providerID, body.model.id, body.model.variant)
    choose_for_session(_member(request.auth, session_id), model=model)
    return HttpResponse(status=204)


@router.post("/api/session/{session_id}/compact", response={204: None}, summary="Have it summed up")
def compact(request: ApiRequest, session_id: str) -> HttpResponse:
    request_compaction(_member(request.auth, session_id))
    return HttpResponse(status=204)


@router.post(
    "/api/session/{session_id}/interrupt", response={204: None}, summary="Stop what it does"
)
def interrupt(request: ApiRequest, session_id: str) -> HttpResponse:
    request_stop(_member(request.auth, session_id))
    return HttpResponse(status=204)


@router.post(
    "/api/session/{session_id}/wait",
    auth=AsyncTokenOrCookie(),
    response={204: None},
    summary="Answer when it is idle and nothing waits in its inbox",
)
async def wait(
    request: ApiRequest, session_id: str, query: Annotated[WaitQuery, Query()]
) -> HttpResponse:
    """After `timeout` seconds the answer is 503: ask again to go on waiting."""
    if not is_id(session_id, "ses"):
        raise NotFound("Session", session_id)
    async with watch_rights(request.auth, session_group(session_id)) as subscription:
        try:
            async with asyncio.timeout(query.timeout):
                check = partial(_is_idle, request.auth, session_id)
                await wait_until(request.auth, check, subscription)
        except TimeoutError as exc:
            raise Unavailable(
                "The session is still working. Send the request again to keep waiting."
            ) from exc
    return HttpResponse(status=204)


@router.post(
    "/api/session/{session_id}/revert/stage",
    auth=AsyncTokenOrCookie(),
    summary="Roll back to before a message, until that is cleared or committed",
)
async def stage_revert(
    request: ApiRequest, session_id: str, body: RevertStage
) -> Wrapped[RevertV2]:
    act = partial(revert_session, message_id=body.messageID, files=body.files)
    await put_back(request.auth, session_id, act)
    session = (await in_db(access_session, request.auth, session_id)).session
    return {"data": revert_to_v2(session.revert)}


@router.post(
    "/api/session/{session_id}/revert/clear",
    auth=AsyncTokenOrCookie(),
    response={204: None},
    summary="Bring back what was rolled back",
)
async def clear_revert(request: ApiRequest, session_id: str) -> HttpResponse:
    await put_back(request.auth, session_id, unrevert_session)
    return HttpResponse(status=204)


@router.post(
    "/api/session/{session_id}/revert/commit",
    response={204: None},
    summary="Remove for good what is rolled back",
)
def finish_revert(request: ApiRequest, session_id: str) -> HttpResponse:
    commit_revert(_member(request.auth, session_id))
    return HttpResponse(status=204)


def _member(principal: Principal, session_id: str) -> SessionAccess:
    return access_session(principal, session_id, need=Role.MEMBER)


def _is_idle(principal: Principal, session_id: str) -> Literal[True] | None:
    session = access_session(principal, session_id).session
    waits = session.inputs.filter(status="admitted").exists()
    return True if session.state == State.IDLE and not waits else None
