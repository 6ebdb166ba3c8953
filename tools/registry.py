"""The tools, and how a call of one is carried out. Authorises nothing: tools ask themselves."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from opencode_web.lib.disk import is_disk_full
from opencode_web.lib.json import JsonObject
from opencode_web.lib.plugins.loading import Plugin, active_plugins
from opencode_web.lib.telemetry import operation
from tools.base import Tool, ToolResult
from tools.builtin import (
    bash,
    batch,
    codesearch,
    edit,
    glob,
    grep,
    invalid,
    lsp,
    multiedit,
    patch,
    plan,
    question,
    read,
    review,
    skill,
    task,
    todoread,
    todowrite,
    webfetch,
    websearch,
    write,
)
from tools.builtin import list as list_folder
from tools.context import Suspended, ToolContext
from tools.errors import DiskFull, ToolError
from tools.features import Features, unsuitable_for
from tools.installed import tools_of
from tools.permissions.rules import Ruleset, is_hidden
from tools.settlement import settle

logger = logging.getLogger(__name__)

_STANDS_FOR = (
    " Note: {} stands for a value in the file that you are not shown, so it cannot be part of the "
    "text to replace, of a patch or of the new text. Change only the lines around it and leave its "
    "line as it is. If the value itself has to change, ask the user to do it."
)

# Any: tools differ in their parameter models, and a mapping has one value type.
_TOOLS: Mapping[str, Tool[Any]] = MappingProxyType(
    {
        tool.name: tool
        for tool in (
            bash.TOOL,
            batch.TOOL,
            codesearch.TOOL,
            edit.TOOL,
            glob.TOOL,
            grep.TOOL,
            invalid.TOOL,
            list_folder.TOOL,
            lsp.TOOL,
            multiedit.TOOL,
            patch.TOOL,
            *plan.TOOLS,
            question.TOOL,
            read.TOOL,
            review.TOOL,
            skill.TOOL,
            task.TOOL,
            todoread.TOOL,
            todowrite.TOOL,
            webfetch.TOOL,
            websearch.TOOL,
            write.TOOL,
        )
    }
)


def all_tools() -> Mapping[str, Tool[Any]]:  # Any: see _TOOLS
    """Get every tool by name, those of installed plugins and `invalid` included, which is never
    offered."""
    plugins = active_plugins()
    return _with_installed(tuple(plugins)) if plugins else _TOOLS


@lru_cache(maxsize=1)
def _with_installed(
    plugins: tuple[Plugin, ...],
) -> Mapping[str, Tool[Any]]:  # Any: see _TOOLS
    return MappingProxyType({**tools_of(plugins, _TOOLS), **_TOOLS})


def offered_tools(
    ruleset: Ruleset, *, model_id: str, features: Features
) -> list[Tool[Any]]:  # Any: see _TOOLS
    """List what a model is offered, by name: the same list as long as nothing changes.

    Left out is what is not switched on, what is for other models, and what the rules deny wholly.
    `model_id` is the one that the provider knows.
    """
    unsuitable = unsuitable_for(model_id)
    return [
        tool
        for name, tool in sorted(all_tools().items())
        if tool is not invalid.TOOL
        and name not in unsuitable
        and features.has(name)
        and not is_hidden(tool.permission, ruleset)
    ]


def _about_marks(
    tool: Tool[Any],  # Any: see _TOOLS
    arguments: JsonObject,
    error: ToolError,
    context: ToolContext,
) -> str:
    """What a model has to know that wants to change a file by what it was shown of a key in it."""
    if tool.permission != "edit" or type(error) is not ToolError:
        return ""
    mark = context.sandbox.redactor.stands_in(json.dumps(arguments))
    return _STANDS_FOR.format(mark) if mark else ""


async def execute(
    tool: Tool[Any],  # Any: see _TOOLS
    arguments: JsonObject,
    context: ToolContext,
) -> ToolResult:
    """Parse, run, and bound the output of one call.

    Raises: ToolError for the model. Only Suspended and asyncio.CancelledError pass through.
    """
    session, call_id = context.session_id, context.call_id
    with operation("tool", name=tool.name, session=session, call=call_id) as call:
        try:
            result = await tool.run(tool.parse(arguments), context)
            return await asyncio.to_thread(settle, result, context)
        except Suspended:
            call.outcome = "parked"
            raise
        except ToolError as exc:
            call.outcome = "error"
            exc.message = context.sandbox.redactor.text(exc.message)
            exc.message += _about_marks(tool, arguments, exc, context)
            exc.args = (exc.message,)
            raise
        except OSError as exc:
            call.outcome = "error"
            if is_disk_full(exc):
                logger.warning("tool.disk_full tool=%s call=%s", tool.name, call_id, exc_info=exc)
                raise DiskFull from exc
            reason = exc.strerror or type(exc).__name__
            named = f": {exc.filename}" if isinstance(exc.filename, str) else ""
            raise ToolError(f"The {tool.name} tool failed: {reason}{named}.") from exc
        except Exception as exc:  # the edge of one tool call: our fault must not end the session
            call.outcome = "crashed"
            logger.exception("tool %s crashed, call %s", tool.name, call_id)
            raise ToolError(
                f"The {tool.name} tool failed because of a fault in the server; it was logged. "
                "Try another way."
            ) from exc
