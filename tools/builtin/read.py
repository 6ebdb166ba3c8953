from __future__ import annotations

import asyncio
import base64
import os

from pydantic import Field

from opencode_web.lib.json import JsonObject
from tools.base import Attachment, Params, Tool, ToolError, ToolResult, load_description
from tools.context import PermissionAsk, ToolContext
from tools.file_kind import SAMPLE_BYTES, attachment_mime, is_binary
from tools.paths import Located, locate, open_file, open_folder
from tools.text_slice import TextSlice, read_slice

_DEFAULT_LIMIT = 2_000
_PREVIEW_LINES = 20
_SUGGESTIONS = 3
# Images and PDFs travel as base64 in the message; providers refuse larger ones anyway.
_MAX_ATTACHMENT_BYTES = 10 * 1024 * 1024


class ReadParams(Params):
    """A file or folder, and where to start in it."""

    file_path: str = Field(
        alias="filePath",
        description="Path of the file or folder, absolute or relative to the project.",
    )
    offset: int | None = Field(
        None, ge=0, description="First line or entry to show, counted from 1."
    )
    limit: int | None = Field(None, ge=0, description="How many lines or entries, 2000 by default.")


async def run(params: ReadParams, context: ToolContext) -> ToolResult:
    """Show a slice of a text file or a folder, or attach an image or a PDF."""
    located = locate(context, params.file_path, managed=True)
    await context.ask(PermissionAsk("read", located.patterns))
    first = max(params.offset or 1, 1)
    limit = _DEFAULT_LIMIT if params.limit is None else params.limit
    return await asyncio.to_thread(_read, located, first, limit)


def _read(located: Located, first: int, limit: int) -> ToolResult:
    try:
        return _read_file(located, first, limit)
    except IsADirectoryError:
        return _read_folder(located, first, limit)
    except (FileNotFoundError, NotADirectoryError) as exc:
        raise ToolError(f"File not found: {located.path}{_suggest(located)}") from exc


def _read_file(located: Located, first: int, limit: int) -> ToolResult:
    with open_file(located) as fd, os.fdopen(os.dup(fd), "rb") as file:
        sample = file.read(SAMPLE_BYTES)
        if mime := attachment_mime(sample):
            rest = file.read(_MAX_ATTACHMENT_BYTES)
            return _attach(located, mime, sample + rest)
        if is_binary(located.path.name, sample):
            raise ToolError(
                f"Cannot read binary file: {located.path}. "
                "Use a program in the shell that understands it."
            )
        file.seek(0)
        part = read_slice(file, first=first, limit=limit)
    if part.total is not None and first > max(part.total, 1):
        raise ToolError(f"Offset {first} is out of range for this file ({part.total} lines)")
    return _text_result(located, part)


def _text_result(located: Located, part: TextSlice) -> ToolResult:
    shown = "\n".join(f"{part.first + index}: {line}" for index, line in enumerate(part.lines))
    display: JsonObject = {
        "type": "file",
        "path": str(located.path),
        "text": "\n".join(part.lines),
        "lineStart": part.first,
        "lineEnd": part.last,
        "totalLines": part.total if part.total is not None else part.last,
        "truncated": part.truncated,
    }
    return ToolResult(
        title=located.title,
        output=(
            f"<path>{located.path}</path>\n<type>file</type>\n<content>\n"
            f"{shown}\n\n{_footer(part)}\n</content>"
        ),
        metadata=_metadata(list(part.lines), truncated=part.truncated, display=display),
    )


def _footer(part: TextSlice) -> str:
    onward = f"Use offset={part.last + 1} to continue."
    if part.capped:
        return f"(Output capped at 50 KB. Showing lines {part.first}-{part.last}. {onward})"
    if part.total is None:
        return f"(Showing lines {part.first}-{part.last} of a very long file. {onward})"
    if part.truncated:
        return f"(Showing lines {part.first}-{part.last} of {part.total}. {onward})"
    return f"(End of file - total {part.total} lines)"


def _attach(located: Located, mime: str, data: bytes) -> ToolResult:
    if len(data) > _MAX_ATTACHMENT_BYTES:
        raise ToolError(
            f"{located.path} is too large to be shown: more than {_MAX_ATTACHMENT_BYTES} bytes."
        )
    kind = "PDF" if mime == "application/pdf" else "Image"
    message = f"{kind} read successfully"
    url = f"data:{mime};base64,{base64.b64encode(data).decode('ascii')}"
    return ToolResult(
        title=located.title,
        output=message,
        metadata={"preview": message, "truncated": False, "loaded": []},
        attachments=(Attachment(mime, url, located.path.name),),
    )


def _read_folder(located: Located, first: int, limit: int) -> ToolResult:
    entries = _entries(located)
    shown = entries[first - 1 : first - 1 + limit]
    truncated = first - 1 + len(shown) < len(entries)
    footer = (
        f"(Showing {len(shown)} of {len(entries)} entries. "
        f"Use 'offset' parameter to read beyond entry {first + len(shown)})"
        if truncated
        else f"({len(entries)} entries)"
    )
    display: JsonObject = {
        "type": "directory",
        "path": str(located.path),
        "entries": [*shown],
        "offset": first,
        "totalEntries": len(entries),
        "truncated": truncated,
    }
    return ToolResult(
        title=located.title,
        output=(
            f"<path>{located.path}</path>\n<type>directory</type>\n<entries>\n"
            + "".join(f"{entry}\n" for entry in shown)
            + f"\n{footer}\n</entries>"
        ),
        metadata=_metadata(shown, truncated=truncated, display=display),
    )


def _entries(located: Located) -> list[str]:
    with open_folder(located) as fd, os.scandir(fd) as scan:
        names = [entry.name + ("/" if _leads_on(located, entry) else "") for entry in scan]
    return sorted(names, key=lambda name: (name.casefold(), name))


def _leads_on(located: Located, entry: os.DirEntry[str]) -> bool:
    if not entry.is_symlink():
        return entry.is_dir(follow_symlinks=False)
    target = os.path.realpath(located.real / entry.name)
    # Whether a folder outside exists is nobody's business.
    return target.startswith(f"{located.root}{os.sep}") and os.path.isdir(target)  # noqa: PTH112


def _metadata(lines: list[str], *, truncated: bool, display: JsonObject) -> JsonObject:
    return {
        "preview": "\n".join(lines[:_PREVIEW_LINES]),
        "truncated": truncated,
        "loaded": [],
        "display": display,
    }


def _suggest(located: Located) -> str:
    if not located.parts:
        return ""
    wanted = located.real.name.lower()
    parent = Located(located.root, located.path.parent, located.real.parent, "")
    try:
        with open_folder(parent) as fd:
            names = sorted(os.listdir(fd))  # noqa: PTH208  by descriptor
    except OSError:
        return ""
    similar = [name for name in names if wanted in name.lower() or name.lower() in wanted]
    paths = [str(located.path.parent / name) for name in similar[:_SUGGESTIONS]]
    return "\n\nDid you mean one of these?\n" + "\n".join(paths) if paths else ""


TOOL = Tool("read", ReadParams, run, "read", load_description(__file__))
