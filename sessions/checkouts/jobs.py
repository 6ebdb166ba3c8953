"""Do what people asked for with a session's worktree, on the host that has it.

The row is the truth and a message only rings. A file lock keeps a message that came twice from
doing anything twice; a worker that dies leaves the row as it is, and the next one goes on.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from contextlib import nullcontext
from pathlib import Path

from django.db import Error

from opencode_web.lib.db import in_db
from opencode_web.lib.loop import submit
from opencode_web.lib.reasons import Cause
from opencode_web.lib.removals import removing
from sessions.checkouts import operations, rescued_branches
from sessions.checkouts.create import make_checkout
from sessions.checkouts.merge import finish_move, merge
from sessions.checkouts.operations import Repositories
from sessions.checkouts.publishing import head_of, push_to, see, switch
from sessions.checkouts.pulls import open_request, refresh_requests
from sessions.checkouts.repository import (
    CheckoutError,
    Repository,
    open_checkout,
    open_project,
    open_store,
)
from sessions.checkouts.rescue import rescue_ref
from sessions.checkouts.rows import (
    begin_job,
    end_discard,
    end_job,
    find_checkout,
    mark_made,
    note_head,
    note_rescued,
    person_of,
    report_job,
    wanted_of,
)
from sessions.events.checkout_reasons import CheckoutReason as Why
from sessions.forges.adapter import ForgeError
from sessions.git.lost_starts import counted_start
from sessions.git.places import locked, project_home, store_of
from sessions.models import Checkout
from sessions.publish_settings import publishing_of
from sessions.terminals.life import end_terminals_in
from sessions.wake import signal_servers

logger = logging.getLogger(__name__)

# That the programs of terminals take at most to go, once they are told.
_TERMINALS_S = 10.0

Job = Checkout.Job
# After these, files that rows have named until then are gone.
_REMOVING = frozenset({Job.DROP, Job.DISCARD})
State = Checkout.State


def start_job(checkout_id: str, *, sealed_credential: str = "") -> Future[None]:
    """Begin on the process's own loop, without a thread that waits for it."""
    started = submit(run_job(checkout_id, sealed_credential=sealed_credential))
    started.add_done_callback(lambda done: _log_failure(checkout_id, done))
    return started


def _log_failure(checkout_id: str, done: Future[None]) -> None:
    # A cancel means that this worker stops. Either way `wake_checkouts` rings again.
    if not done.cancelled() and (failure := done.exception()):
        logger.error("checkout.crashed checkout=%s", checkout_id, exc_info=failure)


async def run_job(checkout_id: str, *, sealed_credential: str = "") -> None:
    """Do the job of a row, unless that is done already."""
    first = await in_db(find_checkout, checkout_id)
    if first is None or not first.job:
        return
    # While a backup is made nothing is removed, and `wake_checkouts` rings again.
    with removing() if first.job in _REMOVING else nullcontext(True) as may_run:
        if may_run:
            await _run_alone(first, sealed_credential)


async def _run_alone(first: Checkout, sealed_credential: str) -> None:
    checkout_id = first.pk
    async with locked(_home_of(first), "checkout"):
        # Again: whoever had the lock before may have done it.
        checkout = await in_db(find_checkout, checkout_id)
        if checkout is None or not checkout.job:
            return
        started, job = time.monotonic(), checkout.job
        outcome = "done"
        try:
            if not await in_db(begin_job, checkout):
                await in_db(end_job, checkout, Cause(Why.TURN_BEGAN), failed=True)
                return
            with counted_start(_home_of(checkout), "checkout") as is_hopeless:
                if is_hopeless:
                    raise CheckoutError(Why.LOST)
                await _do(checkout, sealed_credential)
        except (CheckoutError, ForgeError) as exc:
            outcome = "refused"
            await in_db(end_job, checkout, exc.told, failed=True)
        except OSError as exc:
            outcome = "failed"
            logger.exception("checkout.failed checkout=%s job=%s", checkout_id, job)
            told = Cause(Why.SERVER_FAULT, {"why": str(exc.strerror)})
            await in_db(end_job, checkout, told, failed=True)
        except Error:
            raise  # a database that is away comes back
        except Exception:  # the edge of a Celery task: it would be repeated at every ring
            outcome = "crashed"
            logger.exception("checkout.crashed checkout=%s job=%s", checkout_id, job)
            # Under the lock: whoever waits for it would begin the same job.
            await in_db(end_job, checkout, Cause(Why.CRASHED), failed=True)
    logger.info(
        "checkout.ended checkout=%s job=%s outcome=%s ms=%d",
        *(checkout_id, job, outcome, (time.monotonic() - started) * 1000),
    )


def _home_of(checkout: Checkout) -> Path:
    if checkout.state == State.PROJECT:
        return project_home(checkout.project_id)
    return Path(checkout.folder).parent


async def _do(checkout: Checkout, sealed_credential: str) -> None:
    if checkout.job in _WITHOUT_LOCK:
        await _WITHOUT_LOCK[Job(checkout.job)](checkout)
        return
    async with locked(project_home(checkout.project_id), "store"):
        if checkout.job in _RESCUED:
            await _RESCUED[Job(checkout.job)](checkout)
            return
        if checkout.job == Job.DROP and not Path(checkout.folder).is_dir():
            await _dropped(checkout)
            return
        repositories = await open_all(checkout)
        await _ACTIONS[Job(checkout.job)](checkout, repositories, sealed_credential)


async def open_all(checkout: Checkout) -> Repositories:
    """The repositories of a checkout. Raises: CheckoutError."""
    if checkout.state == State.PROJECT:
        project = await open_project(checkout.project.directory)
        store = await open_store(checkout.project_id, project.object_format)
        return Repositories(project, store, project)
    folder = Path(checkout.folder)
    if not folder.is_dir():
        raise CheckoutError(Why.FOLDER_GONE)
    project = await open_project(checkout.project.directory)
    store = Repository(store_of(checkout.project_id), object_format=project.object_format)
    own = open_checkout(checkout.project_id, folder, project.object_format)
    return Repositories(project, store, own)


async def _look(checkout: Checkout) -> None:
    # Beside it, and not under the lock that others wait for: a forge may be slow.
    refreshing = asyncio.create_task(refresh_requests(checkout))
    try:
        async with locked(project_home(checkout.project_id), "store"):
            repositories = await open_all(checkout)
            if checkout.state != State.PROJECT:
                await finish_move(repositories)
            looked, seen = await see(checkout, repositories)
    finally:
        await refreshing
    await in_db(end_job, checkout, "", looked=looked, survey=seen)


async def _commit(checkout: Checkout, repositories: Repositories, sealed: str) -> None:
    own = repositories.checkout
    before = checkout.job_data.get("head")
    head = await own.find("HEAD")
    if before and head and head != before:
        # A worker made it and died.
        await _end(checkout, repositories, Cause(Why.COMMITTED, {"commit": head[:10]}))
        return
    await in_db(note_head, checkout, head or "")
    person = person_of(checkout.job_by)
    paths = checkout.job_data.get("paths")
    made = await operations.commit(
        own,
        message=str(checkout.job_data["message"]),
        person=person,
        paths=None if paths is None else [str(path) for path in paths],
        staged=bool(checkout.job_data.get("staged")),
        alone=checkout.state != State.PROJECT,
    )
    await _end(checkout, repositories, Cause(Why.COMMITTED, {"commit": made[:10]}))


async def _switch(checkout: Checkout, repositories: Repositories, sealed: str) -> None:
    name, rename = str(checkout.job_data["name"]), checkout.job == Job.RENAME
    await switch(checkout, repositories, name, rename=rename)
    await _end(checkout, repositories, Cause(Why.SWITCHED, {"branch": name}))


async def _merge(checkout: Checkout, repositories: Repositories, sealed: str) -> None:
    base = checkout.base_branch
    await finish_move(repositories)
    if checkout.job_begun and await operations.is_merged(repositories, base):
        await _end(checkout, repositories, Cause(Why.MERGED, {"branch": base}))
        return
    merged = await merge(
        repositories,
        base,
        head=await head_of(checkout, repositories),
        person=person_of(checkout.job_by),
        message=f"Merge branch '{checkout.branch}'\n\n{checkout.title}",
    )
    how = Why.FORWARDED if merged.forwarded else Why.MERGE_COMMITTED
    told = Cause(how, {"branch": base})
    if left := await operations.count_dirty(repositories.checkout):
        told = Cause(Why.MERGED_LEFT, {"said": told, "count": left})
    await _end(checkout, repositories, told)


async def _push(checkout: Checkout, repositories: Repositories, sealed: str) -> None:
    if checkout.job_data.get("sealed") and not sealed:
        raise CheckoutError(Why.PUSH_CUT)
    branch = await push_to(checkout, repositories, str(checkout.job_data["url"]), sealed)
    await _end(checkout, repositories, Cause(Why.PUSHED, {"branch": branch}))


async def _request(checkout: Checkout) -> None:
    """Push what is not pushed, then open the pull request, without the lock."""
    url = (await in_db(publishing_of, checkout.project)).url
    async with locked(project_home(checkout.project_id), "store"):
        repositories = await open_all(checkout)
        head = await head_of(checkout, repositories)
        branch = checkout.branch or await repositories.checkout.branch()
        if (head, branch) != (checkout.pushed_head, checkout.pushed_branch):
            branch = await push_to(checkout, repositories, url, "")
        looked, seen = await see(checkout, repositories)
    await in_db(report_job, checkout, Cause(Why.ASKING_FORGE))
    said = await open_request(checkout, branch)
    await in_db(end_job, checkout, said, looked=looked, survey=seen)


async def _end_terminals(checkout: Checkout) -> None:
    """What runs in the folder would go on writing into it."""
    await in_db(signal_servers)
    for pid in await in_db(end_terminals_in, checkout.folder):
        until = time.monotonic() + _TERMINALS_S
        while Path(f"/proc/{pid}").exists() and time.monotonic() < until:
            await asyncio.sleep(0.05)


async def _drop(checkout: Checkout, repositories: Repositories, sealed: str) -> None:
    await _end_terminals(checkout)
    rescued = await operations.secure(
        repositories,
        session_id=checkout.pk,
        base_branch=checkout.base_branch,
        title=checkout.title,
    )
    await in_db(note_rescued, checkout, rescued)
    await asyncio.to_thread(operations.remove_folder, Path(checkout.folder))
    await _dropped(checkout)


async def _dropped(checkout: Checkout) -> None:
    """The folder is gone."""
    if checkout.rescued:
        told = Cause(Why.RESCUED, {"ref": rescue_ref(checkout.pk)})
        await in_db(end_job, checkout, told, state=State.RESCUED)
    else:
        await in_db(end_job, checkout, Cause(Why.DROPPED), state=State.DROPPED)


async def _restore(checkout: Checkout) -> None:
    wanted = await in_db(wanted_of, checkout)
    made = await make_checkout(wanted, _unheard)
    await in_db(mark_made, checkout, made)
    async with locked(project_home(checkout.project_id), "store"):
        await _end(checkout, await open_all(checkout), Cause(Why.RESTORED), state=State.READY)


async def _branch(checkout: Checkout) -> None:
    name = str(checkout.job_data["name"])
    project = await open_project(checkout.project.directory)
    await rescued_branches.put_on_branch(project, checkout.rescued, name)
    await in_db(end_job, checkout, Cause(Why.ON_BRANCH, {"branch": name}))


async def _discard(checkout: Checkout) -> None:
    project = await open_project(checkout.project.directory)
    store = Repository(store_of(checkout.project_id), object_format=project.object_format)
    await rescued_branches.forget(project, store, checkout.pk)
    await in_db(end_discard, checkout)


async def _unheard(_: Cause) -> None:
    return


async def _end(
    checkout: Checkout, repositories: Repositories, told: Cause, *, state: State | None = None
) -> None:
    looked, seen = await see(checkout, repositories)
    await in_db(end_job, checkout, told, looked=looked, state=state, survey=seen)


_ACTIONS: dict[Job, Callable[[Checkout, Repositories, str], Awaitable[None]]] = {
    Job.COMMIT: _commit,
    Job.MERGE: _merge,
    Job.PUSH: _push,
    Job.SWITCH: _switch,
    Job.RENAME: _switch,
    Job.DROP: _drop,
}
_WITHOUT_LOCK: dict[Job, Callable[[Checkout], Awaitable[None]]] = {
    Job.LOOK: _look,
    Job.REQUEST: _request,
    Job.RESTORE: _restore,
}
_RESCUED: dict[Job, Callable[[Checkout], Awaitable[None]]] = {
    Job.BRANCH: _branch,
    Job.DISCARD: _discard,
}
