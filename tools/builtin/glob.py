from __future__ import annotations

import asyncio

from pydantic import Field

from opencode_web.lib.json import JsonObject
from tools.base import Params, Tool, ToolError, ToolResult, load_description
from tools.context import PermissionAsk, ToolContext
from tools.files.folders import require_folder
from tools.files.ordered_search import list_files
from tools.paths import locate

_LIMIT = 100


class GlobParams(Params):
    """A pattern for names, and where to look."""

    pattern: str = Field(description="Pattern of the files to find, such as `src/**/*.py`.")
    path: str | None = Field(None, description="Folder to search; the project folder by default.")


async def run(params: GlobParams, context: ToolContext) -> ToolResult:
    """Find files whose path matches a pattern."""
    if not params.pattern:
        raise ToolError("pattern is required")
    folder = locate(context, params.path or ".", managed=True)
    metadata: JsonObject = {"pattern": params.pattern}
    if params.path:
        metadata["path"] = params.path
    await context.ask(PermissionAsk("glob", (params.pattern,), metadata=metadata))
    await asyncio.to_thread(require_folder, folder, tool="glob")
    files, more = await list_files(folder, [f"--glob={params.pattern}"], limit=_LIMIT)
    lines = [str(file.path) for file in files] or ["No files found"]
    if more:
        lines += [
            "",
            f"(Results are truncated: showing first {_LIMIT} results. "
            "Consider using a more specific path or pattern.)",
        ]
    return ToolResult(
        title=folder.title,
        output="\n".join(lines),
        metadata={"count": len(files), "truncated": more},
    )


TOOL = Tool("glob", GlobParams, run, "glob", load_description(__file__))
