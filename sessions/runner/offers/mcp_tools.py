"""Tools of MCP servers in a turn: asked for, offered, and run by their server."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from django.db import transaction
from django.utils import timezone

from opencode_web.lib.db import in_db
from opencode_web.lib.json import JsonObject, JsonValue
from opencode_web.lib.text import clean_json, printable_text
from sessions.config.model import Config
from sessions.config.programs import McpConfig
from sessions.events.live import publish_mcp_tools
from sessions.mcp.servers import (
    LIST_RESOURCES,
    NEEDS_AUTH,
    NEEDS_REGISTRATION,
    READ_RESOURCE,
    RESERVED,
    McpTool,
    digest_of,
    known_servers,
    running,
    stale_servers,
    tool_name,
    tools_of,
)
from sessions.models import McpServer, Project, Session
from sessions.rules.in_force import Setup
from sessions.runner.log.steps import McpListing
from sessions.runner.offers.custom_tools import (
    MAX_DESCRIPTION_CHARS,
    CustomParams,
    SchemaTool,
    unusable,
)
from sessions.runner.offers.mcp_caller import SessionCaller
from sessions.runner.offers.mcp_kept import listed, other_now
from sessions.runner.offers.mcp_prompts import check_prompts, shown_prompts
from sessions.runner.offers.mcp_reach import (
    REFUSES_HEADERS,
    McpTarget,
    call_mcp,
    require_accepted,
    with_mcp_session,
)
from sessions.runner.offers.mcp_resources import (
    Readable,
    check_resources,
    resource_tools,
    shown_resources,
)
from sessions.sandboxes.build import sandbox_for
from teams.models import User
from tools.base import Tool, ToolError, ToolResult
from tools.context import PermissionAsk, ToolContext
from tools.mcp.client import Offer, ask_for_tools, call_tool
from tools.mcp.content import read_result
from tools.mcp.exchange import Server, SignInNeeded
from tools.mcp.remote import oauth
from tools.mcp.sign_in import NeedsRegistration
from tools.permissions.rules import is_hidden
from tools.redaction import Redactor
from tools.registry import all_tools

MAX_NAME_CHARS = 64
MAX_INSTRUCTIONS_CHARS = 16_000
_MAX_PROBLEMS = 50


def mcp_tools(
    session: Session, servers: dict[str, McpConfig], user_id: int | None
) -> dict[str, Tool[Any]]:  # Any: see tools.registry
    """Returns: the tools of the servers of a session's project, for a turn of this person, by name.

    Of a server that waits for their sign-in there is one, which says so.
    """
    known = known_servers(session.project, servers, user_id)
    waiting = (row for row in known.values() if row.state == NEEDS_AUTH)
    tools = {
        tool.name: tool
        for row in waiting
        if (tool := _sign_in_tool(row)) is not None and servers[row.name].takes_own
    }
    tools |= {
        tool.name: SchemaTool(
            name=tool.name,
            params=CustomParams,
            run=partial(_run, session.project, tool, servers[tool.server], user_id),
            permission=tool.name,
            description=tool.description,
            parameters=tool.parameters,
        )
        for tool in tools_of(known)
    }
    readable = {row.name: servers[row.name] for row in known.values() if row.resources is not None}
    reading = resource_tools(Readable(session.project, readable, running(servers), user_id))
    return {**tools, **{tool.name: tool for tool in reading}}


def _sign_in_tool(row: McpServer) -> SchemaTool | None:
    name = tool_name(row.name, "sign_in")
    if len(name) > MAX_NAME_CHARS:
        return None

    async def run(_: CustomParams, __: ToolContext) -> ToolResult:
        raise ToolError(row.error)

    return SchemaTool(
        name=name,
        params=CustomParams,
        run=run,
        permission=name,
        description=(
            f"The MCP server {row.name} has tools for you once the person you work for has signed "
            "in to it. Call this where you would need them, and tell them what it answers."
        ),
        parameters=_parameters({}),
    )


def offered_mcp(
    session: Session, setup: Setup, user_id: int | None
) -> list[Tool[Any]]:  # Any: as above
    """Returns: those that the rules do not hide."""
    tools = mcp_tools(session, setup.config.mcp, user_id)
    if LIST_RESOURCES not in tools:
        tools.pop(READ_RESOURCE, None)
    return [tool for tool in tools.values() if not is_hidden(tool.permission, setup.ruleset)]


async def _run(
    project: Project,
    tool: McpTool,
    server: McpConfig,
    user_id: int | None,
    params: CustomParams,
    context: ToolContext,
) -> ToolResult:
    shown: JsonObject = {"server": tool.server, "tool": tool.remote, "input": params.arguments}
    where = context.worktree, context.sandbox
    target = McpTarget(project, tool.server, server, *where, user_id, context.session_id)
    # Nobody is asked for what would not be done. It is looked at again before it is started.
    await require_accepted(target)
    await context.ask(PermissionAsk(tool.name, ("*",), metadata=shown))
    has_asked = await context.has_asked_user()

    async def call(place: Server, redactor: Redactor) -> JsonObject:
        caller = SessionCaller(tool.server, context, redactor, has_asked)
        arguments = params.arguments
        return await call_tool(
            place, tool.remote, arguments, timeout_s=server.timeout_s, caller=caller
        )

    result, redactor = await call_mcp(target, call)
    return await asyncio.to_thread(_read, result, redactor)


def _read(result: JsonObject, redactor: Redactor) -> ToolResult:
    """The server has been given secrets, and may say them."""
    shown = redactor.json(result)
    try:
        return read_result(shown)
    except ToolError as exc:
        raise ToolError(redactor.text(exc.message)) from exc


def listing_wanted(session: Session, config: Config, user_id: int | None) -> McpListing | None:
    """Returns: what has to be done before tools of servers can be offered, if anything has."""
    if not config.mcp:
        return None
    known = running(config.mcp)
    stale, changed = stale_servers(session.project, config.mcp, user_id), other_now(session.pk)
    names = tuple(name for name in known if name in stale or name in changed)
    if names and sandbox_for(session).refusal:
        # Where nothing can be run, none is asked that is a program.
        names = tuple(name for name in names if config.mcp[name].is_remote)
    return McpListing(session, {name: known[name] for name in names}, user_id) if names else None


async def list_mcp_tools(step: McpListing) -> None:
    """Ask each server what it has, all at once, and keep that for a while."""
    session, servers = step.session, step.servers
    sandbox, folder = await in_db(sandbox_for, session), Path(session.worktree)
    targets = [
        McpTarget(session.project, name, server, folder, sandbox, step.user_id, session.pk)
        for name, server in servers.items()
    ]
    listed(session.pk, servers)
    answers = await asyncio.gather(*map(_ask, targets))
    # What they told meanwhile was about this.
    listed(session.pk, servers)
    for (name, server), answer in zip(servers.items(), answers, strict=True):
        await in_db(_store, step, name, server, answer)


@dataclass(frozen=True)
class _McpUnavailable:
    """Why nothing is offered. `state` is set when a person can fix it."""

    error: str
    state: str = ""


async def _ask(target: McpTarget) -> Offer | _McpUnavailable:
    timeout_s = target.server.timeout_s
    try:
        offer, redactor = await with_mcp_session(
            target, lambda place, _: ask_for_tools(place, timeout_s=timeout_s)
        )
    except SignInNeeded as exc:
        return await _wanting(target, exc.challenge)
    except ToolError as exc:
        return _McpUnavailable(printable_text(exc.message)[:1_000])
    shown = (redactor.json(tool) for tool in offer.tools)
    return replace(
        offer,
        tools=tuple(tool for tool in shown if isinstance(tool, dict)),
        prompts=shown_prompts(offer, redactor),
        resources=shown_resources(offer, redactor),
        problems=tuple(map(redactor.text, offer.problems)),
        instructions=redactor.text(offer.instructions),
    )


async def _wanting(target: McpTarget, challenge: str) -> _McpUnavailable:
    """Whether somebody can sign in to it, which takes a few more requests."""
    server = target.server
    if not server.signs_in:
        return _McpUnavailable(REFUSES_HEADERS)
    has_client = bool(server.oauth and server.oauth.client_id)
    try:
        async with asyncio.timeout(server.timeout_s):
            await (await oauth()).survey(
                server.url,
                challenge,
                has_client=has_client,
            )
    except NeedsRegistration as exc:
        return _McpUnavailable(exc.message, NEEDS_REGISTRATION)
    except (ToolError, TimeoutError) as exc:
        return _McpUnavailable(printable_text(f"It wants a sign-in. {exc}")[:1_000])
    return _McpUnavailable(target.wants_sign_in, NEEDS_AUTH)


@transaction.atomic
def _store(step: McpListing, name: str, server: McpConfig, answer: Offer | _McpUnavailable) -> None:
    project = step.session.project
    offer = Offer("", ()) if isinstance(answer, _McpUnavailable) else answer
    unavailable = answer if isinstance(answer, _McpUnavailable) else _McpUnavailable("")
    tools, problems = _checked(name, offer)
    prompts, others = check_prompts(name, offer)
    said = [*offer.problems, *others]
    resources = check_resources(offer)
    told = {"tools": tools, "prompts": prompts, "resources": resources, "error": unavailable.error}
    owner_id = step.user_id if server.takes_own else None
    person = None if owner_id is None else User.objects.get(pk=owner_id)
    rows = McpServer.objects.filter(project=project, user=person, name=name)
    if rows.values(*told).first() != told:
        transaction.on_commit(partial(publish_mcp_tools, project, name))
    McpServer.objects.update_or_create(
        project=project,
        user=person,
        name=name,
        defaults={
            "digest": digest_of(server),
            **told,
            "problems": [*problems, *(printable_text(one)[:500] for one in said)][:_MAX_PROBLEMS],
            "instructions": printable_text(offer.instructions)[:MAX_INSTRUCTIONS_CHARS],
            "state": unavailable.state,
            "asked_at": timezone.now(),
        },
    )


def _checked(server: str, offer: Offer) -> tuple[list[JsonValue], list[JsonValue]]:
    """Returns: the tools that can be offered, and why others are not, in sentences."""
    tools: list[JsonValue] = []
    problems: list[JsonValue] = []
    taken: set[str] = set()
    for one in offer.tools:
        remote = str(one.get("name", ""))
        name = tool_name(server, remote)
        parameters = _parameters(one.get("inputSchema"))
        if reason := _refused(name, remote, taken) or unusable(name, parameters):
            problems.append(printable_text(reason)[:500])
            continue
        taken.add(name)
        described = str(one.get("description") or remote)
        tools.append(
            {
                "name": name,
                "remote": remote,
                "description": printable_text(described)[:MAX_DESCRIPTION_CHARS],
                "parameters": parameters,
            }
        )
    return tools, problems


def _parameters(schema: JsonValue) -> JsonObject:
    given = clean_json(schema) if isinstance(schema, dict) else {}
    whole = given if isinstance(given, dict) else {}
    return {"properties": {}, **whole, "type": "object", "additionalProperties": False}


def _refused(name: str, remote: str, taken: set[str]) -> str:
    if not remote or printable_text(remote) != remote:
        return f"{name[:80]} has a name that cannot be kept; it is not offered."
    if len(name) > MAX_NAME_CHARS:
        return f"{name[:80]} is longer than {MAX_NAME_CHARS} characters; it is not offered."
    if name in all_tools() or name in RESERVED:
        return f"There is a built-in tool {name}; this one is not offered."
    if name in taken:
        return f"There is another tool {name}; this one is not offered."
    return ""
