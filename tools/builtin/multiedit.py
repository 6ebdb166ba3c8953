from __future__ import annotations

from pydantic import Field

from tools.base import Params, Tool, ToolError, ToolResult, load_description
from tools.context import ToolContext
from tools.files.file_change import change_file
from tools.files.text_edit import IDENTICAL, replace_in_file
from tools.paths import locate

# Each may take part of a second in the worst case.
_MAX_EDITS = 100


class OneEdit(Params):
    """One of the replacements."""

    old_string: str = Field(
        alias="oldString", description="The text to replace, as it stands after the edits before."
    )
    new_string: str = Field(alias="newString", description="The text to put in its place.")
    replace_all: bool | None = Field(
        None, alias="replaceAll", description="Replace every occurrence, not just one."
    )
    file_path: str | None = Field(
        None, alias="filePath", description="Leave out: all edits are of the one file."
    )


class MultiEditParams(Params):
    """Several replacements in one file."""

    file_path: str = Field(
        alias="filePath", description="Path of the file, absolute or relative to the project."
    )
    edits: list[OneEdit] = Field(
        min_length=1, max_length=_MAX_EDITS, description="The replacements, in their order."
    )


async def run(params: MultiEditParams, context: ToolContext) -> ToolResult:
    """Make several replacements in one file: all of them, or none."""
    if not params.file_path:
        raise ToolError("filePath is required")
    located = locate(context, params.file_path)
    count = len(params.edits)
    for number, edit in enumerate(params.edits, 1):
        if edit.old_string == edit.new_string:
            raise _of(number, count, ToolError(IDENTICAL))
        if edit.file_path and locate(context, edit.file_path).real != located.real:
            other = ToolError(
                f"It names another file, {edit.file_path}. Edit that file with a separate call."
            )
            raise _of(number, count, other)

    def change(present: bytes | None) -> bytes:
        for number, edit in enumerate(params.edits, 1):
            try:
                present = replace_in_file(
                    located.path,
                    present,
                    edit.old_string,
                    edit.new_string,
                    replace_all=bool(edit.replace_all),
                )
            except ToolError as exc:
                raise _of(number, count, exc) from exc
        assert present is not None
        return present

    changed = await change_file(context, located, change)
    output = f"{count} edits applied successfully." if count > 1 else "Edit applied successfully."
    return ToolResult(
        title=located.title, output=output + changed.told, metadata=changed.metadata()
    )


def _of(number: int, count: int, error: ToolError) -> ToolError:
    return ToolError(f"Edit {number} of {count} failed, so none was made. {error.message}")


TOOL = Tool("multiedit", MultiEditParams, run, "edit", load_description(__file__))
