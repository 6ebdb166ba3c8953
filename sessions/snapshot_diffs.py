"""What git says about the differences of two trees, as values for people. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Literal

from opencode_web.lib.json import JsonObject

MAX_PATCH_CHARS = 200_000
MAX_PATCHES_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True)
class FileChange:
    """One changed file between two snapshots.

    `patch` is a unified diff, empty for a binary file and for a large one.
    """

    file: str
    status: Literal["added", "modified", "deleted"]
    additions: int
    deletions: int
    patch: str

    def to_wire(self) -> JsonObject:
        """Returns: `SnapshotFileDiff`."""
        return {
            "file": self.file,
            "status": self.status,
            "additions": self.additions,
            "deletions": self.deletions,
            "patch": self.patch,
        }


_STATUS: dict[str, Literal["added", "modified", "deleted"]] = {"A": "added", "D": "deleted"}


def read_changes(listed: str) -> list[tuple[FileChange, int]]:
    """Returns: the files by name, each with the number of patches that git writes for it."""
    letters, changes = dict[str, str](), list[tuple[FileChange, int]]()
    fields = iter(listed.split("\0"))
    for field in fields:
        if field.startswith(":"):
            letters[next(fields)] = field[-1]
        elif field:
            added, deleted, file = field.split("\t", 2)
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


def split_patches(text: str) -> list[str]:
    """Returns: the patches of git's output, without one that a limit has cut."""
    patches = [patch for patch in re.split(r"(?m)^(?=diff --git )", text) if patch]
    return patches if len(text.encode()) < MAX_PATCHES_BYTES else patches[:-1]


def with_patches(changes: list[tuple[FileChange, int]], patches: list[str]) -> list[FileChange]:
    """Give each file its patches, in git's order. Returns: the changes."""
    owners = [n for n, (_, count) in enumerate(changes) for _ in range(count)]
    texts = [""] * len(changes)
    for owner, patch in zip_longest(owners, patches[: len(owners)], fillvalue=""):
        if isinstance(owner, int):
            texts[owner] += patch
    return [
        replace(change, patch="" if "\nBinary files " in text else text[:MAX_PATCH_CHARS])
        for (change, _), text in zip(changes, texts, strict=True)
    ]
