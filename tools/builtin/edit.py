from __future__ import annotations

import asyncio

from pydantic import Field

from tools.base import Params, Tool, ToolError, ToolResult, load_description
from tools.context import PermissionAsk, ToolContext
from tools.diff import FileDiff, diff_file
from tools.edit_match import EditMatchError, replace_text
from tools.paths import Located, locate, read_bytes, replace_file
from tools.text_file import decode_text, displayable, encode_text

_MAX_BYTES = 10 * 1024 * 1024


class EditParams(Params):
    """A text in a file and what replaces it."""

    file_path: str = Field(
        alias="filePath", description="Path of the file, absolute or relative to the project."
    )
    old_string: str = Field(
        alias="oldString", description="The text to replace, exactly as it stands."
    )
    new_string: str = Field(alias="newString", description="The text to put in its place.")
    replace_all: bool | None = Field(
        None, alias="replaceAll", description="Replace every occurrence, not just one."
    )


async def run(params: EditParams, context: ToolContext) -> ToolResult:
    """Replace one text of a file, or create the file when the old text is empty."""
    if not params.file_path:
        raise ToolError("filePath is required")
    if params.old_string == params.new_string:
        raise ToolError("No changes to apply: oldString and newString are identical.")
    located = locate(context, params.file_path)
    planned = await asyncio.to_thread(_plan, located, params)
    await context.ask(
        PermissionAsk(
            "edit",
            located.patterns,
            metadata={"filepath": str(located.path), "diff": planned.shown},
        )
    )
    done = await asyncio.to_thread(_apply, located, params)
    return ToolResult(
        title=located.title,
        output="Edit applied successfully.",
        metadata={
            "diff": done.shown,
            "filediff": done.as_json(),
            "diagnostics": {},
            "truncated": False,
        },
    )


def _plan(located: Located, params: EditParams) -> FileDiff:
    try:
        old: bytes | None = read_bytes(located, max_bytes=_MAX_BYTES)
    except FileNotFoundError:
        old = None
    except IsADirectoryError as exc:
        raise ToolError(f"Path is a directory, not a file: {located.path}") from exc
    except NotADirectoryError as exc:
        raise ToolError(f"A folder in the path of {located.path} is a file.") from exc
    return _diff(located, old, _changed(located, params, old))


def _apply(located: Located, params: EditParams) -> FileDiff:
    # Computed again from what the file holds now: while a person thought about the first
    # computation, another call may have changed another place of the file, and that must not be
    # undone.
    old, new = replace_file(
        located, lambda old: _changed(located, params, old), max_bytes=_MAX_BYTES
    )
    return _diff(located, old, new)


def _changed(located: Located, params: EditParams, old: bytes | None) -> bytes:
    if old is None:
        if params.old_string:
            raise ToolError(f"File {located.path} not found")
        return encode_text(params.new_string, bom=False)
    if not params.old_string:
        raise ToolError(
            "oldString cannot be empty when editing an existing file. Give the text to replace, "
            "or use write to replace the whole file."
        )
    text, bom = decode_text(old)
    try:
        new = replace_text(
            text,
            params.old_string,
            params.new_string,
            replace_all=bool(params.replace_all),
        )
    except EditMatchError as exc:
        raise ToolError(str(exc)) from exc
    return encode_text(new, bom=bom)


def _diff(located: Located, old: bytes | None, new: bytes) -> FileDiff:
    before, after = (displayable(decode_text(data)[0]) for data in (old or b"", new))
    return diff_file(str(located.path), before, after)


TOOL = Tool("edit", EditParams, run, "edit", load_description(__file__))
