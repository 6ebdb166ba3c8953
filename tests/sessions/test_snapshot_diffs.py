from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest

from sessions.git.snapshot_diffs import Listing, read_changes

RAW = ":000000 100644 0000000 1111111 "
ADDED = [f"{RAW}A", "a", f"{RAW}M", "b\t", f"{RAW}T", "c", f"{RAW}A", "d"]
COUNTED = ["1\t0\ta", "2\t1\tb\t", "-\t-\tc", "4\t0\td"]


async def said(*fields: str, at_once: int) -> AsyncGenerator[list[str]]:
    for start in range(0, len(fields), at_once):
        yield [*fields[start : start + at_once]]


@pytest.mark.parametrize("at_once", [1, 3, 100])
async def test_a_listing_keeps_the_first_files_and_counts_all(at_once: int) -> None:
    listing = Listing(2)
    await listing.read(said(*ADDED, *COUNTED, "", at_once=at_once))
    assert [change.file for change, _ in read_changes(listing.kept)] == ["a", "b\t"]
    assert (listing.total, listing.additions, listing.deletions) == (4, 7, 1)


async def test_a_listing_has_room_for_so_many_characters() -> None:
    listing = Listing(9, 2)
    await listing.read(said(*ADDED, *COUNTED, at_once=9))
    # The third name would fit: but patches are in the order of the files.
    assert [change.file for change, _ in read_changes(listing.kept)] == ["a"]
    assert listing.total == 4


async def test_a_listing_is_of_some_files_only() -> None:
    listing = Listing(9, only={"c", "d"})
    await listing.read(said(*ADDED, *COUNTED, at_once=9))
    changes = [(change.file, patches) for change, patches in read_changes(listing.kept)]
    assert changes == [("c", 2), ("d", 1)]
    assert (listing.total, listing.additions) == (2, 4)


async def test_a_renamed_file_has_two_names() -> None:
    renamed = [f"{RAW}R090", "old", "new", f"{RAW}A", "z", "1\t1\t", "old", "new", "3\t0\tz"]
    listing = Listing(1)
    await listing.read(said(*renamed, at_once=2))
    assert listing.kept == [f"{RAW}R090", "old", "new", "1\t1\t", "old", "new"]
    assert (listing.total, listing.additions) == (2, 4)
