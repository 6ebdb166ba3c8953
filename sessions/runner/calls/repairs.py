"""Calls of an answer that cannot be made as they are: mended, or turned into ones of `invalid`.

That is done once, when the stream has ended: what was offered is known then, and a later change of
rules or settings cannot turn it around. A turn never ends because of such a call.
Source: behaviour facts 1.0.
"""

from __future__ import annotations

from collections.abc import Mapping

from opencode_web.lib.json import JsonObject
from sessions.events.parts import ToolPart, ToolPending
from sessions.runner.log.steps import ProviderTurn
from tools.repair import repair_unknown, repair_unreadable

INVALID = "invalid"


def repair_calls(turn: ProviderTurn, calls: list[ToolPart]) -> list[ToolPart]:
    """Returns: the calls of an answer, each of a tool that was offered to it or of `invalid`.

    Settled ones stay as they are, and so do all when none may be made.
    """
    if turn.no_calls:
        return calls
    # Models write Read and BASH.
    offered = {tool.name.lower(): tool.name for tool in turn.request.tools}
    offered |= {tool.name: tool.name for tool in turn.request.tools}
    return [_repaired(part, offered) for part in calls]


def invalid_call(part: ToolPart, arguments: JsonObject) -> ToolPart:
    """Returns: the call as one of `invalid`, which tells the model what is wrong."""
    return part.model_copy(update={"tool": INVALID, "state": ToolPending(input=arguments)})


def called_name(part: ToolPart) -> str:
    """Returns: the name that the model called, also when the call is one of `invalid` now."""
    named = part.state.input.get("tool") if part.tool == INVALID else None
    return named if isinstance(named, str) else part.tool


def _repaired(part: ToolPart, offered: Mapping[str, str]) -> ToolPart:
    if not isinstance(part.state, ToolPending):
        return part
    name = offered.get(part.tool) or offered.get(part.tool.lower())
    if name is None:
        return invalid_call(part, repair_unknown(part.tool, offered=set(offered.values())))
    if part.state.raw:
        return invalid_call(part, repair_unreadable(name, raw=part.state.raw))
    return part if name == part.tool else part.model_copy(update={"tool": name})
