"""Start the programs of terminals on the host that has the files, and see them to their end."""

from __future__ import annotations

import asyncio
import json
import logging
import shutil
import time
from concurrent.futures import Future
from pathlib import Path

from django.conf import settings
from django.utils.translation import gettext_noop

from opencode_web.lib.crypto import decrypt
from opencode_web.lib.db import in_db
from opencode_web.lib.loop import submit
from sessions.git.places import lent_objects
from sessions.models import Terminal
from sessions.previews.serving import serve_previews
from sessions.sandboxes.build import project_sandbox
from sessions.terminals.environment import terminal_environment
from sessions.terminals.life import begin_terminal, end_terminal
from sessions.terminals.serving import Ended, Serving
from tools.sandbox.base import Command, SandboxError
from tools.sandbox.bubblewrap import BubblewrapSandbox
from tools.sandbox.pty import Size, open_terminal

logger = logging.getLogger(__name__)

_FAILED = Ended(None, gettext_noop("The server could not run it; its log says why."))
_STOPPED = Ended(137, gettext_noop("The server was stopped."))

# The terminals of this process, to end them when it stops.
_running: set[asyncio.Task[None]] = set()


def start_terminal(terminal_id: str, *, sealed_environment: str = "") -> Future[None]:
    """Begin on the process's own loop, without a thread that waits for it."""
    started = submit(run_terminal(terminal_id, sealed_environment=sealed_environment))
    started.add_done_callback(lambda done: _log_failure(terminal_id, done))
    return started


def _log_failure(terminal_id: str, done: Future[None]) -> None:
    if not done.cancelled() and (failure := done.exception()):
        logger.error("terminal.crashed terminal=%s", terminal_id, exc_info=failure)


def end_terminals(timeout_s: float) -> None:
    """End every terminal of this process. Called from any thread but the loop's own."""
    if _running:
        submit(_cancel_all()).result(timeout_s)


async def _cancel_all() -> None:
    tasks = set(_running)
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks)


async def run_terminal(terminal_id: str, *, sealed_environment: str = "") -> None:
    """Run it to its end, unless it is gone or somebody else has begun."""
    task = asyncio.ensure_future(_run(terminal_id, sealed_environment))
    _running.add(task)
    try:
        await task
    finally:
        _running.discard(task)


async def _run(terminal_id: str, sealed_environment: str) -> None:
    terminal = await in_db(begin_terminal, terminal_id)
    if terminal is None:
        return
    started, ended = time.monotonic(), _FAILED
    home = settings.DATA_DIR / "terminals" / terminal_id
    try:
        ended = await _serve(terminal, home, sealed_environment)
    except SandboxError as exc:
        ended = Ended(None, _sentence(str(exc)))
    except asyncio.CancelledError:
        ended = _STOPPED
        raise
    finally:
        await asyncio.shield(_settle(terminal_id, home, ended))
        logger.info(
            "terminal.ended terminal=%s code=%s ms=%d",
            *(terminal_id, ended.code, (time.monotonic() - started) * 1000),
        )


async def _serve(terminal: Terminal, home: Path, sealed_environment: str) -> Ended:
    given = json.loads(decrypt(sealed_environment)) if sealed_environment else {}
    environment = await in_db(terminal_environment, terminal, given)
    sandbox = await in_db(
        project_sandbox,
        terminal.project,
        worktree=Path(terminal.directory),
        session_dir=home,
        lent=(lent_objects(terminal.project_id),) if terminal.folder else (),
    )
    if not isinstance(sandbox, BubblewrapSandbox):
        # Not without walls either: whoever may prompt would have a shell on the server itself.
        raise SandboxError(sandbox.refusal or "Terminals need bubblewrap on the server.")
    command = Command(
        (terminal.command, *terminal.args),
        Path(terminal.cwd),
        None,
        env=environment,
        network=True,
    )
    size = Size(terminal.rows, terminal.columns)
    async with (
        open_terminal(sandbox, command, size) as program,
        serve_previews(terminal.pk, program.network),
    ):
        return await Serving(terminal.pk, program).until_end()


async def _settle(terminal_id: str, home: Path, ended: Ended) -> None:
    await asyncio.to_thread(shutil.rmtree, home, ignore_errors=True)
    await in_db(end_terminal, terminal_id, code=ended.code, told=ended.told)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")
