"""One of each hook. ACME_HOME names a folder with `tickets.json` and the texts of `rules/`."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from acme_opencode.models import PROVIDER
from opencode_web.plugin import (
    MenuEntry,
    PluginProvider,
    PluginTool,
    TerminalLocation,
    ToolCall,
    ToolFailure,
    ToolOutput,
    hookimpl,
)

HOME = Path(os.environ["ACME_HOME"])


def read_ticket(call: ToolCall, arguments: dict[str, Any]) -> ToolOutput:
    tickets = json.loads((HOME / "tickets.json").read_text())
    number = arguments["number"]
    if number not in tickets:
        raise ToolFailure(f"There is no ticket {number}.")
    return ToolOutput(tickets[number], title=f"Ticket {number}", metadata={"ticket": number})


@hookimpl
def tools() -> Sequence[PluginTool]:
    parameters = {
        "type": "object",
        "properties": {"number": {"type": "string", "description": "Such as ACME-1."}},
        "required": ["number"],
    }
    return [PluginTool("ticket", "Reads a ticket of ACME's tracker.", parameters, read_ticket)]


@hookimpl
def providers() -> Sequence[PluginProvider]:
    return [PROVIDER]


@hookimpl
def context_sources() -> Mapping[str, str]:
    return {path.stem: path.read_text() for path in (HOME / "rules").glob("*.md")}


@hookimpl
def terminal_environment(terminal: TerminalLocation) -> Mapping[str, str]:
    return {"ACME_USER": terminal.email}


@hookimpl
async def before_tool(call: ToolCall, arguments: dict[str, Any]) -> dict[str, Any] | None:
    if call.tool != "bash":
        return None
    command = arguments.get("command")
    if not isinstance(command, str):
        return None  # the tool says what is wrong with it
    if "--force" in command:
        raise ToolFailure("At ACME nobody forces a push.")
    return {**arguments, "command": f"export ACME=1; {command}"}


@hookimpl
def after_tool(call: ToolCall, output: ToolOutput) -> ToolOutput | None:
    if call.tool != "bash":
        return None
    return ToolOutput(output.text.replace("acme.internal", "[host]"), output.title)


@hookimpl
def menu_entries() -> Sequence[MenuEntry]:
    return [MenuEntry("tracker", "ACME tracker", "https://tracker.acme.example/", words="tickets")]
