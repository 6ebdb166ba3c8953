"""Resources of MCP servers in a turn: agents list and read them where a server has any."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from pydantic import Field

from opencode_web.lib.db import in_db
from opencode_web.lib.json import JsonObject, JsonValue
from opencode_web.lib.text import clean_json, printable_text
from sessions.config.programs import McpConfig
from sessions.mcp.servers import (
    LIST_RESOURCES,
    LIST_TEMPLATES,
    MAX_URI_CHARS,
    READ_RESOURCE,
    resource_pattern,
)
from sessions.models import Project
from sessions.runner.offers.mcp_mentions import forget_update, mentioned_uris
from sessions.runner.offers.mcp_reach import McpTarget, call_mcp
from tools.base import Params, Tool, ToolError, ToolResult
from tools.context import PermissionAsk, ToolContext
from tools.mcp.client import Offer, list_resources, read_resource
from tools.mcp.content import read_contents
from tools.redaction import Redactor

_MAX_CHARS = {"name": 200, "description": 500, "mimeType": 100}


class ListParams(Params):
    """Whose resources are wanted."""

    server: str | None = Field(
        default=None, description="Name of one MCP server. Without it all that have some are asked."
    )


class ReadParams(Params):
    """Which resource is wanted."""

    server: str = Field(description="Name of the MCP server that has it.")
    uri: str = Field(
        min_length=1,
        max_length=MAX_URI_CHARS,
        description="Its address, as the server lists it or as one of its templates is filled in.",
    )


@dataclass(frozen=True)
class Readable:
    """The servers of a project that have resources, as they are for one person.

    `running` are those that can be asked, whether they are known to have any or not.
    """

    project: Project
    servers: Mapping[str, McpConfig]
    running: Mapping[str, McpConfig]
    user_id: int | None

    def target(self, name: str, context: ToolContext, *, has_some: bool = True) -> McpTarget:
        """Raises: ToolError where it is none of these."""
        servers = self.servers if has_some else self.running
        if name not in servers:
            known = ", ".join(sorted(self.servers)) or "none"
            raise ToolError(f"No MCP server {name!r} has resources. These have: {known}.")
        where = context.worktree, context.sandbox
        server, session_id = servers[name], context.session_id
        return McpTarget(self.project, name, server, *where, self.user_id, session_id)


def resource_tools(readable: Readable) -> list[Tool[Any]]:  # Any: see registry
    """Returns: what lists the resources of servers, if any have some, and reads one.

    A person may mention one before it is known that there are any.
    """
    if not readable.running:
        return []
    listing = partial(_list, readable)
    tools: list[Tool[Any]] = [
        Tool(
            LIST_RESOURCES,
            ListParams,
            partial(listing, templates=False),
            "read",
            "List what the project's MCP servers offer for reading (documents, records, "
            "schemas …): server, address, name, description and type of each.",
        ),
        Tool(
            LIST_TEMPLATES,
            ListParams,
            partial(listing, templates=True),
            "read",
            "List the templates by which the project's MCP servers form addresses of resources, "
            f"such as orders://{{number}}. Fill one in for {READ_RESOURCE}.",
        ),
        Tool(
            READ_RESOURCE,
            ReadParams,
            partial(_read, readable),
            "read",
            f"Read a resource of an MCP server. {LIST_RESOURCES} and {LIST_TEMPLATES} say which "
            "there are.",
        ),
    ]
    return tools if readable.servers else tools[-1:]


async def _list(
    readable: Readable, params: ListParams, context: ToolContext, *, templates: bool
) -> ToolResult:
    wanted = [params.server] if params.server else sorted(readable.servers)
    targets = [readable.target(name, context) for name in wanted]
    names = [target.name for target in targets]
    patterns = tuple(f"mcp:{name}:*" for name in names)
    shown: JsonObject = {"servers": list(names)}
    await context.ask(PermissionAsk("read", patterns, always=patterns, metadata=shown))
    found = await asyncio.gather(*(_listed(target, templates=templates) for target in targets))
    problems = [one for one in found if isinstance(one, ToolError)]
    if len(problems) == len(names):
        raise ToolError(" ".join(problem.message for problem in problems))
    items = [item for one in found if not isinstance(one, ToolError) for item in one]
    answer: JsonObject = {"resourceTemplates" if templates else "resources": items}
    if problems:
        answer["problems"] = [problem.message for problem in problems]
    return ToolResult(title="", output=json.dumps(answer, ensure_ascii=False, indent=2))


async def _listed(target: McpTarget, *, templates: bool) -> list[JsonValue] | ToolError:
    """A server that fails takes nothing from what others say."""
    timeout_s = target.server.timeout_s
    try:
        found, redactor = await call_mcp(
            target,
            lambda place, _: list_resources(place, templates=templates, timeout_s=timeout_s),
        )
    except ToolError as exc:
        return ToolError(f"{target.name}: {exc.message}")
    shown = [clean_json(redactor.json(one)) for one in found]
    return [{"server": target.name, **one} for one in shown if isinstance(one, dict)]


async def _read(readable: Readable, params: ReadParams, context: ToolContext) -> ToolResult:
    target = readable.target(params.server, context, has_some=False)
    shown: JsonObject = {"server": target.name, "uri": params.uri}
    pattern = resource_pattern(shown)
    # An address may hold what a pattern takes for anything.
    always = (pattern,) if "*" not in params.uri else ()
    await context.ask(PermissionAsk("read", (pattern,), always=always, metadata=shown))
    timeout_s = target.server.timeout_s
    mentioned = await in_db(mentioned_uris, context.session_id, target.name)
    forget_update(context.session_id, target.name, params.uri)
    result, redactor = await call_mcp(
        target,
        lambda place, _: read_resource(
            place, params.uri, timeout_s=timeout_s, subscribes=params.uri in mentioned
        ),
    )
    return await asyncio.to_thread(read_shown, result, redactor)


def read_shown(result: JsonObject, redactor: Redactor) -> ToolResult:
    """`read_contents` without the secrets that the server was given."""
    shown = redactor.json(result)
    return read_contents(shown)


def shown_resources(offer: Offer, redactor: Redactor) -> tuple[JsonObject, ...] | None:
    """Returns: the resources without the secrets that the server was given."""
    if offer.resources is None:
        return None
    shown = (redactor.json(one) for one in offer.resources)
    return tuple(one for one in shown if isinstance(one, dict))


def check_resources(offer: Offer) -> list[JsonValue] | None:
    """Returns: the resources as clients are told of them; those without an address are not."""
    if offer.resources is None:
        return None
    return [_checked(one) for one in offer.resources if 0 < len(_uri(one)) <= MAX_URI_CHARS]


def _checked(resource: JsonObject) -> JsonObject:
    uri = _uri(resource)
    texts: JsonObject = {
        key: printable_text(value)[:most]
        for key, most in _MAX_CHARS.items()
        if isinstance(value := resource.get(key), str)
    }
    return {"name": uri[: _MAX_CHARS["name"]], **texts, "uri": uri}


def _uri(resource: JsonObject) -> str:
    uri = resource.get("uri")
    return printable_text(uri) if isinstance(uri, str) else ""
