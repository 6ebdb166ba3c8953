from __future__ import annotations

import asyncio
import stat

from pydantic import Field

from tools.base import Params, Tool, ToolError, ToolResult, load_description
from tools.context import ToolContext
from tools.files.file_change import change_file
from tools.files.text_edit import IDENTICAL, replace_in_file
from tools.paths import locate, stat_located


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
        raise ToolError(IDENTICAL)
    located = locate(context, params.file_path)

    def change(present: bytes | None) -> bytes:
        return replace_in_file(
            located.path,
            present,
            params.old_string,
            params.new_string,
            replace_all=bool(params.replace_all),
        )

    if not params.old_string:
        status = await asyncio.to_thread(stat_located, located)
        if status is not None and stat.S_ISREG(status.st_mode):
            # Refused at once, for reading the file first would not help.
            change(b"")
    changed = await change_file(context, located, change)
    return ToolResult(
        title=located.title,
        output=f"Edit applied successfully.{changed.told}",
        metadata=changed.metadata(),
    )


TOOL = Tool("edit", EditParams, run, "edit", load_description(__file__))
