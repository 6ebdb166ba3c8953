from __future__ import annotations

import asyncio
import json

from pydantic import Field

from opencode_web.lib.json import JsonValue
from opencode_web.lib.text import clean_json
from tools.base import Params, Tool, ToolError, ToolResult, load_description
from tools.context import PermissionAsk, ToolContext
from tools.lsp.client import Client
from tools.lsp.connection import ServerGone, ServerRefusal
from tools.lsp.operations import Operation, can, perform
from tools.lsp.positions import split_lines, to_units
from tools.paths import Located, locate, stat_located


class LspParams(Params):
    """A place in a file, and what to ask about it."""

    operation: Operation = Field(description="What to ask.")
    file_path: str = Field(
        alias="filePath", description="Path of the file, absolute or relative to the project."
    )
    line: int = Field(ge=1, description="Line, counted from 1 as the read tool shows it.")
    character: int = Field(ge=1, description="Character in the line, counted from 1.")
    query: str | None = Field(
        None, max_length=500, description="For workspaceSymbol: part of the names to find."
    )


async def run(params: LspParams, context: ToolContext) -> ToolResult:
    """Ask the language servers of a file about a place in it."""
    located = locate(context, params.file_path)
    # What a server says about a file shows what is in it.
    await context.confirm(PermissionAsk("read", located.patterns))
    await context.ask(PermissionAsk("lsp", ("*",), metadata={"operation": params.operation}))
    if await asyncio.to_thread(stat_located, located) is None:
        raise ToolError(f"File not found: {located.path}")
    if context.language_servers is None:
        raise ToolError("No LSP server available for this file type.")
    async with context.language_servers.clients(located) as opened:
        line, character = _place(opened.text, params)
        found = await _ask_all(opened.clients, params, located, line, character)
    where = f"{located.title}:{params.line}:{params.character}"
    title = f"{params.operation} {where}"
    output = _written(found) if found else f"No results found for {params.operation}"
    return ToolResult(title=title, output=output, metadata={"count": len(found)})


def _place(text: str, params: LspParams) -> tuple[int, int]:
    lines = split_lines(text)
    if params.line > len(lines):
        raise ToolError(f"The file has {len(lines)} lines; there is no line {params.line}.")
    return params.line - 1, to_units(lines[params.line - 1], params.character)


async def _ask_all(
    clients: list[Client], params: LspParams, located: Located, line: int, character: int
) -> list[JsonValue]:
    able = [client for client in clients if can(client, params.operation)]
    answers = await asyncio.gather(
        *(
            perform(
                client,
                params.operation,
                located.real,
                line=line,
                character=character,
                query=params.query or "",
            )
            for client in able
        ),
        return_exceptions=True,
    )
    found: list[JsonValue] = []
    problems: list[str] = []
    for answer in answers:
        match answer:
            case list():
                found.extend(answer)
            case TimeoutError():
                problems.append("it took too long. It may still be reading the project: try again")
            case ServerRefusal() | ServerGone():
                problems.append(str(answer))
            case BaseException():
                raise answer
    if problems and not found:
        raise ToolError(f"The language server could not answer: {'; '.join(problems)}.")
    return found


def _written(found: list[JsonValue]) -> str:
    return json.dumps(clean_json(found), indent=2, ensure_ascii=False)


TOOL = Tool("lsp", LspParams, run, "lsp", load_description(__file__))
