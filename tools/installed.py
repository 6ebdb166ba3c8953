"""Tools of plugins that operators have installed beside the server: in process, under the rules.

The package is trusted; the arguments, which a model wrote, and the files of the session are not.
"""

from __future__ import annotations

import copy
import importlib
import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

from opencode_web.lib.json import JsonObject, read_json
from opencode_web.lib.plugins.calls import Late, call_limited
from opencode_web.lib.plugins.loading import Plugin, active_plugins
from opencode_web.lib.plugins.values import PluginTool, ToolCall, ToolFailure, ToolOutput
from tools.base import Params, Tool, ToolError, ToolResult
from tools.context import PermissionAsk, ToolContext
from tools.permissions.rules import Action, Rule, Ruleset

_MAX_PROBLEM_CHARS = 500
_MAX_TITLE_CHARS = 200


class InstalledParams(Params):
    """Arguments that fit the tool's own schema."""

    arguments: JsonObject


@dataclass(frozen=True)
class InstalledTool(Tool[InstalledParams]):
    """A tool of an installed plugin, as the registry has it."""

    own: PluginTool

    def schema(self) -> JsonObject:
        return copy.deepcopy(self.own.parameters)

    def parse(self, arguments: JsonObject) -> InstalledParams:
        problem = _checks().exceptions.best_match(_validator(self.own).iter_errors(arguments))
        if problem is not None:
            place = ".".join(map(str, problem.absolute_path)) or "arguments"
            raise ToolError(
                f"The {self.name} tool was called with invalid arguments: {place}: "
                f"{problem.message[:_MAX_PROBLEM_CHARS]}. Send the call again with arguments that "
                "fit the schema of the tool."
            )
        return InstalledParams(arguments=arguments)


def tools_of(
    plugins: Iterable[Plugin], taken: Collection[str]
) -> dict[str, Tool[Any]]:  # Any: see tools.registry
    """Returns: the tools by name. A plugin is given up that has a name which is `taken`, also by
    another or by itself, or a schema that is none."""
    tools: dict[str, Tool[Any]] = {}
    for plugin in plugins:
        if problem := _problem(plugin.tools, {*taken, *tools}):
            plugin.fail(problem)
        tools |= {tool.name: _to_tool(tool) for tool in plugin.tools}
    return tools


def asked_for_installed() -> Ruleset:
    """The defaults for these tools: each is asked for under its own name."""
    return tuple(
        Rule(tool.name, "*", Action.ASK) for plugin in active_plugins() for tool in plugin.tools
    )


def _problem(tools: Iterable[PluginTool], taken: set[str]) -> str:
    for tool in tools:
        if tool.name in taken:
            return f"There is another tool {tool.name}."
        taken.add(tool.name)
        try:
            _validator(tool).check_schema(tool.parameters)
        except _checks().SchemaError as exc:
            return f"The parameters of {tool.name} are no JSON schema: {exc.message}."
    return ""


def _to_tool(tool: PluginTool) -> InstalledTool:
    return InstalledTool(
        name=tool.name,
        params=InstalledParams,
        run=partial(_run, tool),
        permission=tool.name,
        description=tool.description,
        own=tool,
    )


async def _run(tool: PluginTool, params: InstalledParams, context: ToolContext) -> ToolResult:
    given = params.arguments
    shown: JsonObject = {"tool": tool.name, "input": given}
    await context.ask(PermissionAsk(tool.name, ("*",), metadata=shown))
    call = ToolCall(
        **vars(context.place),
        tool=tool.name,
        session_id=context.session_id,
        message_id=context.message_id,
        call_id=context.call_id,
        agent=context.agent,
    )
    try:
        found = await call_limited(partial(tool.run, call, copy.deepcopy(given)), tool.limit_s)
    except ToolFailure as exc:
        raise ToolError(str(exc)) from exc
    except Late as exc:
        raise ToolError(
            f"The {tool.name} tool took longer than {tool.limit_s:g} seconds and was given up."
        ) from exc
    output = found if isinstance(found, ToolOutput) else ToolOutput(str(found))
    metadata = _plain(output.metadata)
    return ToolResult(output.title[:_MAX_TITLE_CHARS], output.text, metadata)


def _plain(metadata: JsonObject) -> JsonObject:
    """As it is stored: raises for what is no JSON, which is a fault of the tool."""
    plain = read_json(json.dumps(metadata))
    if not isinstance(plain, dict):
        raise TypeError("The metadata is no object.")
    return plain


def _validator(tool: PluginTool) -> Any:  # Any: jsonschema is imported by name
    return _checks().validators.validator_for(
        tool.parameters, default=_checks().Draft202012Validator
    )(tool.parameters)


def _checks() -> Any:  # Any: its import takes longer than most turns need
    return importlib.import_module("jsonschema")
