"""Custom tools in a turn: asked in the sandbox what they are, offered, and run there."""

from __future__ import annotations

import asyncio
import contextlib
import copy
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from django.db import transaction
from django.utils import timezone

from opencode_web.lib.db import in_db
from opencode_web.lib.errors import Invalid
from opencode_web.lib.json import JsonObject, JsonValue
from opencode_web.lib.text import clean_json, clean_text
from sessions.config.model import Config
from sessions.mcp.servers import RESERVED
from sessions.models import Session, ToolDescription
from sessions.output_format import read_format
from sessions.repository.brought import Brought, BroughtKind, read_brought
from sessions.repository.custom_tools import CustomTool, Described, described
from sessions.repository.packages import have_packages
from sessions.repository.trust import brought_by
from sessions.rules.in_force import Setup
from sessions.runner.log.steps import ToolDescriptions
from sessions.runner.offers.plugin_host import (
    describe_plugins,
    plugin_process,
    run_plugin_tool,
)
from sessions.sandboxes.build import sandbox_for
from tools.base import Params, Tool, ToolError, ToolResult
from tools.context import PermissionAsk, ToolContext
from tools.custom import run as custom
from tools.permissions.rules import is_hidden
from tools.registry import all_tools

MAX_TOOLS = 64
MAX_DESCRIPTION_CHARS = 8_000
MAX_PARAMETERS_BYTES = 32 * 1024
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")


class CustomParams(Params):
    """Arguments that fit the tool's own schema."""

    arguments: JsonObject


@dataclass(frozen=True)
class SchemaTool(Tool[CustomParams]):
    """A tool whose arguments have to fit a schema that somebody else wrote."""

    parameters: JsonObject = field(default_factory=dict)

    def schema(self) -> JsonObject:
        return copy.deepcopy(self.parameters)

    def parse(self, arguments: JsonObject) -> CustomParams:
        if problem := _problem(self.parameters, arguments):
            raise ToolError(
                f"The {self.name} tool was called with invalid arguments: {problem} "
                "Send the call again with arguments that fit the schema of the tool."
            )
        return CustomParams(arguments=arguments)


def _problem(parameters: JsonObject, arguments: JsonObject) -> str:
    wanted = read_format({"type": "json_schema", "schema": parameters})
    found = wanted.problem(arguments) if wanted else ""
    return found.removeprefix("answer").removeprefix(": ")


def custom_tools(
    session: Session, brought: Brought
) -> dict[str, Tool[Any]]:  # Any: see tools.registry
    """Returns: the custom tools where a session works, as the registry's are, by name."""
    found = described(session.project, brought) or Described()
    return {
        tool.name: SchemaTool(
            name=tool.name,
            params=CustomParams,
            run=partial(_run, tool, session, brought, found.off),
            permission=tool.name,
            description=tool.description,
            parameters=tool.parameters,
        )
        for tool in found.offered
    }


def offered_custom(session: Session, setup: Setup) -> list[Tool[Any]]:  # Any: as above
    """Returns: those that the rules do not hide."""
    tools = custom_tools(session, setup.config.brought).values()
    return [tool for tool in tools if not is_hidden(tool.permission, setup.ruleset)]


async def _run(
    tool: CustomTool,
    session: Session,
    brought: Brought,
    off: frozenset[str],
    params: CustomParams,
    context: ToolContext,
) -> ToolResult:
    shown: JsonObject = {"tool": tool.name, "input": params.arguments}
    await context.ask(PermissionAsk(tool.name, ("*",), metadata=shown))
    found = await asyncio.to_thread(read_brought, context.worktree)
    found = replace(found, is_trusted=brought.is_trusted, packages=brought.packages)
    if not found.run_digest == brought.run_digest == tool.digest:
        raise ToolError(
            f"The tool {tool.name} was not run: the tools and plugins in .opencode of this "
            "session's folder are others than those that were trusted. An admin of the team has to "
            "look."
        )
    about: JsonObject = {
        "sessionID": context.session_id,
        "messageID": context.message_id,
        "callID": context.call_id,
        "agent": context.agent,
        "directory": str(context.directory),
    }
    if tool.of_plugin:
        process = plugin_process(session, brought, context.sandbox).without(off)
        answer = await run_plugin_tool(process, tool.path, tool.export, params.arguments, about)
    else:
        answer = await custom.run(
            context.sandbox,
            context.worktree / tool.path,
            export=tool.export,
            arguments=params.arguments,
            context=about,
            cwd=context.directory,
        )
    title, metadata = answer.get("title"), answer.get("metadata")
    return ToolResult(
        title=title[:200] if isinstance(title, str) else "",
        output=str(answer["output"]),
        metadata=metadata if isinstance(metadata, dict) and _is_small(metadata) else {},
    )


def _is_small(value: JsonValue) -> bool:
    return len(json.dumps(value)) <= MAX_PARAMETERS_BYTES


def descriptions_wanted(session: Session, config: Config) -> ToolDescriptions | None:
    """Returns: what has to be done before trusted tools can be offered, if anything has."""
    if described(session.project, config.brought) is not None:
        return None
    if sandbox_for(session).refusal:
        return None  # where nothing can be run, nothing is offered
    return ToolDescriptions(session)


async def describe_tools(step: ToolDescriptions) -> None:
    """Ask every file of tools what it has, and keep that for all turns with the same files."""
    session = step.session
    folder = Path(session.worktree)
    brought = await in_db(brought_by, session.project, str(folder))
    if not brought.is_trusted and not brought.packages:
        return  # they have changed since somebody looked
    with contextlib.suppress(ToolError):  # it is said where they do not load
        await have_packages(session.project.team_id, brought.packages)
    sandbox = await in_db(sandbox_for, session)
    tools: list[JsonValue] = []
    problems: list[JsonValue] = []
    taken: set[str] = set()
    for file in brought.run(BroughtKind.TOOL):
        try:
            found = await custom.describe(sandbox, folder / file.path, cwd=folder)
        except ToolError as exc:
            problems.append({"path": file.path, "reason": clean_text(exc.message)[:500]})
            continue
        for tool, reason in _checked(found, file.name, taken):
            if reason:
                problems.append({"path": file.path, "reason": reason})
            else:
                tools.append({**tool, "path": file.path})
    plugins: list[JsonValue] = []
    if brought.runs_plugins:
        process = plugin_process(session, brought, sandbox)
        for one in await describe_plugins(process):
            plugins.append(one.to_json())
            problems += [{"path": one.path, "reason": reason} for reason in one.reasons]
            for tool, reason in _checked(list(one.tools), "", taken):
                if reason:
                    problems.append({"path": one.path, "reason": reason})
                else:
                    tools.append({**tool, "path": one.path, "of_plugin": True})
    # What a file did meanwhile counts for nothing: the digest is that of what was read before.
    described: JsonObject = {"tools": tools, "plugins": plugins, "problems": problems}
    await in_db(_store, session, brought.run_digest, described)


def _checked(
    found: list[JsonObject], stem: str, taken: set[str]
) -> Iterator[tuple[JsonObject, str]]:
    """Yields: each tool, and why it cannot be offered. One file has no more than all may have."""
    if len(found) > MAX_TOOLS:
        yield {}, f"It has more than {MAX_TOOLS} tools: the others are not offered."
    for one in found[:MAX_TOOLS]:
        export, parameters = str(one.get("export", "")), one.get("parameters")
        # A plugin names its tools itself.
        name = (f"{stem}_{export}" if stem else export) if export != "default" else stem
        tool: JsonObject = {
            "name": name,
            "export": export,
            "description": clean_text(str(one.get("description") or name))[:MAX_DESCRIPTION_CHARS],
            "parameters": clean_json(parameters) if isinstance(parameters, dict) else {},
        }
        reason = _refused(name, taken) or unusable(name, tool["parameters"])
        if not reason:
            taken.add(name)
        yield tool, reason


def _refused(name: str, taken: set[str]) -> str:
    if not _NAME.fullmatch(name):
        return f"{name[:80]!r} is no name of a tool: up to 64 letters, digits, - and _."
    if name in all_tools() or name in RESERVED:
        return f"There is a built-in tool {name}; this one is not offered."
    if name in taken:
        return f"There is another tool {name}; this one is not offered."
    if len(taken) >= MAX_TOOLS:
        return f"There are more than {MAX_TOOLS} tools."
    return ""


def unusable(name: str, parameters: JsonValue) -> str:
    """Returns: why parameters can be no schema of a tool, as a sentence; else nothing."""
    if not isinstance(parameters, dict) or not _is_small(parameters):
        return f"The parameters of {name} are larger than {MAX_PARAMETERS_BYTES // 1024} KiB."
    try:
        read_format({"type": "json_schema", "schema": parameters})
    except Invalid as exc:
        return f"The parameters of {name}: {exc.message.removeprefix('format.schema: ')}."
    return ""


@transaction.atomic
def _store(session: Session, digest: str, described: JsonObject) -> None:
    rows = ToolDescription.objects.filter(project=session.project_id)
    rows.exclude(digest=digest).delete()
    rows.update_or_create(
        project_id=session.project_id,
        digest=digest,
        defaults={**described, "late": {}, "described_at": timezone.now()},
    )
