"""Clone the repository of a project on the host that will hold it.

Into a folder of its own beside the worktree's place, which is renamed when it is whole: a clone
that fails, is stopped or dies leaves no half worktree. A file lock keeps a message that came twice
from cloning twice.
"""

from __future__ import annotations

import asyncio
import fcntl
import logging
import os
import re
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings

from opencode_web.lib.crypto import DecryptionError, decrypt
from opencode_web.lib.db import in_db
from opencode_web.lib.loop import submit
from sessions.actions.project_files import (
    find_preparing,
    is_gone,
    mark_failed,
    mark_ready,
    report_progress,
)
from sessions.clone_errors import explain_failure
from sessions.git import git_environment
from sessions.git_url import authorization
from sessions.models import Project
from sessions.worktrees import managed_home, remove_managed

logger = logging.getLogger(__name__)

_REPORT_EVERY_S = 0.5
_KEPT_OUTPUT_BYTES = 8192
_PHASES = {
    "Counting objects": "Counting",
    "Compressing objects": "Waiting for the other side to pack",
    "Receiving objects": "Downloading",
    "Resolving deltas": "Unpacking",
    "Updating files": "Writing files",
}
_PROGRESS = re.compile(rf"({'|'.join(_PHASES)}):\s+(\d+)%[^|,\r\n]*(?:,\s+([\d.]+ [KMG]iB))?")

# The clones of this process, to cancel them when it stops.
_running: set[asyncio.Task[None]] = set()


class CloneFailed(Exception):
    """The message says why, for people, and holds no secret."""


async def prepare_project(project_id: str, *, sealed_credential: str = "") -> None:
    """Clone the project's repository unless that is done, or being done, already."""
    task = asyncio.ensure_future(_prepare(project_id, sealed_credential))
    _running.add(task)
    try:
        await task
    finally:
        _running.discard(task)


async def _prepare(project_id: str, sealed_credential: str) -> None:
    started = time.monotonic()
    with _claimed(managed_home(project_id)) as home:
        # Asked under the lock: whoever had it before may have finished the work.
        project = await in_db(find_preparing, project_id) if home else None
        if home is None or project is None:
            return
        draft = Path(tempfile.mkdtemp(prefix="clone-", dir=home))
        try:
            await _clone(project, draft, _open(sealed_credential))
            draft.rename(project.directory)
            kept = await in_db(mark_ready, project)
        except CloneFailed as exc:
            kept = await in_db(mark_failed, project, str(exc))
        except OSError as exc:
            reason = f"The server could not keep the clone: {exc.strerror}."
            kept = await in_db(mark_failed, project, reason)
        finally:
            # Also on cancel; the row then stays as it is, and whoever starts next clones again.
            await asyncio.shield(asyncio.to_thread(shutil.rmtree, draft, ignore_errors=True))
    if not kept and await in_db(is_gone, project_id):
        # Deleted meanwhile: its own removal may have come before the files did.
        await asyncio.to_thread(remove_managed, project_id)
    logger.info(
        "clone.ended project=%s status=%s ms=%d",
        project_id,
        project.status,
        (time.monotonic() - started) * 1000,
    )


@contextmanager
def _claimed(home: Path) -> Iterator[Path | None]:
    """Hold the lock of a project's folder, and clear what a dead clone left.

    Yields: the folder, or None when another worker has it.
    """
    home.mkdir(parents=True, exist_ok=True)
    lock = os.open(home / "clone.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        yield None
        return
    try:
        for left in home.glob("clone-*"):
            shutil.rmtree(left, ignore_errors=True)
        yield home
    finally:
        # The file stays: a lock on a removed one would hold nobody off.
        os.close(lock)


def _open(sealed_credential: str) -> str:
    try:
        return decrypt(sealed_credential) if sealed_credential else ""
    except DecryptionError as exc:
        raise CloneFailed("The worker has another SECRET_KEY than the web server.") from exc


async def _clone(project: Project, draft: Path, credential: str) -> None:
    """Raises: CloneFailed."""
    config = authorization(project.git_url, credential) if credential else {}
    process = await asyncio.create_subprocess_exec(
        "git",
        "clone",
        "--progress",
        "--template=",
        "--no-recurse-submodules",
        "--",
        project.git_url,
        str(draft),
        cwd=draft,
        env=git_environment(config),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        # git starts helpers for the transport: the group is what can be ended as a whole.
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(settings.CLONE_TIMEOUT_S):
            output = await _follow(process, project)
            code = await process.wait()
    except TimeoutError as exc:
        minutes = settings.CLONE_TIMEOUT_S // 60
        raise CloneFailed(f"The clone was stopped after {minutes} minutes.") from exc
    finally:
        if process.returncode is None:
            _kill_group(process.pid)
    if code:
        raise CloneFailed(explain_failure(output, had_credential=bool(credential)))


async def _follow(process: asyncio.subprocess.Process, project: Project) -> str:
    """Report progress until git ends. Returns: the last of what it said."""
    assert process.stderr is not None
    said, next_report_at = b"", 0.0
    while chunk := await process.stderr.read(4096):
        said = (said + chunk)[-_KEPT_OUTPUT_BYTES:]
        now = time.monotonic()
        if now < next_report_at or (detail := _last_progress(said)) is None:
            continue
        next_report_at = now + _REPORT_EVERY_S
        if not await in_db(report_progress, project, detail):
            raise CloneFailed("The project was deleted.")
    return said.decode("utf-8", "replace")


def _last_progress(said: bytes) -> str | None:
    found = _PROGRESS.findall(said.decode("utf-8", "replace"))
    if not found:
        return None
    phase, percent, size = found[-1]
    return f"{_PHASES[phase]} {percent} %" + (f" ({size})" if size else "")


def _kill_group(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


async def _cancel_all() -> None:
    tasks = list(_running)
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks)


def cancel_clones(timeout_s: float = 3.0) -> None:
    """End every clone of this process. Called from any thread but the loop's own."""
    if _running:
        submit(_cancel_all()).result(timeout_s)
