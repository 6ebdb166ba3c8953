from __future__ import annotations

import asyncio
import contextlib
from dataclasses import replace

from pydantic import Field

from opencode_web.lib.json import JsonObject
from tools.base import Params, Tool, ToolError, ToolResult, load_description
from tools.context import PermissionAsk, ToolContext
from tools.files.content_search import Match, find_matches
from tools.files.folders import is_folder, require_file
from tools.files.shown_files import digests_of
from tools.paths import Located, locate

_LIMIT = 100
_NAMED = 10


class GrepParams(Params):
    """A regular expression, and where to look for it."""

    pattern: str = Field(description="Regular expression to search for in the content of files.")
    path: str | None = Field(None, description="Folder or file; the project folder by default.")
    include: str | None = Field(None, description="Only files matching this glob, such as `*.py`.")


async def run(params: GrepParams, context: ToolContext) -> ToolResult:
    """Search the content of files."""
    if not params.pattern:
        raise ToolError("pattern is required")
    located = locate(context, params.path or ".", managed=True)
    metadata: JsonObject = {"pattern": params.pattern}
    metadata |= {key: value for key, value in (("path", params.path),) if value}
    metadata |= {key: value for key, value in (("include", params.include),) if value}
    is_file = await asyncio.to_thread(is_folder, located) is False
    if is_file and not located.managed:
        # What it finds there is what reading it would show.
        await context.confirm(PermissionAsk("read", located.patterns, metadata=metadata))
    await context.ask(PermissionAsk("grep", (params.pattern,), metadata=metadata))
    found, more = await _search(params, located, context)
    gated = set() if is_file or located.managed else await _gated(found, context)
    shown = [match for match in found if not gated.intersection(match.file.patterns)]
    if not located.managed:
        digests = await asyncio.to_thread(_digests, shown, context)
        for key, digest in digests.items():
            await context.files.mark_seen(key, digest)
    # Before long lines are cut: half a secret would not be found.
    redacted = [replace(one, raw=context.sandbox.redactor.data(one.raw)) for one in shown]
    result = _result(params.pattern, redacted, more=more)
    return _with_note(result, gated) if gated else result


def _digests(shown: list[Match], context: ToolContext) -> dict[str, str]:
    """The digests of files that still hold what is shown of them: one may have been saved since."""
    lines: dict[str, list[Match]] = {}
    for match in shown:
        lines.setdefault(match.file.relative, []).append(match)

    def holds(name: str, data: bytes) -> bool:
        return all(data.startswith(one.raw, one.offset) for one in lines[name])

    return digests_of(context, lines, holds=holds)


async def _gated(found: list[Match], context: ToolContext) -> set[str]:
    """The files among the results that may not be read without asking."""
    names = dict.fromkeys(name for match in found for name in match.file.patterns)
    return set(await context.unallowed("read", list(names))) if names else set()


def _with_note(result: ToolResult, gated: set[str]) -> ToolResult:
    names = ", ".join(sorted(gated)[:_NAMED])
    rest = f" and {len(gated) - _NAMED} more" if len(gated) > _NAMED else ""
    note = (
        f"(Left out, because somebody has to allow that they are read: {names}{rest}. "
        "Give one as path to ask for it.)"
    )
    return replace(result, output=f"{result.output}\n\n{note}")


async def _search(
    params: GrepParams, located: Located, context: ToolContext
) -> tuple[list[Match], bool]:
    is_dir = await asyncio.to_thread(is_folder, located)
    if is_dir is None:
        raise ToolError(f"Path not found: {located.path}")
    if not is_dir:
        await asyncio.to_thread(require_file, located)
    # ripgrep starts in a folder; of a file it gets the name only.
    folder = located if is_dir else _parent(located)
    target = "." if is_dir else f"./{located.real.name}"
    found: list[Match] = []
    size = 0
    matches = find_matches(
        folder, params.pattern, include=params.include, target=target, at_once=_LIMIT + 1
    )
    async with contextlib.aclosing(matches):
        async for match in matches:
            size += len(match.text) + len(str(match.file.path))
            if len(found) == _LIMIT or size > context.limits.max_bytes:
                return found, True
            found.append(match)
    return found, False


def _parent(located: Located) -> Located:
    relative = located.relative.rpartition("/")[0]
    return Located(
        located.root, located.path.parent, located.real.parent, relative, managed=located.managed
    )


def _result(pattern: str, found: list[Match], *, more: bool) -> ToolResult:
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
