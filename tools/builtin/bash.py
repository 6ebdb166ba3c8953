from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import Mapping
from pathlib import Path

from pydantic import Field

from opencode_web.lib.json import JsonObject
from opencode_web.lib.marks import defuse
from opencode_web.lib.reasons import english
from tools.base import Params, Tool, ToolError, ToolResult, load_description
from tools.context import PermissionAsk, ToolContext
from tools.errors import StoppedByPerson
from tools.files.folders import require_folder
from tools.files.shown_files import digests_of, files_in_diffs
from tools.live_output import LiveOutput
from tools.paths import Located, locate
from tools.sandbox.base import Command, Exit, SandboxError
from tools.settlement import where_kept
from tools.shell.parse import MAX_COMMAND_BYTES, ShellAsk, parse_shell
from tools.shell.paths import existing_names, folder_patterns, without_own
from tools.truncate import keep_tail

_FRAMES = ("shell_metadata",)
_DEFAULT_TIMEOUT_MS = 120_000
_MAX_TIMEOUT_MS = 600_000
_TOO_LONG = "The command is too long. Write it into a script file and run that."


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
    asked = await _ask(params, folder, context)
    extra: JsonObject = {"description": params.description} if params.description else {}
    timeout_ms = params.timeout or _DEFAULT_TIMEOUT_MS
    command = Command(
        argv=(_shell(), "-c", params.command),
        cwd=folder.real,
        timeout_s=timeout_ms / 1000,
        env=await context.shell_env(folder.real),
        network=True,
    )
    names = await asyncio.to_thread(existing_names, asked.shown, context.worktree)
    before = await asyncio.to_thread(digests_of, context, names)
    async with LiveOutput(context, extra) as live:
        ended, by = await _run(command, live, context)
    text, path, truncated = await asyncio.to_thread(_bound, live, context)
    await _mark_shown(before, files_in_diffs(text), context)
    metadata: JsonObject = {
        "output": live.shown(),
        "exit": ended.code,
        "truncated": truncated,
        **extra,
    }
    if by:
        metadata["stoppedBy"] = by
    if path is not None:
        metadata["outputPath"] = str(path)
    return ToolResult(
        params.command, defuse(text, _FRAMES) + _notes(ended, timeout_ms, by), metadata
    )


async def _run(command: Command, live: LiveOutput, context: ToolContext) -> tuple[Exit, str]:
    """Returns: how it ended, and the name of the person who ended it."""
    began = time.monotonic()
    try:
        async with context.stoppable():
            return await context.sandbox.run(command, on_output=live.write), ""
    except StoppedByPerson as exc:
        took_s = time.monotonic() - began
        return Exit(code=None, timed_out=False, duration_s=took_s), exc.name
    except SandboxError as exc:
        raise ToolError(f"The command was not run: {exc}") from exc


def _check(command: str) -> None:
    if not command.strip():
        raise ToolError("The command is empty.")
    if "\0" in command:
        raise ToolError("The command contains a NUL character.")
    if len(command.encode("utf-8", "replace")) > MAX_COMMAND_BYTES:
        raise ToolError(_TOO_LONG)


async def _mark_shown(before: Mapping[str, str], diffs: list[str], context: ToolContext) -> None:
    """Note the files whose content the model knows now."""
    present = await asyncio.to_thread(digests_of, context, before)
    # What the command itself has changed has to be read.
    shown = {key: digest for key, digest in before.items() if present.get(key) == digest}
    shown |= await asyncio.to_thread(digests_of, context, diffs)
    for key, digest in shown.items():
        await context.files.mark_seen(key, digest)


async def _ask(params: BashParams, folder: Located, context: ToolContext) -> ShellAsk:
    asked = await asyncio.to_thread(
        parse_shell, params.command, directory=folder.path, worktree=context.worktree
    )
    metadata: JsonObject = {"command": params.command}
    if folder.path != context.worktree:
        metadata["workdir"] = str(folder.path.relative_to(context.worktree))
    await _ask_for_paths(asked, context, metadata)
    if asked.patterns:
        await context.ask(
            PermissionAsk(
                "bash",
                asked.patterns,
                always=asked.always,
                metadata=metadata,
                subjects=asked.subjects,
                opaque=asked.opaque,
            )
        )
    return asked


async def _ask_for_paths(asked: ShellAsk, context: ToolContext, metadata: JsonObject) -> None:
    """Ask for folders outside the project, then for files that have to be allowed to be read."""
    if asked.outside and not context.sandbox.isolated:
        # In a real sandbox these paths are absent, read-only or the session's own; here they are
        # not.
        raise ToolError(
            f"The command names paths outside the project: {', '.join(asked.outside)}. "
            "Only use paths inside it."
        )
    kept = str(context.output_dir)
    outside = [path for path in without_own(asked.outside) if not path.startswith(kept)]
    if outside:
        folders = await asyncio.to_thread(folder_patterns, outside)
        await context.confirm(
            PermissionAsk("external_directory", folders, always=folders, metadata=metadata)
        )
    if asked.inside:
        names = await asyncio.to_thread(existing_names, asked.inside, context.worktree)
        if gated := await context.unallowed("read", names):
            await context.confirm(PermissionAsk("read", tuple(gated), always=(), metadata=metadata))


def _shell() -> str:
    return "bash" if shutil.which("bash") else "sh"


def _bound(live: LiveOutput, context: ToolContext) -> tuple[str, Path | None, bool]:
    text = live.text()
    limits = context.limits
    kept = keep_tail(text, max_lines=limits.max_lines, max_bytes=limits.max_bytes)
    truncated = kept.truncated or live.lost_start
    path = live.finish(keep=truncated)
    if not truncated:
        return text.removesuffix("\n") or "(no output)", None, False
    where = where_kept(path, delegates=limits.delegates)
    return f"...output truncated, this is its end...\n\n{where}\n\n{kept.text}", path, True


def _notes(ended: Exit, timeout_ms: int, by: str) -> str:
    ending = _stopped(by) if by else _ending(ended, timeout_ms)
    notes = [note for note in (ending, _network(ended)) if note]
    text = "\n".join(notes)
    return f"\n\n<shell_metadata>\n{text}\n</shell_metadata>" if notes else ""


def _network(ended: Exit) -> str:
    if not ended.refused:
        return ""
    return (
        f"The command was kept from the network: {'; '.join(ended.refused)}. An admin of the team "
        "can change that in the settings, under Network. Do not try to get around it."
    )


def _stopped(by: str) -> str:
    return (
        f"{' '.join(by.split())} stopped the command before it ended, with everything it had "
        "started. Its output until then is above. Do not run it again unless you are asked to."
    )


def _ending(ended: Exit, timeout_ms: int) -> str:
    if ended.timed_out:
        return (
            f"The command was stopped because it ran longer than {timeout_ms} ms, with "
            "everything it had started. If it needs more time and does not wait for input, run it "
            "again with a larger timeout."
        )
    if ended.stopped:
        return (
            f"The command was stopped because it {english(ended.stopped)}, with everything it had "
            "started. "
            "That is the limit of one command on this server: do the work in smaller parts, or "
            "with fewer jobs at once."
        )
    return f"The command ended with exit code {ended.code}." if ended.code else ""


TOOL = Tool("bash", BashParams, run, "bash", load_description(__file__))
