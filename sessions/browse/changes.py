"""What git says about the files of a folder: changed since the last commit, or since its branch
began."""

from __future__ import annotations

import asyncio
import os
import re
import stat
from dataclasses import replace
from typing import Literal

from django.utils.translation import gettext as _
from typing_extensions import TypedDict

from opencode_web.lib.errors import Invalid, Unavailable
from sessions.browse.file_scope import FileScope
from sessions.checkouts.repository import CheckoutError, Repository
from sessions.git.branch import MAIN_BRANCHES
from sessions.git.snapshot_diffs import (
    MAX_PATCH_CHARS,
    MAX_PATCHES_BYTES,
    FileChange,
    Listing,
    cut_patch,
    read_changes,
    split_patches,
    with_patches,
)
from tools.errors import ToolError
from tools.files.file_kind import SAMPLE_BYTES, is_binary
from tools.files.put_back import NotPutBack, read_entry
from tools.paths import Located, read_bytes, stat_located
from tools.text_file import displayable

Mode = Literal["git", "branch"]

MAX_CHANGES = 2_000
MAX_CONTEXT = 100_000
_MAX_NEW_BYTES = 512 * 1024
_DIFF = (
    "diff",
    "--no-renames",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--submodule=short",
)
# git treats larger ones as binary, so it does not read them as a whole to compare them.
BIG_FILES = ("-c", "core.bigFileThreshold=2m")
# Files that git does not know.
OTHERS = ("ls-files", "--others", "--exclude-standard", "-z")
# Names are names, whatever characters they have.
LITERAL_NAMES = {"GIT_LITERAL_PATHSPECS": "1"}
_GLOB_SIGNS = re.compile(r"([*?\[\\])")
EMPTY_TREE = {
    "sha1": "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "sha256": "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}
# git would write such a name in a notation of its own.
_UNPRINTABLE = re.compile(r'[\x00-\x1f\x7f"\\]')


class VcsFileStatus(TypedDict):
    """A changed file. Units: lines."""

    file: str
    additions: int
    deletions: int
    status: Literal["added", "deleted", "modified"]


class VcsFileDiff(VcsFileStatus):
    """`patch` is empty for a binary or large file, and for one that you may not read."""

    patch: str


async def list_status(scope: FileScope) -> list[VcsFileStatus]:
    """Returns: `VcsFileStatus[]`, names from the root of the worktree."""
    return [
        {
            "file": displayable(change.file),
            "additions": change.additions,
            "deletions": change.deletions,
            "status": change.status,
        }
        for change in await _changes(scope, "git", patches=False)
    ]


class FileWire(TypedDict):
    """A changed file as the wire has it. Units: lines."""

    path: str
    added: int
    removed: int
    status: Literal["added", "deleted", "modified"]


async def list_files_changed(scope: FileScope) -> list[FileWire]:
    """Returns: names from the directory."""
    return [
        {
            "path": displayable(os.path.relpath(scope.worktree / change.file, scope.directory)),
            "added": change.additions,
            "removed": change.deletions,
            "status": change.status,
        }
        for change in await _changes(scope, "git", patches=False)
    ]


async def list_diffs(scope: FileScope, mode: str, context: int = 3) -> list[VcsFileDiff]:
    """Returns: `VcsFileDiff[]`. A patch is empty for a binary, large or withheld file."""
    if mode not in ("git", "branch"):
        raise Invalid("mode must be git or branch.", kind="Query")
    changes = await _changes(scope, "git" if mode == "git" else "branch", context=context)
    return [
        {
            "file": change.file,
            "status": change.status,
            "additions": change.additions,
            "deletions": change.deletions,
            "patch": change.patch,
        }
        for change in map(_shown, changes)
    ]


async def raw_diff(scope: FileScope) -> str:
    """Returns: one text that `git apply` takes."""
    changes = await _changes(scope, "git")
    return "".join(_shown(change).patch for change in changes)


def exactly(*names: str) -> tuple[str, ...]:
    """Returns: pathspecs of files with these names, without what lies in folders so called."""
    below = (_GLOB_SIGNS.sub(r"\\\1", name) for name in names)
    return (
        *(f":(literal){name}" for name in names),
        *(f":(exclude,glob){name}/**" for name in below),
    )


async def patch_of(scope: FileScope, name: str) -> str:
    """Returns: how one file differs from the last commit; empty where there is no such thing.

    Raises: CheckoutError.
    """
    repository = await scope.find_repository()
    if repository is None:
        return ""
    base = await head_of(repository)
    said = await repository.ask(*BIG_FILES, *_DIFF, base, "--", *exactly(name), cut=True)
    whole = split_patches(said)
    if not whole or "\nBinary files " in whole[0] or len(whole[0]) > MAX_PATCH_CHARS:
        return ""
    return displayable(whole[0])


async def _changes(
    scope: FileScope, mode: Mode, *, context: int = 3, patches: bool = True
) -> list[FileChange]:
    """Raises: Unavailable when git fails."""
    try:
        repository = await scope.find_repository()
        if repository is None:
            return []
        base = await (head_of(repository) if mode == "git" else branch_point(scope, repository))
        if base is None:
            return []
        tracked = await _tracked(repository, base, context=context, patches=patches)
        room = max(0, MAX_CHANGES - len(tracked))
        names = (await repository.first_fields(room, *OTHERS))[0]
    except CheckoutError as exc:
        raise Unavailable(_("Git could not read the files: {why}").format(why=exc)) from exc
    # A folder is a repository of its own.
    files = [name for name in names if not name.endswith("/")]
    added = await asyncio.to_thread(_untracked, scope, files, patches=patches)
    found = sorted([*tracked, *added], key=lambda change: change.file)
    return [
        change if scope.may_read(change.file) else replace(change, patch="") for change in found
    ]


async def _tracked(
    repository: Repository, base: str, *, context: int, patches: bool
) -> list[FileChange]:
    listing = Listing(MAX_CHANGES)
    asked = (*BIG_FILES, *_DIFF, "--raw", "--numstat", "-z", base, "--")
    await listing.read(repository.fields(*asked))
    changes = read_changes(listing.kept)
    if not patches or not changes:
        return [change for change, _ in changes]
    width = f"--unified={min(context, MAX_CONTEXT)}"
    said = await repository.ask(*BIG_FILES, *_DIFF, "--patch", width, base, "--", cut=True)
    return with_patches(changes, split_patches(said))


async def head_of(repository: Repository) -> str:
    """The commit that the files are on; the empty tree before the first one."""
    return await repository.find("HEAD") or EMPTY_TREE[repository.object_format]


async def branch_point(scope: FileScope, repository: Repository) -> str | None:
    """The commit where the branch began; None on the main branch itself."""
    if scope.base:
        return scope.base
    default = await _default_branch(repository)
    if not default or default == await repository.branch():
        return None
    for name in (f"refs/heads/{default}", f"refs/remotes/origin/{default}"):
        tip = await repository.find(name)
        if tip is not None:
            said = await repository.ask("merge-base", tip, "HEAD", fine=(0, 1))
            return said.strip() or None
    return None


async def _default_branch(repository: Repository) -> str:
    said = await repository.ask(
        "symbolic-ref", "-q", "--short", "refs/remotes/origin/HEAD", fine=(0, 1)
    )
    if said.strip():
        return said.strip().removeprefix("origin/")
    refs = [f"refs/heads/{name}" for name in MAIN_BRANCHES]
    listed = await repository.ask("for-each-ref", "--format=%(refname:short)", *refs)
    there = listed.split()
    return next((name for name in MAIN_BRANCHES if name in there), "")


def _untracked(scope: FileScope, names: list[str], *, patches: bool) -> list[FileChange]:
    """Files that git does not know, as it would show them if they were added. Blocks."""
    found: list[FileChange] = []
    left = MAX_PATCHES_BYTES
    root = scope.worktree.resolve()
    for name in names:
        located = Located(root, scope.worktree / name, root / name, name)
        change = new_file(located, name, patch=patches and left > 0)
        if change is not None:
            left -= len(change.patch)
            found.append(change)
    return found


def new_file(located: Located, name: str, *, patch: bool) -> FileChange | None:
    """A file that git does not know, as a change; None when it is not there. Blocks."""
    try:
        status = stat_located(located)
        if status is None:
            return None
        if stat.S_ISLNK(status.st_mode):
            return _new_link(located, name, status, patch=patch)
        data = read_bytes(located, max_bytes=_MAX_NEW_BYTES)
    except (ToolError, OSError, NotPutBack):
        # A device, a large file: it is there, and its content is not shown.
        return FileChange(name, "added", 0, 0, "")
    if is_binary(name, data[:SAMPLE_BYTES]):
        return FileChange(name, "added", 0, 0, "")
    lines = data.decode("utf-8", "replace").split("\n")
    ended = lines[-1] == ""
    count = len(lines) - 1 if ended else len(lines)
    shown = patch and count and not _UNPRINTABLE.search(name)
    text = _as_patch(name, lines[:count], status, ended=ended) if shown else ""
    return FileChange(name, "added", count, 0, cut_patch(text))


def _new_link(located: Located, name: str, status: os.stat_result, *, patch: bool) -> FileChange:
    """Raises: NotPutBack; OSError."""
    found = read_entry(located.root, os.fsencode(name), max_bytes=_MAX_NEW_BYTES)
    target = found[1].decode("utf-8", "replace").split("\n") if found else [""]
    shown = patch and not _UNPRINTABLE.search(name)
    text = _as_patch(name, target, status, ended=False) if shown else ""
    return FileChange(name, "added", len(target), 0, text)


def _as_patch(name: str, lines: list[str], status: os.stat_result, *, ended: bool) -> str:
    mode = "100755" if status.st_mode & stat.S_IXUSR else "100644"
    if stat.S_ISLNK(status.st_mode):
        mode = "120000"
    head = [
        f"diff --git a/{name} b/{name}",
        f"new file mode {mode}",
        "--- /dev/null",
        f"+++ b/{name}",
        f"@@ -0,0 +1{f',{len(lines)}' if len(lines) > 1 else ''} @@",
    ]
    tail = [] if ended else ["\\ No newline at end of file"]
    return "\n".join([*head, *(f"+{line}" for line in lines), *tail]) + "\n"


def _shown(change: FileChange) -> FileChange:
    return replace(change, file=displayable(change.file), patch=displayable(change.patch))
