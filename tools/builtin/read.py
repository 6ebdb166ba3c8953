from __future__ import annotations

import asyncio
import base64
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import BinaryIO

from pydantic import Field

from opencode_web.lib.json import JsonObject, JsonValue
from opencode_web.lib.marks import defuse
from tools.base import Attachment, Params, Tool, ToolError, ToolResult, load_description
from tools.context import InstructionText, PermissionAsk, ToolContext
from tools.files.file_change import MAX_BYTES, digest_of
from tools.files.file_kind import SAMPLE_BYTES, attachment_mime, is_binary
from tools.files.name_order import name_key
from tools.files.text_slice import TextSlice, read_slice
from tools.paths import Located, locate, open_file, open_folder
from tools.redaction import Redactor

_DEFAULT_LIMIT = 2_000
_PREVIEW_LINES = 20
_FRAMES = ("instructions",)
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


@dataclass(frozen=True)
class _Wanted:
    """The lines or entries to show. `redactor` is for what is cut: half a secret is not found."""

    first: int
    limit: int
    max_bytes: int
    redactor: Redactor


async def run(params: ReadParams, context: ToolContext) -> ToolResult:
    """Show a slice of a text file or a folder, or attach an image or a PDF."""
    located = locate(context, params.file_path, managed=True)
    await context.ask(PermissionAsk("read", located.patterns))
    first = max(params.offset or 1, 1)
    limit = min(_DEFAULT_LIMIT, context.limits.max_lines) if params.limit is None else params.limit
    wanted = _Wanted(first, limit, context.limits.max_bytes, context.sandbox.redactor)
    result, digest = await asyncio.to_thread(_read, located, wanted)
    if digest is not None and not located.managed:
        await context.files.mark_seen(located.key, digest)
        if context.language_servers is not None:
            # Somebody who reads a file asks about it, or changes it, soon.
            context.language_servers.warm(located)
    if located.managed or result.attachments or _is_folder(result):
        return result
    return _with_instructions(result, await context.nested_instructions(located.path))


def _is_folder(result: ToolResult) -> bool:
    display = result.metadata.get("display")
    return isinstance(display, dict) and display["type"] == "directory"


def _with_instructions(result: ToolResult, found: Sequence[InstructionText]) -> ToolResult:
    if not found:
        return result
    output = "\n\n".join([result.output, *(one.text for one in found)])
    loaded: list[JsonValue] = [str(one.path) for one in found]
    return replace(result, output=output, metadata={**result.metadata, "loaded": loaded})


def _read(located: Located, wanted: _Wanted) -> tuple[ToolResult, str | None]:
    """Returns: also the digest of a file of which a tool may change a part."""
    try:
        return _read_file(located, wanted)
    except IsADirectoryError:
        return _read_folder(located, wanted.first, wanted.limit), None
    except (FileNotFoundError, NotADirectoryError) as exc:
        if located.managed:
            raise ToolError(
                f"{located.path} no longer exists: full outputs are kept for 7 days. Run the call "
                "that created it again."
            ) from exc
        raise ToolError(f"File not found: {located.path}{_suggest(located)}") from exc


def _read_file(located: Located, wanted: _Wanted) -> tuple[ToolResult, str | None]:
    with open_file(located) as fd, os.fdopen(os.dup(fd), "rb") as file:
        # Before it is shown: what changes meanwhile is then known to be unseen.
        digest = _digest(file)
        sample = file.read(SAMPLE_BYTES)
        if mime := attachment_mime(sample):
            rest = file.read(_MAX_ATTACHMENT_BYTES)
            return _attach(located, mime, sample + rest), digest
        if is_binary(located.path.name, sample):
            raise ToolError(
                f"Cannot read binary file: {located.path}. "
                "Use a program in the shell that understands it."
            )
        file.seek(0)
        part = read_slice(
            file,
            first=wanted.first,
            limit=wanted.limit,
            max_bytes=wanted.max_bytes,
            redactor=wanted.redactor,
        )
    if part.total is not None and wanted.first > max(part.total, 1):
        raise ToolError(f"Offset {wanted.first} is out of range for this file ({part.total} lines)")
    return _text_result(located, part, wanted.max_bytes), digest


def _digest(file: BinaryIO) -> str | None:
    data = file.read(MAX_BYTES + 1)
    file.seek(0)
    return digest_of(data) if len(data) <= MAX_BYTES else None


def _text_result(located: Located, part: TextSlice, max_bytes: int) -> ToolResult:
    shown = "\n".join(f"{part.first + index}: {line}" for index, line in enumerate(part.lines))
    # Instructions that the server adds may stand below.
    shown = defuse(shown, _FRAMES)
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
            f"{shown}\n\n{_footer(part, max_bytes)}\n</content>"
        ),
        metadata=_metadata(list(part.lines), truncated=part.truncated, display=display),
    )


def _footer(part: TextSlice, max_bytes: int) -> str:
    onward = f"Use offset={part.last + 1} to continue."
    if part.capped:
        lines = f"{part.first}-{part.last}"
        return f"(Output capped at {max_bytes / 1024:g} KB. Showing lines {lines}. {onward})"
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
            + "\n".join(shown)
            + f"\n\n{footer}\n</entries>"
        ),
        metadata=_metadata(shown, truncated=truncated, display=display),
    )


def _entries(located: Located) -> list[str]:
    with open_folder(located) as fd, os.scandir(fd) as scan:
        names = [entry.name + ("/" if _leads_on(located, entry) else "") for entry in scan]
    return sorted(names, key=name_key)


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
