"""The tools, and how a call of one is carried out. Authorises nothing: tools ask themselves."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from opencode_web.lib.json import JsonObject, JsonValue
from opencode_web.lib.telemetry import operation
from tools.base import Tool, ToolResult
from tools.builtin import bash, edit, glob, grep, invalid, question, read, task, write
from tools.builtin import list as list_folder
from tools.context import Parked, ToolContext
from tools.errors import ToolError
from tools.output_store import keep_output
from tools.permissions import Ruleset, is_hidden
from tools.truncate import MAX_BYTES, MAX_LINES, keep_head

logger = logging.getLogger(__name__)

# Any: tools differ in their parameter models, and a mapping has one value type.
_TOOLS: Mapping[str, Tool[Any]] = MappingProxyType(
    {
        tool.name: tool
        for tool in (
            bash.TOOL,
            edit.TOOL,
            glob.TOOL,
            grep.TOOL,
            invalid.TOOL,
            list_folder.TOOL,
            question.TOOL,
            read.TOOL,
            task.TOOL,
            write.TOOL,
        )
    }
)


def all_tools() -> Mapping[str, Tool[Any]]:  # Any: see _TOOLS
    """Get every tool by name, `invalid` included, which is never offered."""
    return _TOOLS


def offered_tools(ruleset: Ruleset) -> list[Tool[Any]]:  # Any: see _TOOLS
    """List what a model is offered, by name, without what the rules deny wholly."""
    return [
        tool
        for name, tool in sorted(_TOOLS.items())
        if tool is not invalid.TOOL and not is_hidden(tool.permission, ruleset)
    ]


def find_tool(name: str) -> Tool[Any] | None:  # Any: see _TOOLS
    """Find the tool that a model called. Models write Read and BASH, so case is forgiven."""
    return _TOOLS.get(name) or _TOOLS.get(name.lower())


def repair_unknown(name: str, *, ruleset: Ruleset) -> JsonObject:
    """Build the arguments of `invalid` for a call of a tool that is not there."""
    names = ", ".join(tool.name for tool in offered_tools(ruleset)) or "none"
    return {"tool": name, "error": f"There is no tool {name!r}. Available tools: {names}."}


def repair_unreadable(name: str, *, raw: str, problem: str) -> JsonObject:
    """Build the arguments of `invalid` for a call whose arguments are not a JSON object."""
    shown = keep_head(raw, max_lines=20, max_bytes=2_000).text
    return {
        "tool": name,
        "error": f"The arguments for {name} are not a JSON object: {problem}. They were: {shown}",
    }


async def execute(
    tool: Tool[Any],  # Any: see _TOOLS
    arguments: JsonObject,
    context: ToolContext,
) -> ToolResult:
    """Parse, run, and bound the output of one call.

    Raises: ToolError for the model; Parked and asyncio.CancelledError pass through; nothing else.
    """
    session, call_id = context.session_id, context.call_id
    with operation("tool", name=tool.name, session=session, call=call_id) as call:
        try:
            result = await tool.run(tool.parse(arguments), context)
            return await asyncio.to_thread(_settle, result, context)
        except Parked:
            call.outcome = "parked"
            raise
        except ToolError:
            call.outcome = "error"
            raise
        except OSError as exc:
            call.outcome = "error"
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


def _settle(result: ToolResult, context: ToolContext) -> ToolResult:
    clean = replace(
        result,
        title=_storable(result.title),
        output=_storable(result.output),
        metadata={_storable(key): _storable_json(value) for key, value in result.metadata.items()},
    )
    # A tool that says `truncated` has bounded its text itself and adds a few lines of its own to
    # it.
    slack = 2 if "truncated" in clean.metadata else 1
    kept = keep_head(clean.output, max_lines=slack * MAX_LINES, max_bytes=slack * MAX_BYTES)
    if not kept.truncated:
        return replace(clean, metadata={"truncated": False, **clean.metadata})
    path = keep_output(context.output_dir, clean.output)
    hint = (
        f"The whole output is in {path}. Search it with grep, or read it with offset and limit."
        if path
        else "The whole output could not be kept. Run a narrower call to see the rest."
    )
    metadata: JsonObject = {**clean.metadata, "truncated": True}
    if path:
        metadata["outputPath"] = str(path)
    output = f"{kept.text.rstrip()}\n\n...{kept.left_out} truncated...\n\n{hint}"
    return replace(clean, output=output, metadata=metadata)


def _storable(text: str) -> str:
    # Neither JSON columns nor UTF-8 streams take these, and file names and outputs are hostile.
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")


def _storable_json(value: JsonValue) -> JsonValue:
    match value:
        case str():
            return _storable(value)
        case list():
            return [_storable_json(item) for item in value]
        case dict():
            return {_storable(key): _storable_json(item) for key, item in value.items()}
        case _:
            return value
