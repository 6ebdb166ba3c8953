"""Resources of MCP servers in a turn: agents list and read them where a server has any."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from functools import partial
from typing import Any

from pydantic import Field

from opencode_web.lib.json import JsonObject, JsonValue
from opencode_web.lib.text import clean_json, printable_text
from sessions.config.programs import McpConfig
from sessions.mcp.servers import LIST_RESOURCES, LIST_TEMPLATES, READ_RESOURCE
from sessions.models import Project
from sessions.runner.offers.mcp_reach import McpTarget, call_mcp
from tools.base import Params, Tool, ToolError, ToolResult
from tools.context import PermissionAsk, ToolContext
from tools.mcp.client import Offer, list_resources, read_resource
from tools.mcp.content import read_contents
from tools.redaction import Redactor

MAX_URI_CHARS = 2_000
_MAX_CHARS = {"name": 200, "description": 500, "mimeType": 100}
Servers = Mapping[str, McpConfig]


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


def resource_tools(project: Project, servers: Servers) -> list[Tool[Any]]:  # Any: see registry
    """Returns: what reads the resources of those servers of a project that have some, if any do."""
    if not servers:
        return []
    listing = partial(_list, project, servers)
    return [
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
            partial(_read, project, servers),
            "read",
            f"Read a resource of an MCP server. {LIST_RESOURCES} and {LIST_TEMPLATES} say which "
            "there are.",
        ),
    ]


async def _list(
    project: Project,
    servers: Servers,
    params: ListParams,
    context: ToolContext,
    *,
    templates: bool,
) -> ToolResult:
    names = [_known(servers, params.server)] if params.server else sorted(servers)
    patterns = tuple(f"mcp:{name}:*" for name in names)
    shown: JsonObject = {"servers": list(names)}
    await context.ask(PermissionAsk("read", patterns, always=patterns, metadata=shown))
    found = await asyncio.gather(
        *(_listed(_target(project, servers, name, context), templates=templates) for name in names)
    )
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


async def _read(
    project: Project, servers: Servers, params: ReadParams, context: ToolContext
) -> ToolResult:
    name = _known(servers, params.server)
    pattern = f"mcp:{name}:{params.uri}"
    # An address may hold what a pattern takes for anything.
    always = (pattern,) if "*" not in params.uri else ()
    shown: JsonObject = {"server": name, "uri": params.uri}
    await context.ask(PermissionAsk("read", (pattern,), always=always, metadata=shown))
    target = _target(project, servers, name, context)
    timeout_s = target.server.timeout_s
    result, redactor = await call_mcp(
        target, lambda place, _: read_resource(place, params.uri, timeout_s=timeout_s)
    )
    return await asyncio.to_thread(_read_contents, result, redactor)


def _read_contents(result: JsonObject, redactor: Redactor) -> ToolResult:
    shown = redactor.json(result)
    return read_contents(shown)


def _known(servers: Servers, name: str) -> str:
    if name not in servers:
        known = ", ".join(sorted(servers))
        raise ToolError(f"No MCP server {name!r} has resources. These have: {known}.")
    return name


def _target(project: Project, servers: Servers, name: str, context: ToolContext) -> McpTarget:
    return McpTarget(
        project, name, servers[name], context.worktree, context.sandbox, context.session_id
    )


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
