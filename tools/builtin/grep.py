from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import os
from dataclasses import dataclass

from pydantic import Field

from opencode_web.lib.json import JsonObject
from tools.base import Params, Tool, ToolError, ToolResult, load_description
from tools.context import PermissionAsk, ToolContext
from tools.folders import is_folder
from tools.paths import Located, locate, open_file
from tools.ripgrep import content_arguments, path_parts, search_lines
from tools.truncate import MAX_BYTES

_LIMIT = 100
_MAX_LINE_CHARS = 2_000


class GrepParams(Params):
    """A regular expression, and where to look for it."""

    pattern: str = Field(description="Regular expression to search for in the content of files.")
    path: str | None = Field(None, description="Folder or file; the project folder by default.")
    include: str | None = Field(None, description="Only files matching this glob, such as `*.py`.")


@dataclass(frozen=True)
class _Match:
    file: Located
    line: int
    offset: int
    raw: bytes

    @property
    def text(self) -> str:
        text = self.raw.decode("utf-8", "replace").rstrip("\r\n")
        return text if len(text) <= _MAX_LINE_CHARS else f"{text[:_MAX_LINE_CHARS]}..."


async def run(params: GrepParams, context: ToolContext) -> ToolResult:
    """Search the content of files."""
    if not params.pattern:
        raise ToolError("pattern is required")
    located = locate(context, params.path or ".", managed=True)
    metadata: JsonObject = {"pattern": params.pattern}
    metadata |= {key: value for key, value in (("path", params.path),) if value}
    metadata |= {key: value for key, value in (("include", params.include),) if value}
    await context.ask(PermissionAsk("grep", (params.pattern,), metadata=metadata))
    found, more = await _search(params, located)
    return _result(params.pattern, found, more=more)


async def _search(params: GrepParams, located: Located) -> tuple[list[_Match], bool]:
    is_dir = await asyncio.to_thread(is_folder, located)
    if is_dir is None:
        raise ToolError(f"Path not found: {located.path}")
    # ripgrep starts in a folder; of a file it gets the name only.
    folder = located if is_dir else _parent(located)
    target = "." if is_dir else f"./{located.real.name}"
    arguments = [*content_arguments(params.pattern, include=params.include), "--", target]
    found: list[_Match] = []
    size = 0
    records = search_lines(folder, arguments)
    async with contextlib.aclosing(records):
        async for record in records:
            match = _parse(folder, record)
            if match is None or not await asyncio.to_thread(_is_true, match):
                continue
            size += len(match.text) + len(str(match.file.path))
            if len(found) == _LIMIT or size > MAX_BYTES:
                return found, True
            found.append(match)
    return found, False


def _parent(located: Located) -> Located:
    relative = located.relative.rpartition("/")[0]
    return Located(
        located.root, located.path.parent, located.real.parent, relative, managed=located.managed
    )


def _parse(folder: Located, record: bytes) -> _Match | None:
    event = json.loads(record)
    if event.get("type") != "match":
        return None
    data = event["data"]
    return _Match(
        file=folder.child(*path_parts(os.fsdecode(_bytes(data["path"])))),
        line=data["line_number"],
        offset=data["absolute_offset"],
        raw=_bytes(data["lines"]),
    )


def _bytes(value: dict[str, str]) -> bytes:
    return base64.b64decode(value["bytes"]) if "bytes" in value else value["text"].encode()


def _is_true(match: _Match) -> bool:
    """Read the line again without following links: ripgrep may have been led out by one."""
    try:
        with open_file(match.file) as fd:
            return os.pread(fd, len(match.raw), match.offset) == match.raw
    except (OSError, ToolError):
        return False


def _result(pattern: str, found: list[_Match], *, more: bool) -> ToolResult:
    if not found:
        return ToolResult(pattern, "No files found", {"matches": 0, "truncated": False})
    lines = [f"Found {len(found)} matches{' (more matches available)' if more else ''}"]
    current = None
    for match in found:
        if match.file.path != current:
            lines += [""] if current is not None else []
            current = match.file.path
            lines.append(f"{current}:")
        lines.append(f"  Line {match.line}: {match.text}")
    if more:
        lines += ["", "(Results truncated. Consider using a more specific path or pattern.)"]
    return ToolResult(pattern, "\n".join(lines), {"matches": len(found), "truncated": more})


TOOL = Tool("grep", GrepParams, run, "grep", load_description(__file__))
