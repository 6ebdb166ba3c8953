from __future__ import annotations

from pydantic import Field

from tools.base import Params, Tool, ToolError, ToolResult, load_description
from tools.context import ToolContext
from tools.files.file_change import MAX_BYTES, change_file
from tools.paths import locate
from tools.text_file import decode_text, encode_text


class WriteParams(Params):
    """A file and all that is to be in it."""

    content: str = Field(description="The whole new content of the file.")
    file_path: str = Field(
        alias="filePath", description="Path of the file, absolute or relative to the project."
    )


async def run(params: WriteParams, context: ToolContext) -> ToolResult:
    """Create or replace a file."""
    located = locate(context, params.file_path)
    if len(params.content) > MAX_BYTES:
        raise ToolError(f"The content is larger than the {MAX_BYTES} bytes allowed.")

    def change(present: bytes | None) -> bytes:
        return encode_text(params.content, bom=present is not None and decode_text(present)[1])

    changed = await change_file(context, located, change, others=True)
    return ToolResult(
        title=located.title,
        output=f"Wrote file successfully.{changed.told}",
        metadata={
            "diagnostics": changed.findings.metadata,
            "filepath": str(located.path),
            "exists": changed.existed,
            "truncated": False,
        },
    )


TOOL = Tool("write", WriteParams, run, "edit", load_description(__file__))
