from __future__ import annotations

import asyncio
from contextlib import suppress
from functools import partial
from typing import Annotated, cast

from django.http import HttpResponse
from ninja import Query

from opencode_web.lib.db import in_db
from opencode_web.lib.errors import Invalid, NotFound, Unavailable
from opencode_web.lib.ids import is_id
from providers.llm.messages import ModelRef
from providers.resolve import parse_ref
from sessions.access import access_session
from sessions.actions.commands import CommandCall, run_command
from sessions.actions.compaction import request_compaction
from sessions.actions.control import request_stop
from sessions.actions.prompts import PromptDraft, admit_prompt
from sessions.api.auth import ApiRequest, AsyncTokenOrCookie, stable_message_id
from sessions.api.messages import AnswerMessage, router, with_parts
from sessions.api.schemas import CommandBody, CompactBody, PromptBody, SummarizeBody
from sessions.events.live import publish_command, session_group, team_group
from sessions.models import Message, SessionInput
from sessions.secrets import hide_keys
from sessions.stream.hub import Subscription, flushed
from sessions.stream.rights import watch_rights
from sessions.stream.turns import find_answer, is_stopped, wait_until
from sessions.wire import MessageWire
from teams.auth import Principal
from teams.models import Role

# One router with messages.py: both answer at /session/{id}/message, and a path belongs to one.
__all__ = ["router"]

# How long somebody waits for a turn to end.
Patience = Annotated[
    float | None,
    Query(
        gt=0,
        le=24 * 3600,
        description="Seconds; then the answer is 503, and the same call with the same messageID "
        "goes on waiting. Without it there is no limit.",
    ),
]
# An abort that takes longer is settled later; the events tell.
ABORT_WAIT_S = 5.0


@router.post(
    "/session/{session_id}/message",
    auth=AsyncTokenOrCookie(),
    summary="Prompt, wait for the turn to end, and get the last message",
)
async def post_message(
    request: ApiRequest, session_id: str, body: PromptBody, timeout: Patience = None
) -> AnswerMessage:
    async with watch_rights(request.auth, group_of(session_id)) as subscription:
        body.messageID = body.messageID or stable_message_id(request)
        row = await in_db(_admit, request.auth, session_id, body)
        if body.noReply:
            return await in_db(_user_message, row)
        return await wait_for_answer(request.auth, row, subscription, timeout)


@router.post(
    "/session/{session_id}/command",
    auth=AsyncTokenOrCookie(),
    summary="Run a command, wait for the turn to end, and get the last message",
)
async def post_command(
    request: ApiRequest, session_id: str, body: CommandBody, timeout: Patience = None
) -> AnswerMessage:
    async with watch_rights(request.auth, group_of(session_id)) as subscription:
        body.messageID = body.messageID or stable_message_id(request)
        row = await in_db(_admit_command, request.auth, session_id, body)
        return await wait_for_answer(request.auth, row, subscription, timeout)


# The name that an older version of the API has for it.
router.add_api_operation(
    "/session/{session_id}/prompt",
    ["POST"],
    post_message,
    auth=AsyncTokenOrCookie(),
    summary="The same as POST /session/{id}/message",
    operation_id="post_prompt_and_wait",
)


@router.post(
    "/session/{session_id}/prompt_async", response={204: None}, summary="Prompt without waiting"
)
def post_prompt(request: ApiRequest, session_id: str, body: PromptBody) -> HttpResponse:
    _admit(request.auth, session_id, body)
    return HttpResponse(status=204)


@router.post(
    "/session/{session_id}/summarize",
    summary="Have the conversation summed up for the model; `session.compacted` tells when it is",
)
def summarize(request: ApiRequest, session_id: str, body: SummarizeBody) -> bool:
    access = access_session(request.auth, session_id, need=Role.MEMBER)
    model = ModelRef(body.providerID, body.modelID)
    request_compaction(access, model=model, auto=body.auto)
    return True


@router.post(
    "/session/{session_id}/compact", summary="The same, with the session's own model by default"
)
def compact(request: ApiRequest, session_id: str, body: CompactBody | None = None) -> bool:
    access = access_session(request.auth, session_id, need=Role.MEMBER)
    request_compaction(access, model=body.ref() if body else None)
    return True


@router.post(
    "/session/{session_id}/abort",
    auth=AsyncTokenOrCookie(),
    summary="Stop what the session does; true also when it was idle",
)
async def abort(request: ApiRequest, session_id: str) -> bool:
    async with watch_rights(request.auth, group_of(session_id)) as subscription:
        if await in_db(_stop, request.auth, session_id):
            with suppress(TimeoutError):
                async with asyncio.timeout(ABORT_WAIT_S):
                    check = partial(is_stopped, request.auth, session_id)
                    await wait_until(request.auth, check, subscription)
    return True


async def wait_for_answer(
    principal: Principal,
    row: SessionInput,
    subscription: Subscription,
    timeout_s: float | None = None,
) -> MessageWire:
    """Returns: the last message of the turn of a prompt, as `{info, parts}`.

    Raises: Unavailable after `timeout_s` seconds, where that is given; the turn goes on.
    """
    try:
        async with asyncio.timeout(timeout_s):
            # Who hangs up here ends only the waiting: the prompt is admitted, the turn goes on.
            answer, team_id = await wait_until(
                principal,
                partial(_answer, principal, row),
                subscription,
                # Only an exact retry can be over already.
                at_once=row.status != SessionInput.Status.ADMITTED,
            )
    except TimeoutError as exc:
        raise Unavailable(
            "The turn is still running. To keep waiting, send the same request again with the "
            f"messageID {row.pk}."
        ) from exc
    # `opencode run --attach` exits with this answer and prints what its event stream brought.
    await flushed(team_group(team_id))
    return answer


def group_of(session_id: str) -> str:
    """Raises: NotFound for what is no id."""
    # Before anything is asked of the database; the bus takes no other characters.
    if not is_id(session_id, "ses"):
        raise NotFound("Session", session_id)
    return session_group(session_id)


def _admit(principal: Principal, session_id: str, body: PromptBody) -> SessionInput:
    access = access_session(principal, session_id, need=Role.MEMBER)
    if body.variant and body.model is None:
        raise Invalid("A variant needs a model.", kind="Payload")
    draft = PromptDraft(
        parts=body.parts,  # type: ignore[arg-type]  # they came as JSON; the action checks them
        message_id=body.messageID,
        agent=body.agent,
        model=body.ref(),
        delivery=body.delivery,
        system=body.system,
        tools=body.tools,
        format=body.format,  # type: ignore[arg-type]  # it came as JSON
    )
    return admit_prompt(access, draft, reply=not body.noReply)


def _admit_command(principal: Principal, session_id: str, body: CommandBody) -> SessionInput:
    access = access_session(principal, session_id, need=Role.MEMBER)
    if any(part.get("type") != "file" for part in body.parts):
        raise Invalid("Besides its arguments, a command can only have files.")
    call = CommandCall(
        body.command.removeprefix("/"),
        body.arguments,
        message_id=body.messageID,
        agent=body.agent,
        model=parse_ref(body.model, variant=body.variant) if body.model else None,
        delivery=body.delivery,
        files=body.parts,  # type: ignore[arg-type]  # they came as JSON; the action checks them
    )
    row = run_command(access, call)
    told = hide_keys(access.project, call.arguments)
    publish_command(access.session, name=call.name, arguments=told, message_id=row.pk)
    return row


def _stop(principal: Principal, session_id: str) -> bool:
    return request_stop(access_session(principal, session_id, need=Role.MEMBER))


def _user_message(row: SessionInput) -> MessageWire:
    message = Message.objects.filter(pk=row.pk).first()
    return with_parts([message])[0] if message else cast(MessageWire, row.data)


def _answer(principal: Principal, prompt: SessionInput) -> tuple[MessageWire, str] | None:
    """Returns: the answer as soon as there is one, and the team whose streams tell of it."""
    message = find_answer(principal, prompt)
    if message is None:
        return None
    return with_parts([message])[0], message.session.project.team_id
