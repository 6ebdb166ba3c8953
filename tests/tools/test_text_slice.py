from __future__ import annotations

import io

import pytest

from tools.files import text_slice
from tools.files.text_slice import read_slice


def test_how_lines_are_split(subtests: pytest.Subtests) -> None:
    cases = [
        (b"", ()),
        (b"a", ("a",)),
        (b"a\n", ("a",)),
        (b"a\n\n", ("a", "")),
        (b"a\r\nb\rc\n", ("a", "b", "c")),
        (b"\xef\xbb\xbfa", ("a",)),
        (b"\xff\xfe", ("\ufffd\ufffd",)),
        ("a\u2028b\fc".encode(), ("a\u2028b\fc",)),
    ]
    for data, lines in cases:
        with subtests.test(data=data):
            part = read_slice(io.BytesIO(data), first=1, limit=100)
            assert part.lines == lines
            assert part.total == len(lines)
            assert not part.truncated


def test_a_range_knows_the_total() -> None:
    data = b"".join(b"%d\n" % number for number in range(1, 11))
    part = read_slice(io.BytesIO(data), first=4, limit=3)
    assert part.lines == ("4", "5", "6")
    assert (part.first, part.last, part.total, part.truncated) == (4, 6, 10, True)
    assert not read_slice(io.BytesIO(data), first=8, limit=3).truncated


def test_the_byte_limit_ends_it_at_a_whole_line() -> None:
    part = read_slice(io.BytesIO(b"aaaa\n" * 10), first=1, limit=100, max_bytes=12)
    assert part.lines == ("aaaa", "aaaa")
    assert part.capped
    assert part.total is None


def test_a_long_line_is_cut_and_the_next_is_whole(subtests: pytest.Subtests) -> None:
    for length in [2_000, 2_001, 8_191, 8_192, 8_193, 50_000]:
        with subtests.test(length=length):
            part = read_slice(io.BytesIO(b"x" * length + b"\nnext\n"), first=1, limit=10)
            assert part.total == 2
            assert part.lines[1] == "next"
            if length > 2_000:
                assert part.lines[0] == "x" * 2_000 + "... (line truncated to 2000 chars)"
            else:
                assert part.lines[0] == "x" * length


def test_counting_stops_in_an_endless_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_slice, "_MAX_SCAN_CHARS", 100)
    part = read_slice(io.BytesIO(b"line\n" * 1_000), first=1, limit=2)
    assert part.lines == ("line", "line")
    assert part.total is None
    assert part.truncated
