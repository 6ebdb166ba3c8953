from __future__ import annotations

import asyncio
from collections.abc import Iterator

from pydantic import Field

from opencode_web.lib.json import JsonObject
from tools.base import Params, Tool, ToolResult, load_description
from tools.context import PermissionAsk, ToolContext
from tools.files.folders import require_folder
from tools.files.ordered_search import list_files
from tools.paths import Located, locate

_LIMIT = 100
# Folders of other people's code, which a project without a .gitignore would drown in.
_IGNORED = ("node_modules", "__pycache__", ".venv", "venv")

# A folder maps to its entries, a file to None.
_Tree = dict[str, "_Tree | None"]


class ListParams(Params):
    """A folder, and what to leave out of its tree."""

    path: str | None = Field(None, description="Folder to list; the project folder by default.")
    ignore: list[str] | None = Field(None, description="Globs of files and folders to leave out.")


async def run(params: ListParams, context: ToolContext) -> ToolResult:
    """Show the tree of a folder."""
    folder = locate(context, params.path or ".", managed=True)
    metadata: JsonObject = {"path": str(folder.path)}
    await context.ask(PermissionAsk("list", folder.patterns, metadata=metadata))
    await asyncio.to_thread(require_folder, folder, tool="list")
    globs = [*(f"**/{name}/**" for name in _IGNORED), *(params.ignore or [])]
    arguments = ["--hidden", "--no-require-git", *(f"--glob=!{glob}" for glob in globs)]
    files, more = await list_files(folder, arguments, limit=_LIMIT)
    lines = [f"{folder.path}/", *_render(_grow(folder, files), depth=1)]
    if not files:
        lines.append("(no files)")
    if more:
        lines += [
            "",
            f"(Only the first {_LIMIT} files are shown. List a folder below, or use glob.)",
        ]
    return ToolResult(
        title=folder.title,
        output="\n".join(lines),
        metadata={"count": len(files), "truncated": more},
    )


def _grow(folder: Located, files: list[Located]) -> _Tree:
    tree: _Tree = {}
    for file in files:
        branch = tree
        *folders, name = file.real.relative_to(folder.real).parts
        for part in folders:
            deeper = branch.get(part)
            if deeper is None:
                branch[part] = deeper = {}
            branch = deeper
        branch[name] = None
    return tree


def _render(tree: _Tree, *, depth: int) -> Iterator[str]:
    indent = "  " * depth
    folders = {name: below for name, below in tree.items() if below is not None}
    for name, below in sorted(folders.items()):
        yield f"{indent}{name}/"
        yield from _render(below, depth=depth + 1)
    for name in sorted(name for name, below in tree.items() if below is None):
        yield f"{indent}{name}"


TOOL = Tool("list", ListParams, run, "list", load_description(__file__))
