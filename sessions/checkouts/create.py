"""Make the files of a session: its own branch on a commit of the project."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path

from opencode_web.lib.reasons import Cause
from sessions.checkouts.fetch import Remote, fetch
from sessions.checkouts.repository import (
    CheckoutError,
    NoCheckouts,
    Person,
    Repository,
    open_checkout,
    open_project,
    open_store,
)
from sessions.checkouts.rescue import BASE_REF, Rescued
from sessions.events.checkout_reasons import CheckoutReason as Why
from sessions.git.places import locked, project_home, store_of

# No folder of a session is ever named like this.
DRAFT = ".draft-"
GONE = ".gone-"

Report = Callable[[Cause], Awaitable[None]]


@dataclass(frozen=True)
class Wanted:
    """What is to be made. `base` is a branch, or empty for what the project has checked out.

    `base_commit` goes before it, where the store still has it. `rescued` and `seed` are states of
    files that it starts with: a rescued one, and a tree in a shadow repository, (git dir, hash).
    """

    project_id: str
    session_id: str
    directory: str
    folder: Path
    branch: str
    base: str
    person: Person
    base_commit: str = ""
    origin: str = ""
    rescued: Rescued | None = None
    seed: tuple[Path, str] | None = None
    # The ref that has `base_commit`, and where: it is fetched if the store has it not.
    fetch: str = ""
    remote: Remote | None = None


@dataclass(frozen=True)
class Made:
    """The branch that it starts from, empty where the project is on none, and the commit."""

    base_branch: str
    base: str


async def make_checkout(wanted: Wanted, report: Report) -> Made:
    """Make the folder, all or nothing. What is there already is left as it is.

    Raises: NoCheckouts when the project cannot have any; CheckoutError when it could not be made.
    """
    project = await open_project(wanted.directory)
    home = project_home(wanted.project_id)
    async with locked(home, "store"):
        made = await _start_of(project, wanted)
        store = await open_store(wanted.project_id, project.object_format)
        if await store.find(made.base) is None:
            await report(Cause(Why.READING))
        await project.send(made.base, store, known=await known_commits(store))
        await _fetch(store, wanted, report)
        if wanted.base_commit and await store.find(wanted.base_commit):
            made = replace(made, base=wanted.base_commit)
        await store.ask(*_set_ref(f"{BASE_REF}{wanted.session_id}", made.base), writes=True)
    if wanted.folder.is_dir():
        return made
    await report(Cause(Why.WRITING))
    parent = wanted.folder.parent
    await asyncio.to_thread(parent.mkdir, mode=0o700, parents=True, exist_ok=True)
    await asyncio.to_thread(clear_drafts, parent)
    draft = Path(tempfile.mkdtemp(prefix=DRAFT, dir=parent))
    try:
        await _fill(draft, wanted, made, store)
        await asyncio.to_thread(draft.rename, wanted.folder)
    except OSError as exc:
        raise CheckoutError(Why.DISK, why=str(exc.strerror)) from exc
    finally:
        await asyncio.shield(asyncio.to_thread(shutil.rmtree, draft, ignore_errors=True))
    return made


async def known_commits(store: Repository) -> list[str]:
    """What the store has, so that it is not sent again."""
    said = await store.ask("for-each-ref", "--format=%(objectname)", "--count=200")
    return list(dict.fromkeys(said.split()))


async def _start_of(project: Repository, wanted: Wanted) -> Made:
    try:
        return await _find_base(project, wanted.base)
    except NoCheckouts:
        raise
    except CheckoutError:
        # Rescued work can be restored even if the branch that it came from is gone, and a pull
        # request can go into one that was never fetched.
        if wanted.rescued is not None:
            return Made(wanted.base, wanted.rescued.head)
        if not wanted.fetch:
            raise
        return replace(await _find_base(project, ""), base_branch=wanted.base)


async def _find_base(project: Repository, wanted: str) -> Made:
    if wanted:
        for name in (f"refs/heads/{wanted}", f"refs/remotes/origin/{wanted}"):
            if commit := await project.find(name):
                return Made(wanted, commit)
        raise CheckoutError(Why.NO_BRANCH, branch=wanted)
    commit = await project.find("HEAD")
    if commit is None:
        raise NoCheckouts(Why.NOTHING_TO_START)
    return Made(await project.branch(), commit)


async def _fetch(store: Repository, wanted: Wanted, report: Report) -> None:
    """Raises: CheckoutError, also where the ref has moved on to a commit without the wanted one."""
    if not wanted.fetch or wanted.remote is None or await store.find(wanted.base_commit):
        return
    await report(Cause(Why.FETCHING))
    await fetch(store, wanted.remote, wanted.fetch, keep_as=f"{BASE_REF}{wanted.session_id}")
    if await store.find(wanted.base_commit) is None:
        raise CheckoutError(Why.NO_SUCH_COMMIT, commit=wanted.base_commit[:12])


def _set_ref(name: str, commit: str) -> tuple[str, ...]:
    return ("update-ref", "--no-deref", name, commit)


async def _fill(draft: Path, wanted: Wanted, made: Made, store: Repository) -> None:
    checkout = open_checkout(wanted.project_id, draft, store.object_format)
    await checkout.init(f"--initial-branch={wanted.branch}")
    alternates = checkout.git_dir / "objects" / "info" / "alternates"
    # Nobody else has seen this folder yet.
    objects = store_of(wanted.project_id) / "objects"
    await asyncio.to_thread(alternates.parent.mkdir, exist_ok=True)
    await asyncio.to_thread(alternates.write_text, f"{objects}\n")
    start = wanted.rescued or await _seeded(wanted, made.base, store)
    head = start.head
    await asyncio.to_thread(_write_config, checkout.git_dir / "config", wanted)
    refs = {f"refs/heads/{made.base_branch or wanted.branch}": made.base}
    refs[f"refs/heads/{wanted.branch}"] = head
    given = "".join(f"update {name} {commit}\n" for name, commit in refs.items())
    await checkout.ask("update-ref", "--stdin", writes=True, given=given.encode())
    await checkout.ask("reset", "--quiet", "--hard", head, writes=True)
    if start.commit != head:
        await checkout.ask("read-tree", "--reset", "-u", start.commit, writes=True)
        await checkout.ask("reset", "--quiet", "--mixed", head, writes=True)


async def _seeded(wanted: Wanted, base: str, store: Repository) -> Rescued:
    """The files of a snapshot over `base`; only `base` where the snapshot is not kept any more."""
    if wanted.seed is None or not wanted.seed[0].is_dir():
        return Rescued(base, base)
    shadow, tree = Repository(wanted.seed[0], object_format=store.object_format), wanted.seed[1]
    try:
        person = wanted.person.environment()
        said = await shadow.ask("commit-tree", tree, "-m", "Seed", writes=True, extra=person)
    except CheckoutError:
        return Rescued(base, base)
    await shadow.send(said.strip(), store)
    return Rescued(said.strip(), base)


def _write_config(config: Path, wanted: Wanted) -> None:
    """Say in whose name the agent commits, and where the project came from."""
    lines = ["[user]", f"\tname = {_quoted(wanted.person.name)}"]
    lines.append(f"\temail = {_quoted(wanted.person.email)}")
    if wanted.origin:
        lines += ['[remote "origin"]', f"\turl = {_quoted(wanted.origin)}"]
    # Our own git has just made the file.
    with config.open("a", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def _quoted(value: str) -> str:
    """A value as git reads it back from a config file."""
    plain = re.sub(r"[\x00-\x1f\x7f]", " ", value)
    return '"' + plain.replace("\\", "\\\\").replace('"', '\\"') + '"'


def clear_drafts(parent: Path) -> None:
    """Remove what a dead worker left half made or half removed. Only for who holds the lock."""
    for pattern in (f"{DRAFT}*", f"{GONE}*"):
        for left in parent.glob(pattern):
            remove_tree(left)


def remove_tree(top: Path) -> None:
    """Remove a folder with all that is in it, also what a command has made unwritable."""
    os.chmod(top, stat.S_IRWXU)  # noqa: PTH101  as below, where Path has no dir_fd
    for _, names, _, folder in os.fwalk(top, follow_symlinks=False):
        for name in names:
            if not stat.S_ISLNK(os.lstat(name, dir_fd=folder).st_mode):
                os.chmod(name, stat.S_IRWXU, dir_fd=folder)
    shutil.rmtree(top)
