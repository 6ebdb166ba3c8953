"""The places at which a fault may strike a process of the server. Uses the standard library only.

A fault is armed for one session by a file `armed/<session>` with `point number fault`: it strikes
when the session reaches the point for the number-th time. Whoever renames the file has it, so it
strikes once, in one process.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

HOLD_S = 10.0
_reached: dict[tuple[str, str], int] = {}


def _strike(point: str, session: str) -> Path | None:
    """Strike if this is the point; no session is at none.

    Returns: the file whose removal lets the process go on; None when nothing is armed here."""
    if not session:
        return None
    folder = Path(os.environ["CHAOS_DIR"])
    armed = folder / "armed" / session
    try:
        wanted, number, fault = armed.read_text().split()
    except FileNotFoundError:
        return None
    if wanted != point:
        return None
    key = (session, point)
    _reached[key] = _reached.get(key, 0) + 1
    if _reached[key] < int(number):
        return None
    held = folder / "reached" / session
    try:
        armed.rename(held)
    except FileNotFoundError:  # another process was first
        return None
    sys.stderr.write(f"chaos: {fault} at {point}, session {session}, pid {os.getpid()}\n")
    if fault == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    return held


def _strike_sync(point: str, session: str) -> None:
    held = _strike(point, session)
    until = time.monotonic() + HOLD_S
    while held is not None and held.exists() and time.monotonic() < until:
        time.sleep(0.01)


async def _strike_async(point: str, session: str) -> None:
    held = _strike(point, session)
    until = time.monotonic() + HOLD_S
    while held is not None and held.exists() and time.monotonic() < until:
        await asyncio.sleep(0.01)


def _before(point: str, session_of: Callable[..., str]) -> Callable[[Any], Any]:
    """Strike before a function, synchronous or not."""

    def decorate(function: Any) -> Any:
        async def asynchronous(*args: Any, **more: Any) -> Any:
            await _strike_async(point, session_of(*args, **more))
            return await function(*args, **more)

        def synchronous(*args: Any, **more: Any) -> Any:
            _strike_sync(point, session_of(*args, **more))
            return function(*args, **more)

        return asynchronous if asyncio.iscoroutinefunction(function) else synchronous

    return decorate


def _during(point: str, session_of: Callable[..., str], *, after_s: float) -> Callable[[Any], Any]:
    """Strike while a coroutine function is under way."""

    def decorate(function: Any) -> Any:
        async def asynchronous(*args: Any, **more: Any) -> Any:
            async def strike() -> None:
                await asyncio.sleep(after_s)
                await _strike_async(point, session_of(*args, **more))

            striker = asyncio.create_task(strike())
            try:
                return await function(*args, **more)
            finally:
                striker.cancel()

        return asynchronous

    return decorate


def _rung(task: str, *arguments: str, **more: Any) -> str:
    return arguments[0] if task == "sessions.run" and arguments else ""


def _of_lease(lease: Any, *args: Any, **more: Any) -> str:
    return str(lease.session_id)


def _of_writer(writer: Any, *args: Any, **more: Any) -> str:
    return str(writer._lease.session_id)


def _of_summary(writer: Any, *args: Any, **more: Any) -> str:
    return _of_writer(writer) if writer._turn.summary is not None else ""


def _of_call(tool: Any, arguments: Any, context: Any) -> str:
    # Only the tool with the side effect counts.
    return str(context.session_id) if tool.name == "bash" else ""


def _of_step(runner: Any, *events: Any) -> str:
    settled = (getattr(getattr(event, "part", None), "state", None) for event in events)
    done = any(getattr(state, "status", "") == "completed" for state in settled)
    return str(runner._session.pk) if done else ""


def _of_end(session: Any, *args: Any, **more: Any) -> str:
    return str(session.pk)


def _of_wanted(wanted: Any, *args: Any, **more: Any) -> str:
    return str(wanted.session_id)


def _of_draft(draft: Path, wanted: Any, *args: Any) -> str:
    return _of_wanted(wanted)


def _of_secured(repositories: Any, *, session_id: str, **more: Any) -> str:
    return session_id


def _of_folder(folder: Path) -> str:
    # A worktree lies in a folder with the name of its session.
    return folder.parent.name


def _of_files(snapshots: Any, *args: Any, **more: Any) -> str:
    return _of_folder(snapshots.worktree)


# module: (attribute, what is done to it). The names are the server's own.
_WRAPPERS: dict[str, list[tuple[str, Callable[[Any], Any]]]] = {
    "sessions.wake": [("_send", _before("after_admit", _rung))],
    "sessions.runner.drain.loop": [("drain", _before("after_lease", _of_lease))],
    "sessions.runner.log.text_writer": [
        ("TextWriter.write", _before("mid_stream", _of_writer)),
        ("TextWriter.write", _before("mid_compaction", _of_summary)),
    ],
    "tools.registry": [
        ("execute", _before("before_tool", _of_call)),
        ("execute", _during("during_tool", _of_call, after_s=0.2)),
        ("execute", _during("in_batch", _of_call, after_s=0.2)),
    ],
    "sessions.runner.calls.tool_calls": [("_StepRunner._append", _before("after_tool", _of_step))],
    "sessions.checkouts.create": [
        ("make_checkout", _before("making_checkout", _of_wanted)),
        ("_fill", _before("making_checkout", _of_draft)),
        ("make_checkout", _during("making_checkout", _of_wanted, after_s=0.15)),
    ],
    "sessions.checkouts.operations": [
        ("secure", _before("dropping_checkout", _of_secured)),
        ("secure", _during("dropping_checkout", _of_secured, after_s=0.1)),
        ("remove_folder", _before("dropping_checkout", _of_folder)),
    ],
    "sessions.runner.drain.restore": [
        ("_keep_snapshot", _before("putting_back", _of_lease)),
        ("_settle", _before("putting_back", _of_lease)),
    ],
    "sessions.runner.files.restore_files": [("_put", _before("putting_back", _of_files))],
    "sessions.runner.drain.endings": [("finish", _before("before_idle", _of_end))],
}
MODULES = frozenset(_WRAPPERS)


def wrap(module: Any) -> None:
    """Wrap the functions of a module that was just loaded."""
    for path, wrapper in _WRAPPERS[module.__name__]:
        *owners, name = path.split(".")
        owner = module
        for part in owners:
            owner = getattr(owner, part)
        setattr(owner, name, wrapper(getattr(owner, name)))
