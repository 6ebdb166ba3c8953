from __future__ import annotations

import asyncio

from pydantic import Field

from tools.base import Params, Tool, ToolError, ToolResult, load_description
from tools.context import PermissionAsk, ToolContext
from tools.diff import FileDiff, diff_file
from tools.paths import Located, locate, read_bytes, replace_file
from tools.text_file import decode_text, displayable, encode_text

# Files of this size are data, not something a model writes.
_MAX_BYTES = 10 * 1024 * 1024


class WriteParams(Params):
    """A file and all that is to be in it."""

    content: str = Field(description="The whole new content of the file.")
    file_path: str = Field(
        alias="filePath", description="Path of the file, absolute or relative to the project."
    )


async def run(params: WriteParams, context: ToolContext) -> ToolResult:
    """Create or replace a file."""
    located = locate(context, params.file_path)
    if len(params.content) > _MAX_BYTES:
        raise ToolError(f"The content is larger than the {_MAX_BYTES} bytes allowed.")
    old = await asyncio.to_thread(_present, located)
    diff = await asyncio.to_thread(_diff, located, old, params.content)
    await context.ask(
        PermissionAsk(
            "edit",
            located.patterns,
            metadata={"filepath": str(located.path), "diff": diff.shown},
        )
    )
    existed = await asyncio.to_thread(_write, located, params.content)
    return ToolResult(
        title=located.title,
        output="Wrote file successfully.",
        metadata={
            "diagnostics": {},
            "filepath": str(located.path),
            "exists": existed,
            "truncated": False,
        },
    )


def _present(located: Located) -> bytes | None:
    try:
        return read_bytes(located, max_bytes=_MAX_BYTES)
    except FileNotFoundError:
        return None
    except NotADirectoryError as exc:
        raise ToolError(f"A folder in the path of {located.path} is a file.") from exc
    except IsADirectoryError as exc:
        raise ToolError(f"Path is a directory, not a file: {located.path}") from exc


def _diff(located: Located, old: bytes | None, content: str) -> FileDiff:
    text, _ = decode_text(old or b"")
    return diff_file(str(located.path), displayable(text), content)


def _write(located: Located, content: str) -> bool:
    def change(old: bytes | None) -> bytes:
        return encode_text(content, bom=old is not None and decode_text(old)[1])

    old, _ = replace_file(located, change, max_bytes=_MAX_BYTES)
    return old is not None


TOOL = Tool("write", WriteParams, run, "edit", load_description(__file__))
