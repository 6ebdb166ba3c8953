"""Changes of a worktree for a review: a list that is made quickly, then one file at a time.

A file is named from the root of the worktree. Of one that was renamed both names are given.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import posixpath
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypedDict, final

from django.utils.translation import gettext as _

from opencode_web.lib.errors import Forbidden, NotFound, Unavailable
from sessions.browse.changes import (
    BIG_FILES,
    LITERAL_NAMES,
    OTHERS,
    exactly,
    new_file,
)
from sessions.browse.compared import Compared, Nothing, find_compared
from sessions.browse.file_scope import FileScope
from sessions.browse.index import NOTHING_STAGED, Staged, staged_blobs, staged_of
from sessions.checkouts.repository import CheckoutError, Repository
from sessions.git.snapshot_diffs import RENAME_LIMIT, FileChange, Listing, whole_lines
from tools.errors import ToolError
from tools.files.file_kind import SAMPLE_BYTES, attachment_mime, is_binary
from tools.paths import Located, open_file, stat_located
from tools.text_file import displayable

Letter = Literal["added", "modified", "deleted", "renamed"]

# More are counted and not listed.
MAX_FILES = 10_000
_MAX_NAME_CHARS = 1_000_000
# Of files that git does not know: each is opened to count its lines.
_MAX_NEW = 2_000
# Of a file that is hashed: a mark on a larger one is lost when it is touched.
_MAX_HASHED_BYTES = 4 * 1024 * 1024
# Nothing is left out of a file that has so many lines.
MAX_CONTEXT = 1_000_000
# Larger pictures are not compared.
MAX_PICTURE_BYTES = 3 * 1024 * 1024
_DIFF = (
    *("diff", "-M", RENAME_LIMIT, "--no-ext-diff", "--no-textconv", "--no-color"),
    "--submodule=short",
)
_LETTERS: dict[str, Letter] = {"A": "added", "D": "deleted", "R": "renamed"}


@dataclass(frozen=True)
class _Change:
    """`stamp` differs when the file was written; `digest` when something else is in it."""

    file: str
    old: str
    status: Letter
    additions: int
    deletions: int
    binary: bool
    large: bool = False
    blob: str = ""
    # What git's index has of it, where that differs from the last commit.
    staged: str = ""
    # In a commit, whatever has become of the file since.
    is_kept: bool = False
    stamp: str = ""
    digest: str = ""


class ReviewFile(TypedDict):
    """`stamp` and `digest` as of a change. Units: lines."""

    file: str
    old: str
    status: str
    additions: int
    deletions: int
    binary: bool
    large: bool
    stamp: str
    digest: str


class Review(TypedDict):
    """`main`: there is no branch to compare with. `more` counts files that are not listed, `staged`
    those of which something is staged for the next commit. `commit` is the one that is looked at.
    """

    state: Literal["ok"] | Nothing
    files: list[ReviewFile]
    more: int
    staged: int
    commit: str


class ReviewDiff(TypedDict):
    """The change of one file. `staged` and `unstaged` are patches without lines around them: from
    the last commit to what is staged, and from there to the file. Empty where nothing is."""

    status: str
    old: str
    binary: bool
    large: bool
    patch: str
    staged: str
    unstaged: str
    stamp: str
    digest: str


@final
class Picture(TypedDict):
    """`content` is base64."""

    mime: str
    content: str


async def list_review(scope: FileScope, mode: str, hashed: list[str]) -> Review:
    """List what has changed; `mode` as `find_compared` has it.

    Only the files of `hashed` have a digest. Raises: Unavailable when git fails.
    """
    try:
        repository = await scope.find_repository()
        compared = await find_compared(scope, repository, mode)
        if repository is None or not isinstance(compared, Compared):
            state = "no-git" if isinstance(compared, Compared) else compared
            return {"state": state, "files": [], "more": 0, "staged": 0, "commit": ""}
        listing = ("--raw", "--numstat", "-z", "--no-abbrev", *compared.revisions, "--")
        tracked = Listing(MAX_FILES, _MAX_NAME_CHARS)
        _, (names, unlisted), staged = await asyncio.gather(
            tracked.read(repository.fields(*BIG_FILES, *_DIFF, *listing)),
            _others(repository, compared),
            _staged(repository, compared),
        )
    except CheckoutError as exc:
        raise Unavailable(_("Git could not read the files: {why}").format(why=exc)) from exc
    new = [name for name in names if not name.endswith("/")]
    listed = (
        replace(change, staged=staged.get(change.file, ""), is_kept=bool(compared.new))
        for change in _read_listing(tracked.kept)
    )
    found = sorted(listed, key=lambda change: change.file)
    room = max(0, MAX_FILES - len(found))
    files = await asyncio.to_thread(_look, scope, found, new[:room], set(hashed))
    more = tracked.total + len(new) + unlisted - len(files)
    shown = [_shown(change) for change in sorted(files, key=lambda change: change.file)]
    renamed = {change.old for change in found if change.staged}
    return {
        "state": "ok",
        "files": shown,
        "more": max(0, more),
        "staged": len(staged.keys() - renamed),
        "commit": compared.new,
    }


async def _others(repository: Repository, compared: Compared) -> tuple[list[str], int]:
    return ([], 0) if compared.new else await repository.first_fields(_MAX_NEW, *OTHERS)


async def _staged(repository: Repository, compared: Compared) -> dict[str, str]:
    return await staged_blobs(repository, compared.old) if compared.has_index else {}


async def diff_file(
    scope: FileScope, mode: str, file: str, old: str = "", *, spaces: bool = True, context: int = 3
) -> ReviewDiff:
    """Compare one file. Without `spaces`, lines that differ in nothing else are the same.

    Raises: Forbidden by the rules of the project; NotFound where there is nothing to compare;
    Unavailable when git fails.
    """
    names = apart(*readable_names(scope, file, old))
    options = diff_options(spaces=spaces, context=context)
    try:
        repository, compared = await _opened(scope, mode)
        revisions = compared.revisions
        listing = ("--raw", "--numstat", "-z", "--no-abbrev", *revisions, "--")
        tracked = await repository.ask(*BIG_FILES, *_DIFF, *listing, *exactly(*names))
        change = next((one for one in _read_listing(tracked.split("\0")) if one.file == file), None)
        if change is None:
            others = await repository.ask(*OTHERS, "--", file, extra=LITERAL_NAMES)
            if compared.new or file not in others.split("\0"):
                raise NotFound("Changed file", file)
            return await asyncio.to_thread(_new_diff, scope, file)
        # Not of a name that somebody took for the old one.
        own = exactly(file, *([change.old] if change.old else []))
        said, staged = await asyncio.gather(
            repository.ask(*BIG_FILES, *_DIFF, *options, *revisions, "--", *own, cut=True),
            _staged_of(repository, compared, file, change.old),
        )
    except CheckoutError as exc:
        raise Unavailable(_("Git could not read the file: {why}").format(why=exc)) from exc
    change = replace(change, staged=staged.blob, is_kept=bool(compared.new))
    patch = "" if change.binary else whole_lines(said)
    return await asyncio.to_thread(_to_diff, scope, change, patch, staged)


async def _staged_of(repository: Repository, compared: Compared, file: str, old: str) -> Staged:
    if not compared.has_index:
        return NOTHING_STAGED
    return await staged_of(repository, compared.old, file, old)


async def old_picture(scope: FileScope, mode: str, file: str, *, after: bool = False) -> Picture:
    """Returns: a picture as it was; `after`: as the commit that is looked at has it.

    Raises: NotFound, also for what is no picture; Forbidden; Unavailable when git fails.
    """
    (name,) = readable_names(scope, file)
    try:
        repository, compared = await _opened(scope, mode)
        commit = compared.new if after else compared.old
        said = await repository.ask("cat-file", "blob", f"{commit}:{name}", cut=True)
    except CheckoutError as exc:
        raise NotFound("Picture", file) from exc
    return tell_picture(scope, said.encode("utf-8", "surrogateescape"), file)


def tell_picture(scope: FileScope, data: bytes, file: str) -> Picture:
    """Raises: NotFound for what is no small picture; as `FileScope.encode`."""
    mime = attachment_mime(data[:SAMPLE_BYTES])
    if mime is None or not mime.startswith("image/") or len(data) > MAX_PICTURE_BYTES:
        raise NotFound("Picture", file)
    return {"mime": mime, "content": scope.encode(data, file)}


def diff_options(*, spaces: bool, context: int) -> tuple[str, ...]:
    """What git is told of a diff that somebody looks at."""
    return (f"--unified={min(context, MAX_CONTEXT)}", *(() if spaces else ("-w",)))


async def _opened(scope: FileScope, mode: str) -> tuple[Repository, Compared]:
    repository = await scope.find_repository()
    compared = await find_compared(scope, repository, mode)
    if repository is None or not isinstance(compared, Compared):
        raise NotFound("Changes")
    return repository, compared


def readable_names(scope: FileScope, file: str, old: str = "") -> list[str]:
    """Returns: these names of files of the worktree.

    Raises: Forbidden by the rules of the project; NotFound for what is no such name.
    """
    names = [name for name in (file, old) if name]
    for name in names:
        # git also takes the name of a folder, and other spellings than the rules know of.
        is_plain = name not in (".", "..") and posixpath.normpath(name) == name
        if not is_plain or name.startswith(("/", "../")) or "\0" in name:
            raise NotFound("File", name[:100])
        if not scope.may_read(name):
            raise Forbidden(_("The project's rules do not allow you to read this file."))
    if not file:
        raise NotFound("File")
    return names


def apart(file: str, old: str = "") -> list[str]:
    """Without the old name where one is below the other: that of a folder stands for all in it."""
    below = f"{file}/".startswith(f"{old}/") or f"{old}/".startswith(f"{file}/")
    return [file] if not old or below else [file, old]


def _read_listing(listed: Iterable[str]) -> Iterator[_Change]:
    """What `--raw --numstat -z` says: first all of the one kind, then of the other."""
    raw = dict[str, tuple[Letter, str, str]]()
    fields = iter(listed)
    for field in fields:
        if field.startswith(":"):
            _, _, blob, _, letter = field.split(" ")
            name = old = next(fields)
            if letter[0] in "RC":
                name = next(fields)
            raw[name] = (_LETTERS.get(letter[0], "modified"), old if name != old else "", blob)
        elif field:
            added, removed, name = field.split("\t", 2)
            if not name:
                next(fields)
                name = next(fields)
            status, old, blob = raw.get(name, ("modified", "", ""))
            plus, minus = (int(count) if count.isdecimal() else 0 for count in (added, removed))
            yield _Change(name, old, status, plus, minus, binary=added == "-", blob=blob)


def _look(
    scope: FileScope, tracked: Sequence[_Change], new: Sequence[str], hashed: set[str]
) -> list[_Change]:
    """With what only the files themselves say. Blocks."""
    found = []
    for change in (*tracked, *_untracked(scope, new)):
        stamped = replace(change, stamp=_stamp(scope, change))
        if displayable(change.file) in hashed:
            stamped = replace(stamped, digest=_digest(scope, change))
        found.append(stamped)
    return found


def _untracked(scope: FileScope, names: Sequence[str]) -> Iterator[_Change]:
    for name in names:
        change = new_file(_located(scope, name), name, patch=False)
        if change is not None:
            binary, large = _kind_of(_located(scope, name), change)
            yield _Change(name, "", "added", change.additions, 0, binary=binary, large=large)


def _new_diff(scope: FileScope, name: str) -> ReviewDiff:
    change = new_file(_located(scope, name), name, patch=True)
    if change is None:
        raise NotFound("Changed file", displayable(name))
    binary, large = _kind_of(_located(scope, name), change)
    return _to_diff(
        scope, _Change(name, "", "added", 0, 0, binary=binary, large=large), change.patch
    )


def _kind_of(located: Located, change: FileChange) -> tuple[bool, bool]:
    """Returns: whether a new file has no lines because of what is in it, or because of its size."""
    if change.additions:
        return False, False
    try:
        with open_file(located) as fd, open(fd, "rb", closefd=False) as file:
            sample = file.read(SAMPLE_BYTES)
    except (ToolError, OSError):
        return True, False
    binary = bool(sample) and is_binary(located.relative, sample)
    return binary, bool(sample) and not binary


def _to_diff(
    scope: FileScope, change: _Change, patch: str, staged: Staged = NOTHING_STAGED
) -> ReviewDiff:
    return {
        "status": change.status,
        "old": displayable(change.old),
        "binary": change.binary,
        "large": change.large,
        "patch": displayable(patch),
        "staged": displayable(staged.patch),
        "unstaged": displayable(staged.rest),
        "stamp": _stamp(scope, change),
        "digest": _digest(scope, change),
    }


def _located(scope: FileScope, name: str) -> Located:
    root = scope.worktree.resolve()
    return Located(root, scope.worktree / name, root / name, name)


def _stamp(scope: FileScope, change: _Change) -> str:
    try:
        status = None if change.is_kept else stat_located(_located(scope, change.file))
    except (ToolError, OSError):
        status = None
    written = f"{status.st_mtime_ns}.{status.st_size}" if status else "gone"
    return hashlib.sha256(f"{change.blob}.{change.staged}.{written}".encode()).hexdigest()[:16]


def _digest(scope: FileScope, change: _Change) -> str:
    """What is compared, as one value: what it was, and what is there now."""
    if change.is_kept:
        return _stamp(scope, change)
    digest = hashlib.sha256(f"{change.blob}\0".encode())
    try:
        with (
            open_file(_located(scope, change.file)) as fd,
            open(fd, "rb", closefd=False) as file,
        ):
            if os.fstat(fd).st_size > _MAX_HASHED_BYTES:
                return _stamp(scope, change)
            digest.update(file.read(_MAX_HASHED_BYTES + 1))
    except (ToolError, OSError):
        digest.update(b"gone")
    return digest.hexdigest()


def _shown(change: _Change) -> ReviewFile:
    return {
        "file": displayable(change.file),
        "old": displayable(change.old),
        "status": change.status,
        "additions": change.additions,
        "deletions": change.deletions,
        "binary": change.binary,
        "large": change.large,
        "stamp": change.stamp,
        "digest": change.digest,
    }
