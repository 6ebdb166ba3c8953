"""Have files formatted after a change, in the sandbox. Never fails the change."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence

from opencode_web.lib.reasons import english
from tools.errors import ToolError
from tools.formatters.spec import Formatter, choose
from tools.paths import Located, read_bytes, replace_file
from tools.sandbox.base import Command, Sandbox, SandboxError
from tools.text_file import decode_text, encode_text

logger = logging.getLogger(__name__)

# Of one formatter, and of all for one change.
_ONE_S = 20.0
_ALL_S = 60.0


async def format_files(
    formatters: Sequence[Formatter],
    sandbox: Sandbox,
    written: Sequence[tuple[Located, bytes]],
    *,
    max_bytes: int,
) -> dict[str, bytes]:
    """Call the formatters of files that were just written.

    Returns: the contents that are others now, by `Located.key`.
    """
    if not formatters or sandbox.refusal:
        return {}
    deadline = time.monotonic() + _ALL_S
    changed: dict[str, bytes] = {}
    for located, content in written:
        calls = await asyncio.to_thread(choose, formatters, located.real, located.root)
        for formatter, argv in calls:
            await _call(formatter, argv, sandbox, located, deadline)
        if calls:
            now = await asyncio.to_thread(_read_back, located, content, max_bytes)
            if now not in (None, content):
                assert now is not None
                changed[located.key] = now
    return changed


async def _call(
    formatter: Formatter,
    argv: tuple[str, ...],
    sandbox: Sandbox,
    located: Located,
    deadline: float,
) -> None:
    left_s = min(_ONE_S, deadline - time.monotonic())
    if left_s <= 0:
        return
    command = Command(argv, located.root, left_s, env=dict(formatter.env))
    try:
        ended = await sandbox.run(command, on_output=_ignore)
    except SandboxError as exc:
        logger.warning("formatter.not_started name=%s %s", formatter.name, exc)
        return
    if ended.code:
        logger.info("formatter.failed name=%s exit=%s", formatter.name, ended.code)
    elif ended.timed_out or ended.stopped:
        why = english(ended.stopped or "time-out")
        logger.warning("formatter.ended name=%s %s", formatter.name, why)


async def _ignore(chunk: bytes) -> None:
    del chunk


def _read_back(located: Located, before: bytes, max_bytes: int) -> bytes | None:
    """Read what a formatter has left, with the byte order mark that the file had.

    Returns: None when there is no such file any more: then the change counts as it was made.
    """
    try:
        now = read_bytes(located, max_bytes=max_bytes)
        if decode_text(before)[1] and not decode_text(now)[1]:
            _, now = replace_file(located, _with_mark, max_bytes=max_bytes)
    except (ToolError, OSError):
        return None
    return now


def _with_mark(present: bytes | None) -> bytes:
    return encode_text(decode_text(present or b"")[0], bom=True)
