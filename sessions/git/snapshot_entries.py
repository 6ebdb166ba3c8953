"""What git says about the files of trees, as values. Pure.

Names are bytes: a file's name need not be text.
"""

from __future__ import annotations

import re
import sys
from collections.abc import AsyncGenerator, Collection, Iterator
from dataclasses import dataclass

from tools.files.put_back import TreeEntry

_NONE = "000000"
_HEAD = re.compile(rb"[0-9a-f]{40,64} [0-9a-f]{40,64}\n")


@dataclass(frozen=True, slots=True)
class EntryChange:
    """A path of two trees. None: it was not there, or is not there any more."""

    path: bytes
    before: TreeEntry | None
    after: TreeEntry | None


class PairsGone(Exception):
    """git has passed a pair over, which it does silently when a tree of it is gone."""


async def read_pairs(said: AsyncGenerator[list[bytes]], count: int) -> AsyncGenerator[EntryChange]:
    """Read `git diff-tree --stdin -z --raw` of so many pairs of trees.

    Yields: the changes of each pair, in order. Raises: PairsGone at the end.
    """
    meta = b""
    async for fields in said:
        for field in fields:
            if meta:
                old_mode, new_mode, old, new, _ = meta[1:].decode("ascii").split(" ")
                yield EntryChange(field, _entry(old_mode, old), _entry(new_mode, new))
                meta = b""
                continue
            meta = field
            while head := _HEAD.match(meta):
                count -= 1
                meta = meta[head.end() :]
            if meta and not meta.startswith(b":"):
                raise PairsGone
    if count or meta:
        raise PairsGone


def _entry(mode: str, blob: str) -> TreeEntry | None:
    return None if mode == _NONE else TreeEntry(sys.intern(mode), blob)


async def read_entries(
    said: AsyncGenerator[list[bytes]], wanted: Collection[bytes]
) -> dict[bytes, TreeEntry]:
    """Read `git ls-tree -r -z`. Returns: those of the wanted paths that are in the tree."""
    entries = dict[bytes, TreeEntry]()
    async for fields in said:
        for field in fields:
            meta, tab, path = field.partition(b"\t")
            if tab and path in wanted:
                mode, _, blob = meta.decode("ascii").split(" ")
                entries[path] = TreeEntry(sys.intern(mode), blob)
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
