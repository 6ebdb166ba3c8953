"""What git says about the differences of two trees, as values for people."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Collection, Iterable
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Literal

from opencode_web.lib.json import JsonObject

MAX_PATCH_CHARS = 200_000
MAX_PATCHES_BYTES = 4 * 1024 * 1024
# What is named of very many files; the counts are always whole.
MAX_FILES = 2_000
MAX_NAME_CHARS = 200_000
# Exact renames are always found; of similar files only among so many, as each is compared to each.
RENAME_LIMIT = "-l200"


@dataclass(frozen=True)
class FileChange:
    """One changed file between two snapshots.

    `patch` is a unified diff, empty for a binary file and for a large one. `old`: the name that it
    had before.
    """

    file: str
    status: Literal["added", "modified", "deleted"]
    additions: int
    deletions: int
    patch: str
    old: str = ""

    @property
    def kind(self) -> str:
        """The status, also of renames."""
        return "renamed" if self.old else self.status

    def to_wire(self) -> JsonObject:
        """Returns: `SnapshotFileDiff`; of a rename, which it does not know, with the `old` name."""
        return {
            **({"old": self.old} if self.old else {}),
            "file": self.file,
            "status": self.kind,
            "additions": self.additions,
            "deletions": self.deletions,
            "patch": self.patch,
        }


@dataclass(frozen=True)
class Changes:
    """The changed files between two snapshots: the first by name, and the counts of all.

    `renames` tell of two of the files in one.
    """

    files: list[FileChange]
    total: int = 0
    additions: int = 0
    deletions: int = 0
    renames: list[FileChange] = field(default_factory=list)

    def rest(self) -> JsonObject:
        """Returns: the counts of those that are not among the files; empty without any."""
        if self.total == len(self.files):
            return {}
        return {
            "files": self.total - len(self.files),
            "additions": self.additions - sum(one.additions for one in self.files),
            "deletions": self.deletions - sum(one.deletions for one in self.files),
        }


@dataclass(frozen=True)
class Names:
    """The names of changed files: the first, and how many there are beside them."""

    names: list[str]
    more: int = 0


@dataclass
class Listing:
    """What `--raw --numstat -z` says, however much: the first files of both, and counts of all.

    `only`: nothing else is counted.
    """

    most: int
    most_chars: int = MAX_NAME_CHARS
    only: Collection[str] | None = None
    kept: list[str] = field(default_factory=list)
    total: int = 0
    additions: int = 0
    deletions: int = 0
    # Files and characters that there is room for, of each of both.
    _room: dict[bool, tuple[int, int]] = field(default_factory=dict)
    _open: list[str] = field(default_factory=list)
    # How many are still to come of what is open.
    _names: int = 0

    async def read(self, said: AsyncGenerator[list[str]]) -> None:
        async with aclosing(said):
            async for fields in said:
                for one in fields:
                    self._take(one)

    def _take(self, one: str) -> None:
        if one or self._names:
            self._open.append(one)
        if self._names:
            self._names -= 1
        elif one.startswith(":"):
            # A file that was renamed has two names.
            self._names = 2 if one.rpartition(" ")[2][0] in "RC" else 1
        elif one and not one.split("\t", 2)[2]:
            self._names = 2
        if self._open and not self._names:
            self._close(self._open)
            self._open = []

    def _close(self, record: list[str]) -> None:
        is_raw = record[0].startswith(":")
        name = record[-1] if len(record) > 1 else record[0].split("\t", 2)[2]
        if self.only is not None and name not in self.only:
            return
        if not is_raw:
            added, deleted, _ = record[0].split("\t", 2)
            self.total += 1
            self.additions += int(added) if added.isdecimal() else 0
            self.deletions += int(deleted) if deleted.isdecimal() else 0
        files, chars = self._room.get(is_raw, (self.most, self.most_chars))
        # After the first that has no room none has any: git's patches are in the same order.
        self._room[is_raw] = files - 1, chars - len(name)
        if files > 0 and chars >= len(name):
            self.kept += record


_STATUS: dict[str, Literal["added", "modified", "deleted"]] = {"A": "added", "D": "deleted"}


def read_changes(listed: Iterable[str]) -> list[tuple[FileChange, int]]:
    """Read what a `Listing` has kept of a comparison without renames.

    Returns: the files by name, each with the number of patches that git writes for it.
    """
    letters, changes = dict[str, str](), list[tuple[FileChange, int]]()
    fields = iter(listed)
    for one in fields:
        if one.startswith(":"):
            letters[next(fields)] = one[-1]
        elif one:
            added, deleted, file = one.split("\t", 2)
            letter = letters.get(file, "M")
            change = FileChange(
                file=file,
                status=_STATUS.get(letter, "modified"),
                additions=int(added) if added.isdecimal() else 0,
                deletions=int(deleted) if deleted.isdecimal() else 0,
                patch="",
            )
            # A file that became a link is deleted and created.
            changes.append((change, 2 if letter == "T" else 1))
    return changes


def read_renames(listed: Iterable[str]) -> list[FileChange]:
    """Read `--numstat -z` of renamed files only, in git's order."""
    fields, changes = iter(filter(None, listed)), list[FileChange]()
    for counts in fields:
        old, new = next(fields), next(fields)
        added, deleted = (int(one) if one.isdecimal() else 0 for one in counts.split("\t")[:2])
        changes.append(FileChange(new, "modified", added, deleted, "", old))
    return changes


def split_patches(text: str) -> list[str]:
    """Returns: the patches of git's output, without one that a limit has cut."""
    patches = [patch for patch in re.split(r"(?m)^(?=diff --git )", text) if patch]
    return patches[:-1] if _is_cut(text) else patches


def whole_lines(text: str) -> str:
    """Returns: git's output, without a line that a limit has cut."""
    return text[: text.rfind("\n") + 1] if _is_cut(text) else text


def _is_cut(text: str) -> bool:
    # git says the lines of files as they are, in whatever encoding.
    return len(text.encode("utf-8", "surrogateescape")) >= MAX_PATCHES_BYTES


def cut_patch(text: str) -> str:
    """Returns: as many whole lines of a patch as are shown: no half of what may be a secret."""
    if len(text) <= MAX_PATCH_CHARS:
        return text
    return text[: text.rfind("\n", 0, MAX_PATCH_CHARS) + 1]


def with_patches(changes: list[tuple[FileChange, int]], patches: list[str]) -> list[FileChange]:
    """Give each file its patches, in git's order. Returns: the changes."""
    owners = [n for n, (_, count) in enumerate(changes) for _ in range(count)]
    texts = [""] * len(changes)
    for owner, patch in zip_longest(owners, patches[: len(owners)], fillvalue=""):
        if isinstance(owner, int):
            texts[owner] += patch
    return [
        replace(change, patch="" if "\nBinary files " in text else cut_patch(text))
        for (change, _), text in zip(changes, texts, strict=True)
    ]
