"""Work that is asked for without a prompt: a shell line, the instructions of a project."""

from __future__ import annotations

from ninja import Router

from opencode_web.lib.db import in_db
from sessions.access import access_session
from sessions.actions.commands import CommandCall, run_command, run_shell
from sessions.api.auth import ApiRequest, AsyncTokenOrCookie, stable_message_id
from sessions.api.messages import AnswerMessage
from sessions.api.prompts import Patience, group_of, wait_for_answer
from sessions.api.schemas import InitBody, ShellBody
from sessions.models import SessionInput
from sessions.stream.rights import watch_rights
from teams.auth import Principal
from teams.models import Role

router = Router(tags=["session"])


@router.post(
    "/session/{session_id}/shell",
    auth=AsyncTokenOrCookie(),
    summary="Run a shell line in the sandbox, and get it with its output",
)
async def post_shell(
    request: ApiRequest, session_id: str, body: ShellBody, timeout: Patience = None
) -> AnswerMessage:
    async with watch_rights(request.auth, group_of(session_id)) as subscription:
        body.messageID = body.messageID or stable_message_id(request)
        row = await in_db(_run, request.auth, session_id, body)
        return await wait_for_answer(request.auth, row, subscription, timeout)


def _run(principal: Principal, session_id: str, body: ShellBody) -> SessionInput:
    access = access_session(principal, session_id, need=Role.MEMBER)
    return run_shell(
        access,
        body.command,
        message_id=body.messageID,
        agent=body.agent,
        model=body.model.ref() if body.model else None,
    )


@router.post(
    "/session/{session_id}/init",
    auth=AsyncTokenOrCookie(),
    summary="Have an agent write AGENTS.md of the project, and wait for it",
)
async def post_init(
    request: ApiRequest,
    session_id: str,
    body: InitBody | None = None,
    timeout: Patience = None,
) -> bool:
    body = body or InitBody()
    async with watch_rights(request.auth, group_of(session_id)) as subscription:
        body.messageID = body.messageID or stable_message_id(request)
        row = await in_db(_init, request.auth, session_id, body)
        await wait_for_answer(request.auth, row, subscription, timeout)
    return True


def _init(principal: Principal, session_id: str, body: InitBody) -> SessionInput:
    access = access_session(principal, session_id, need=Role.MEMBER)
    call = CommandCall("init", "", message_id=body.messageID, model=body.ref())
    return run_command(access, call)
