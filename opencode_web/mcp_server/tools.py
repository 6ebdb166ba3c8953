"""The tools: what they are called, what they take, and which actions they call."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel

from opencode_web.lib.db import in_db
from opencode_web.lib.errors import Unauthorized
from opencode_web.mcp_server import shapes
from opencode_web.mcp_server.reading import page_of, pending, read_session
from providers.llm.messages import ModelRef
from providers.resolve import parse_ref
from sessions.access import (
    access_permission,
    access_principal_team,
    access_project,
    access_question,
    access_session,
    visible_projects,
)
from sessions.actions.checkouts import choose_plan
from sessions.actions.control import request_stop
from sessions.actions.permissions import reply_permission
from sessions.actions.prompts import PromptDraft, admit_prompt
from sessions.actions.questions import reject_question, reply_question
from sessions.actions.start import start_session
from sessions.api.prompts import ABORT_WAIT_S
from sessions.events.live import rail_group
from sessions.models import Project, State
from sessions.stream.rights import watch_rights
from sessions.stream.turns import wait_until
from sessions.text_search import find_said
from sessions.visibility import oversees, sessions_in
from teams.auth import Principal
from teams.models import Role, Scope

A = TypeVar("A", bound=shapes.Arguments)
# Of what is read back after a change.
_SHOWN_CHARS = 2_000


@dataclass(frozen=True)
class Tool(Generic[A]):
    """`run` may raise AppError. `scope` is the least that a token must have to see it."""

    name: str
    title: str
    description: str
    takes: type[A]
    gives: type[BaseModel]
    run: Callable[[Principal, A], Awaitable[BaseModel]]
    scope: Scope = Scope.WRITE
    ends_something: bool = False

    async def call(self, principal: Principal, arguments: dict[str, Any]) -> BaseModel:
        """Raises: pydantic's ValidationError; as `run`."""
        return await self.run(principal, self.takes.model_validate(arguments))


async def _list_projects(principal: Principal, _: shapes.NoArguments) -> shapes.ProjectsOut:
    def read() -> list[Project]:
        return list(visible_projects(principal).order_by("name", "pk"))

    rows = await in_db(read)
    shown = [shapes.ProjectOut(id=row.pk, name=row.name, status=row.status) for row in rows]
    return shapes.ProjectsOut(projects=shown)


async def _start(principal: Principal, given: shapes.StartArguments) -> shapes.SessionOut:
    def act() -> str:
        access = access_project(principal, given.project, need=Role.MEMBER)
        plan = choose_plan(access.project, worktree=given.worktree)
        session = start_session(
            access,
            _draft(given),
            checkout=plan,
            private=given.private,
            title=given.title,
            typed=False,
        )
        return session.pk

    return await _shown(principal, await in_db(act))


async def _go_on(principal: Principal, given: shapes.ContinueArguments) -> shapes.SessionOut:
    def act() -> None:
        access = access_session(principal, given.session, need=Role.MEMBER)
        admit_prompt(access, _draft(given, delivery=given.delivery))

    await in_db(act)
    return await _shown(principal, given.session)


async def _read(principal: Principal, given: shapes.ReadArguments) -> shapes.SessionOut:
    if given.wait_s:
        await _wait_for_rest(principal, given.session, given.wait_s)
    return await _shown(principal, given.session, max_chars=given.max_chars)


async def _answer_question(
    principal: Principal, given: shapes.QuestionArguments
) -> shapes.SessionOut:
    def act() -> str:
        row, access = access_question(principal, given.question)
        if given.dismiss:
            reject_question(access, row)
        else:
            reply_question(access, row, answers=given.answers)
        return access.session.top_id

    return await _shown(principal, await in_db(act))


async def _answer_permission(
    principal: Principal, given: shapes.PermissionArguments
) -> shapes.SessionOut:
    def act() -> str:
        row, access = access_permission(principal, given.permission)
        reply_permission(access, row, reply=given.reply, message=given.message)
        return access.session.top_id

    return await _shown(principal, await in_db(act))


async def _stop(principal: Principal, given: shapes.StopArguments) -> shapes.SessionOut:
    def act() -> bool:
        return request_stop(access_session(principal, given.session, need=Role.MEMBER))

    if await in_db(act):
        await _wait_for_rest(principal, given.session, ABORT_WAIT_S)
    return await _shown(principal, given.session)


async def _search(principal: Principal, given: shapes.SearchArguments) -> shapes.FoundsOut:
    return await in_db(_find, principal, given)


def _find(principal: Principal, given: shapes.SearchArguments) -> shapes.FoundsOut:
    if principal.team is None:
        raise Unauthorized("Searching needs an API token.")
    access = access_principal_team(principal, principal.team.pk)
    rows = sessions_in(access)
    among = None if oversees(access.membership) else rows
    said = find_said(access.team, given.query, among=among, limit=given.limit)
    sessions = rows.select_related("project__team").in_bulk({one.session for one in said})
    found = [
        shapes.FoundOut(
            session=session.pk,
            title=session.title,
            project=session.project_id,
            url=page_of(session),
            excerpt="".join(piece.text for piece in one.pieces),
        )
        for one in said
        if (session := sessions.get(one.session)) is not None
    ]
    return shapes.FoundsOut(found=found)


def _draft(
    given: shapes.StartArguments | shapes.ContinueArguments,
    *,
    delivery: Literal["steer", "queue"] = "steer",
) -> PromptDraft:
    model: ModelRef | None = parse_ref(given.model) if given.model else None
    return PromptDraft(
        parts=[{"type": "text", "text": given.prompt}],
        agent=given.agent or None,
        model=model,
        delivery=delivery,
    )


async def _shown(
    principal: Principal, session_id: str, *, max_chars: int = _SHOWN_CHARS
) -> shapes.SessionOut:
    return await in_db(read_session, principal, session_id, max_chars=max_chars)


async def _wait_for_rest(principal: Principal, session_id: str, wait_s: float) -> None:
    """Wait until the agent is done or somebody has to answer. Raises: as `access_session`."""
    session = (await in_db(access_session, principal, session_id)).session
    # Not the session's own group: what a sub-agent asks is not in that.
    async with watch_rights(principal, rail_group(session.project.team_id)) as rows:
        with suppress(TimeoutError):
            async with asyncio.timeout(wait_s):
                check = partial(_rests, principal, session_id)
                await wait_until(principal, check, rows, row_of=session.top_id)


def _rests(principal: Principal, session_id: str) -> Literal[True] | None:
    access = access_session(principal, session_id)
    return True if access.session.state == State.IDLE or any(pending(access)) else None


TOOLS: tuple[Tool[Any], ...] = (
    Tool(
        "list_projects",
        "List projects",
        "List the projects that sessions can be started in.",
        shapes.NoArguments,
        shapes.ProjectsOut,
        _list_projects,
        scope=Scope.READ,
    ),
    Tool(
        "start_session",
        "Start a session",
        "Give a task to an agent, which works on it in a project by itself. Returns at once; use "
        "read_session with wait_s to get the answer.",
        shapes.StartArguments,
        shapes.SessionOut,
        _start,
    ),
    Tool(
        "continue_session",
        "Continue a session",
        "Send another prompt to a session. Returns at once, as start_session does.",
        shapes.ContinueArguments,
        shapes.SessionOut,
        _go_on,
    ),
    Tool(
        "read_session",
        "Read a session",
        "Read how a session is: what it does, its newest answer, what it waits for and which files "
        "it has changed. With wait_s, first wait until it is done or needs an answer.",
        shapes.ReadArguments,
        shapes.SessionOut,
        _read,
        scope=Scope.READ,
    ),
    Tool(
        "answer_question",
        "Answer a question",
        "Answer what an agent asks. Ask your user when you do not know.",
        shapes.QuestionArguments,
        shapes.SessionOut,
        _answer_question,
    ),
    Tool(
        "answer_permission",
        "Answer a permission request",
        "Allow or reject what an agent wants to do. Allow nothing that your user would not.",
        shapes.PermissionArguments,
        shapes.SessionOut,
        _answer_permission,
        ends_something=True,
    ),
    Tool(
        "stop_session",
        "Stop a session",
        "Stop what a session does now. It can be continued with another prompt.",
        shapes.StopArguments,
        shapes.SessionOut,
        _stop,
        ends_something=True,
    ),
    Tool(
        "search_transcripts",
        "Search transcripts",
        "Find what people and agents have said in the sessions of the team.",
        shapes.SearchArguments,
        shapes.FoundsOut,
        _search,
        scope=Scope.READ,
    ),
)
