"""What git says about the files of trees, as values. Pure.

Names are bytes: a file's name need not be text.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from tools.put_back import Entry

_NONE = "000000"
_HEAD = re.compile(rb"[0-9a-f]{40,64} [0-9a-f]{40,64}")


@dataclass(frozen=True)
class EntryChange:
    """A path of two trees. None: it was not there, or is not there any more."""

    path: bytes
    before: Entry | None
    after: Entry | None


def read_pairs(listed: bytes, pairs: Sequence[tuple[str, str]]) -> list[list[EntryChange]] | None:
    """Read `git diff-tree --stdin -z --raw` of pairs of trees.

    Returns: the changes of each pair, in order; None when git has passed one over, which it does
    silently when a tree of it is gone.
    """
    found: list[list[EntryChange]] = []
    at, end = 0, len(listed)
    while at < end:
        if listed[at : at + 1] != b":":
            line = listed.index(b"\n", at)
            if not _HEAD.fullmatch(listed[at:line]):
                return None
            found.append([])
            at = line + 1
            continue
        meta_end = listed.index(b"\0", at)
        path_end = listed.index(b"\0", meta_end + 1)
        old_mode, new_mode, old, new, _ = listed[at + 1 : meta_end].decode("ascii").split(" ")
        found[-1].append(
            EntryChange(
                listed[meta_end + 1 : path_end], _entry(old_mode, old), _entry(new_mode, new)
            )
        )
        at = path_end + 1
    return found if len(found) == len(pairs) else None


def _entry(mode: str, blob: str) -> Entry | None:
    return None if mode == _NONE else Entry(mode, blob)


def read_entries(listed: bytes, wanted: Collection[bytes]) -> dict[bytes, Entry]:
    """Read `git ls-tree -r -z`. Returns: those of the wanted paths that are in the tree."""
    entries = dict[bytes, Entry]()
    for line in listed.split(b"\0"):
        meta, tab, path = line.partition(b"\t")
        if tab and path in wanted:
            mode, _, blob = meta.decode("ascii").split(" ")
            entries[path] = Entry(mode, blob)
    return entries


def read_sizes(checked: bytes) -> dict[str, int] | None:
    """Read `git cat-file --batch-check`. Returns: bytes of each blob; None when one is gone."""
    sizes = dict[str, int]()
    for line in checked.decode("ascii").splitlines():
        blob, kind, *size = line.split(" ")
        if kind != "blob":
            return None
        sizes[blob] = int(size[0])
    return sizes


def split_blobs(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Read `git cat-file --batch`: each blob with its hash."""
    at = 0
    while at < len(data):
        line = data.index(b"\n", at)
        blob, _, size = data[at:line].decode("ascii").split(" ")
        start = line + 1
        yield blob, data[start : start + int(size)]
        at = start + int(size) + 1
