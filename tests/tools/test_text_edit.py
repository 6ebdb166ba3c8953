from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tools.errors import ToolError
from tools.files.text_edit import replace_in_file

MARK = "\ufeff".encode()
PIECE = st.text(st.sampled_from("ab \n\té"), max_size=8)
QUICK = settings(max_examples=150, derandomize=True, deadline=None)


def replaced(present: bytes | None, old: str, new: str, *, every: bool = False) -> bytes:
    return replace_in_file("f", present, old, new, replace_all=every)


@QUICK
@given(
    before=PIECE,
    old=PIECE,
    new=PIECE,
    after=PIECE,
    bom=st.booleans(),
    end=st.sampled_from(["\n", "\r\n"]),
    junk=st.sampled_from([b"", b"\xff\xfe"]),
)
def test_mark_line_ends_and_other_bytes_are_kept(
    before: str, old: str, new: str, after: str, bom: bool, end: str, junk: bytes
) -> None:
    text = before + old + after
    assume(old and text.find(old) == text.rfind(old) and "\n" in text)

    def encoded(part: str) -> bytes:
        return part.replace("\n", end).encode()

    lead = MARK if bom else b""
    present = lead + encoded(text) + junk
    expected = lead + encoded(before + new + after) + junk
    # Whatever line ends the model writes.
    assert replaced(present, old, new) == expected
    assert replaced(present, old.replace("\n", "\r\n"), new.replace("\n", "\r\n")) == expected


@QUICK
@given(
    present=st.none() | st.binary(max_size=40) | PIECE.map(str.encode),
    old=st.text(max_size=10) | PIECE,
    new=st.text(max_size=10),
    every=st.booleans(),
)
def test_nothing_but_an_error_for_the_model_is_raised(
    present: bytes | None, old: str, new: str, every: bool
) -> None:
    with suppress(ToolError):
        assert isinstance(replaced(present, old, new, every=every), bytes)


def test_a_mark_in_the_texts_is_that_of_the_file() -> None:
    assert replaced(MARK + b"a b", "\ufeffa", "\ufeffx") == MARK + b"x b"
    assert replaced(b"a b", "b", "\ufeffx") == MARK + b"a x"
    assert replaced(None, "", "\ufeffx") == MARK + b"x"


def test_what_cannot_be_replaced_is_said(subtests: pytest.Subtests) -> None:
    cases = [
        (None, "a", "File f not found"),
        (b"", "", "cannot be empty"),
        (b"a", "", "cannot be empty"),
        (b"a", "b", "was not found"),
        (b"a a", "a", "more than once"),
    ]
    for present, old, problem in cases:
        with (
            subtests.test(present=present, old=old),
            pytest.raises(ToolError, match=problem),
        ):
            replaced(present, old, "x")
