"""What ripgrep finds, in the order of paths: the first hundred are the same hundred each time.

ripgrep sorts, but on one core only. So what is little is sorted here; where there is much, a second
search sorts, of which only the beginning is read.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from typing import TypeVar

from tools.errors import ToolError
from tools.files.ripgrep import NOT_GIT, path_parts, search_lines
from tools.paths import Located, stat_located

_FEW = 2_000
_FEW_BYTES = 8 * 1024 * 1024
_SORT = "--sort=path"


T = TypeVar("T")
# The names on the way to a file, and where in it.
Place = tuple[list[bytes], int]


async def search_in_order(
    folder: Located,
    arguments: Sequence[str],
    read: Callable[[bytes], T | None],
    *,
    place: Callable[[T], Place],
    separator: bytes = b"\n",
) -> AsyncGenerator[T, None]:
    """Yield what `read` makes of the records, but for None, by `place`.

    Raises: as `search_lines`.
    """
    if (few := await _few(folder, arguments, read, separator)) is not None:
        for item in sorted(few, key=place):
            yield item
        return
    records = search_lines(folder, [_SORT, *arguments], separator=separator)
    async with contextlib.aclosing(records):
        async for record in records:
            if (found := read(record)) is not None:
                yield found


async def _few(
    folder: Located,
    arguments: Sequence[str],
    read: Callable[[bytes], T | None],
    separator: bytes,
) -> list[T] | None:
    """Returns: all that there is; None when that is much."""
    found, size = list[T](), 0
    records = search_lines(folder, arguments, separator=separator)
    async with contextlib.aclosing(records):
        async for record in records:
            if (item := read(record)) is None:
                continue
            found.append(item)
            size += len(record)
            if len(found) > _FEW or size > _FEW_BYTES:
                return None
    return found


async def true_ones(
    items: AsyncIterator[T], is_true: Callable[[T], bool], *, at_once: int
) -> AsyncGenerator[T, None]:
    """Yield the items that `is_true` finds so, asking in a thread about so many at once."""

    def check() -> list[T]:
        return [item for item in batch if is_true(item)]

    batch = list[T]()
    async for item in items:
        batch.append(item)
        if len(batch) == at_once:
            for one in await asyncio.to_thread(check):
                yield one
            batch.clear()
    for one in await asyncio.to_thread(check):
        yield one


async def list_files(
    folder: Located, arguments: Sequence[str], *, limit: int
) -> tuple[list[Located], bool]:
    """List files below a folder in path order, links left out.

    Returns: at most `limit` files, and whether there are more.
    """
    found: list[Located] = []
    lines = search_in_order(
        folder,
        ["--files", "--null", *arguments, NOT_GIT, "--", "."],
        lambda line: line,
        place=lambda line: (line.split(b"/"), 0),
        separator=b"\0",
    )
    there = true_ones(lines, lambda line: _exists(folder, line), at_once=limit + 1)
    async with contextlib.aclosing(lines), contextlib.aclosing(there):
        async for line in there:
            if len(found) == limit:
                return found, True
            found.append(_child(folder, line))
    return found, False


def _child(folder: Located, line: bytes) -> Located:
    return folder.child(*path_parts(os.fsdecode(line)))


def _exists(folder: Located, line: bytes) -> bool:
    try:
        return stat_located(_child(folder, line)) is not None
    except ToolError:
        # A folder on the way became a link.
        return False
