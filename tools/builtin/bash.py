from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

from pydantic import Field

from opencode_web.lib.json import JsonObject
from tools.base import Params, Tool, ToolError, ToolResult, load_description
from tools.context import PermissionAsk, ToolContext
from tools.folders import require_folder
from tools.live_output import LiveOutput
from tools.paths import Located, locate
from tools.sandbox.base import Command, Exit, SandboxError
from tools.shell_parse import MAX_COMMAND_BYTES, TooComplex, parse_shell
from tools.truncate import MAX_BYTES, MAX_LINES, keep_tail

_DEFAULT_TIMEOUT_MS = 120_000
_MAX_TIMEOUT_MS = 600_000
_TOO_LONG = "The command is too long. Write it into a script file and run that."
_TOO_COMPLEX = (
    "The command is too complicated to be checked. Run its parts one by one, or write it into a "
    "script file and run that."
)


class BashParams(Params):
    """A command line and where and how long it may run."""

    command: str = Field(description="The command to run.")
    timeout: int | None = Field(
        None,
        gt=0,
        le=_MAX_TIMEOUT_MS,
        description="Milliseconds until the command is stopped, 120000 by default, 600000 at most.",
    )
    workdir: str | None = Field(
        None, description="Folder to run in, the project folder by default. Use it instead of `cd`."
    )
    description: str | None = Field(
        None, description="What the command does, in five to ten words, for the people who watch."
    )


async def run(params: BashParams, context: ToolContext) -> ToolResult:
    """Run a command in the sandbox, showing its output as it comes."""
    if context.sandbox.refusal:
        raise ToolError(context.sandbox.refusal)
    _check(params.command)
    folder = locate(context, params.workdir or ".")
    await asyncio.to_thread(require_folder, folder, tool="workdir")
    await _ask(params, folder, context)
    extra: JsonObject = {"description": params.description} if params.description else {}
    timeout_ms = params.timeout or _DEFAULT_TIMEOUT_MS
    command = Command(
        argv=(_shell(), "-c", params.command),
        cwd=folder.real,
        timeout_s=timeout_ms / 1000,
        network=True,
    )
    async with LiveOutput(context, extra) as live:
        try:
            ended = await context.sandbox.run(command, on_output=live.write)
        except SandboxError as exc:
            raise ToolError(f"The command was not run: {exc}") from exc
    text, path, truncated = await asyncio.to_thread(_bound, live)
    metadata: JsonObject = {
        "output": live.shown(),
        "exit": ended.code,
        "truncated": truncated,
        **extra,
    }
    if path is not None:
        metadata["outputPath"] = str(path)
    return ToolResult(params.command, text + _notes(ended, timeout_ms), metadata)


def _check(command: str) -> None:
    if not command.strip():
        raise ToolError("The command is empty.")
    if "\0" in command:
        raise ToolError("The command contains a NUL character.")
    if len(command.encode("utf-8", "replace")) > MAX_COMMAND_BYTES:
        raise ToolError(_TOO_LONG)


async def _ask(params: BashParams, folder: Located, context: ToolContext) -> None:
    try:
        asked = await asyncio.to_thread(
            parse_shell, params.command, directory=folder.path, worktree=context.worktree
        )
    except TooComplex as exc:
        raise ToolError(_TOO_COMPLEX) from exc
    if asked.outside and not context.sandbox.isolated:
        # In a real sandbox these paths are absent, read-only or the session's own; here they are
        # not.
        raise ToolError(
            f"The command names paths outside the project: {', '.join(asked.outside)}. "
            "Only use paths inside it."
        )
    if asked.patterns:
        metadata: JsonObject = {"command": params.command}
        if folder.path != context.worktree:
            metadata["workdir"] = str(folder.path.relative_to(context.worktree))
        await context.ask(
            PermissionAsk(
                "bash",
                asked.patterns,
                always=asked.always,
                metadata=metadata,
            )
        )


def _shell() -> str:
    return "bash" if shutil.which("bash") else "sh"


def _bound(live: LiveOutput) -> tuple[str, Path | None, bool]:
    text = live.text()
    kept = keep_tail(text, max_lines=MAX_LINES, max_bytes=MAX_BYTES)
    truncated = kept.truncated or live.lost_start
    path = live.finish(keep=truncated)
    if not truncated:
        return text.removesuffix("\n") or "(no output)", None, False
    where = (
        f"Full output saved to: {path}. Search it with grep, or read it with offset and limit."
        if path
        else "The full output could not be kept."
    )
    return f"...output truncated, this is its end...\n\n{where}\n\n{kept.text}", path, True


def _notes(ended: Exit, timeout_ms: int) -> str:
    if ended.timed_out:
        note = (
            f"The command was stopped because it ran longer than {timeout_ms} ms, with "
            "everything it had started. If it needs more time and does not wait for input, run it "
            "again with a larger timeout."
        )
    elif ended.code:
        note = f"The command ended with exit code {ended.code}."
    else:
        return ""
    return f"\n\n<shell_metadata>\n{note}\n</shell_metadata>"


TOOL = Tool("bash", BashParams, run, "bash", load_description(__file__))
