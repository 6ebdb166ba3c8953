"""Clone the repository of a project on the host that will hold it.

git reaches the network outside of the sandbox, and only fetches there. The files are written inside
of it, since what a repository contains decides how git writes them.

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
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from weakref import WeakKeyDictionary

from django.conf import settings
from django.db import Error
from django.utils.translation import gettext_noop

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
from sessions.checkouts.repository import CheckoutError, open_project
from sessions.git.clone_address import AddressRefused, pin_address
from sessions.git.clone_errors import explain_failure
from sessions.git.lost_starts import LOST, counted_start
from sessions.git.project_folders import managed_home, remove_managed
from sessions.git.remote_command import remote_git
from sessions.git.url import authorization
from sessions.models import Project

logger = logging.getLogger(__name__)

_REPORT_EVERY_S = 0.5
_KEPT_OUTPUT_BYTES = 8192
# Of one process. The others wait, with their claim on the project and its credential.
MAX_RUNNING = 4
# No worktree is ever named like this: their names are slugs.
_DRAFT = ".draft-"
_PHASES = {
    "Counting objects": "Counting",
    "Compressing objects": "Waiting for the other side to pack",
    "Receiving objects": "Downloading",
    "Resolving deltas": "Unpacking",
}
_PROGRESS = re.compile(rf"({'|'.join(_PHASES)}):\s+(\d+)%[^|,\r\n]*(?:,\s+([\d.]+ [KMG]iB))?")

_FAULT = gettext_noop("The server failed while it cloned the repository; the fault was logged.")

# The clones of this process, to cancel them when it stops.
_running: set[asyncio.Task[None]] = set()
_slots: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()


class CloneFailed(Exception):
    """The message says why, for people, and holds no secret."""


def start_clone(project_id: str, *, sealed_credential: str = "") -> Future[None]:
    """Prepare a project on the process's own loop, without a thread that waits for it."""
    started = submit(prepare_project(project_id, sealed_credential=sealed_credential))
    started.add_done_callback(lambda done: _log_failure(project_id, done))
    return started


def _log_failure(project_id: str, done: Future[None]) -> None:
    # A cancel means that this worker stops. Either way `wake_preparing` rings again.
    if not done.cancelled() and (failure := done.exception()):
        logger.error("clone.crashed project=%s", project_id, exc_info=failure)


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
        if home is None or await in_db(find_preparing, project_id) is None:
            return
        async with _slot():
            # Again, after the wait for a slot: it may be deleted, or have another address.
            project = await in_db(find_preparing, project_id)
            if project is None:
                return
            try:
                with counted_start(home, "clone") as is_hopeless:
                    if is_hopeless:
                        kept = await in_db(mark_failed, project, LOST)
                    else:
                        kept = await _clone_into(project, home, sealed_credential)
            except Error:
                raise  # a database that is away comes back
            except Exception:  # the edge of a Celery task: it would be repeated at every ring
                logger.exception("clone.crashed project=%s", project_id)
                # Under the lock: the next to have it would begin the same clone.
                kept = await in_db(mark_failed, project, _FAULT)
    if not kept and await in_db(is_gone, project_id):
        # Deleted meanwhile: its own removal may have come before the files did.
        await asyncio.to_thread(remove_managed, project_id)
    logger.info(
        "clone.ended project=%s status=%s ms=%d",
        project_id,
        project.status,
        (time.monotonic() - started) * 1000,
    )


async def _clone_into(project: Project, home: Path, sealed_credential: str) -> bool:
    """Returns: False when the project was deleted meanwhile."""
    await asyncio.to_thread(_clear_drafts, home)
    draft = Path(tempfile.mkdtemp(prefix=_DRAFT, dir=home))
    try:
        await _clone(project, draft, _open(sealed_credential))
        draft.rename(project.directory)
        return await in_db(mark_ready, project)
    except CloneFailed as exc:
        return await in_db(mark_failed, project, str(exc))
    except OSError as exc:
        reason = f"The server could not keep the clone: {exc.strerror}."
        return await in_db(mark_failed, project, reason)
    finally:
        # Also on cancel; the row then stays as it is, and whoever starts next clones again.
        await asyncio.shield(asyncio.to_thread(shutil.rmtree, draft, ignore_errors=True))


def _slot() -> asyncio.Semaphore:
    loop = asyncio.get_running_loop()
    return _slots.setdefault(loop, asyncio.Semaphore(MAX_RUNNING))


def _clear_drafts(home: Path) -> None:
    """Remove what a dead clone left. Only for who holds the lock."""
    for left in home.glob(f"{_DRAFT}*"):
        shutil.rmtree(left, ignore_errors=True)


@contextmanager
def _claimed(home: Path) -> Iterator[Path | None]:
    """Hold the lock of a project's folder.

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
    await _fetch(project, draft, credential)
    await in_db(report_progress, project, "Writing files")
    await _write_files(draft)


async def _write_files(draft: Path) -> None:
    """Raises: CloneFailed."""
    try:
        repository = await open_project(str(draft), whole=False)
        # A repository without a commit has no files.
        if await repository.find("HEAD") is not None:
            await repository.ask("reset", "--quiet", "--hard", "HEAD", writes=True)
    except CheckoutError as exc:
        raise CloneFailed(f"The files of the clone could not be written: {exc}") from exc


async def _fetch(project: Project, draft: Path, credential: str) -> None:
    """Clone without any file. Raises: CloneFailed."""
    try:
        pin = await pin_address(project.git_url)
    except AddressRefused as exc:
        raise CloneFailed(str(exc)) from exc
    try:
        async with remote_git(
            *("clone", "--no-checkout", "--progress", "--template=", "--no-recurse-submodules"),
            *("--", project.git_url, str(draft)),
            cwd=draft,
            pin=pin,
            config=authorization(project.git_url, credential) if credential else {},
        ) as process:
            output = await _follow(process, project)
            code = await process.wait()
    except TimeoutError as exc:
        minutes = settings.CLONE_TIMEOUT_S // 60
        raise CloneFailed(f"The clone was stopped after {minutes} minutes.") from exc
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
