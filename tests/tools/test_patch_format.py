from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tools.files.patch_format import (
    AddFile,
    Chunk,
    DeleteFile,
    PatchError,
    UpdateFile,
    parse_patch,
)


def patch(*lines: str) -> str:
    return "\n".join(["*** Begin Patch", *lines, "*** End Patch"])


NO_NEWLINE = "\\ No newline at end of file"
CHANGE = Chunk(None, (("-", "a"), ("+", "b")))


def test_what_a_patch_says(subtests: pytest.Subtests) -> None:
    cases = [
        (patch("*** Add File: a", "+one", "+", "+two"), [AddFile("a", "one\n\ntwo\n")]),
        # An empty line is meant where only its + is missing; at the end it is there for the eye.
        (patch("*** Add File: a", "+one", "", "+two", "", ""), [AddFile("a", "one\n\ntwo\n")]),
        (patch("*** Add File: a"), [AddFile("a", "")]),
        (patch("*** Delete File: a b.txt ", ""), [DeleteFile("a b.txt")]),
        (patch("*** Update File: a", "@@", "-a", "+b"), [UpdateFile("a", (CHANGE,))]),
        # Without an @@ it is one place all the same.
        (patch("*** Update File: a", "-a", "+b"), [UpdateFile("a", (CHANGE,))]),
        (patch("*** Update File: a", "*** Move to: b"), [UpdateFile("a", (), "b")]),
        (
            patch("*** Update File: a", "*** Move to: b", "@@ def f():", " x", "", "-a", "+b", ""),
            [
                UpdateFile(
                    "a",
                    (Chunk("def f():", ((" ", "x"), (" ", ""), ("-", "a"), ("+", "b"))),),
                    "b",
                )
            ],
        ),
        (
            patch("*** Update File: a", "@@", "-a", "+b", "*** End of File"),
            [UpdateFile("a", (Chunk(None, CHANGE.lines, at_end=True),))],
        ),
        (
            patch("*** Update File: a", "-a", "+b", "*** End of File", "-a", "+b"),
            [UpdateFile("a", (Chunk(None, CHANGE.lines, at_end=True), CHANGE))],
        ),
        (
            patch("*** Update File: a", "@@ class A", "@@   def f", "-a", "+b"),
            [UpdateFile("a", (Chunk("class A"), Chunk("  def f", CHANGE.lines)))],
        ),
        # What belongs to a unified diff.
        (
            patch("*** Update File: a", "@@ -1,2 +1 @@ f", "-a", "+b", NO_NEWLINE),
            [UpdateFile("a", (CHANGE,))],
        ),
        (
            patch("*** Add File: a", "+x", "*** Delete File: b", "*** Add File: c", "+*** End"),
            [AddFile("a", "x\n"), DeleteFile("b"), AddFile("c", "*** End\n")],
        ),
        # What is around a patch.
        (f"Here it is:\n{patch('*** Delete File: a')}\nDone.", [DeleteFile("a")]),
        (f"<<'EOF'\n{patch('*** Delete File: a')}\nEOF", [DeleteFile("a")]),
        (f"cat <<\"END\"\n{patch('*** Delete File: a')}\nEND\n", [DeleteFile("a")]),
        (patch("*** Delete File: a").replace("\n", "\r\n"), [DeleteFile("a")]),
        ("  *** Begin Patch \n*** Delete File: a\n  *** End Patch ", [DeleteFile("a")]),
        (
            patch("*** Update File: a", " *** End Patch", "-a", "+b"),
            [UpdateFile("a", (Chunk(None, ((" ", "*** End Patch"), *CHANGE.lines)),))],
        ),
    ]  # fmt: skip
    for text, sections in cases:
        with subtests.test(text=text):
            assert parse_patch(text) == sections


def test_what_cannot_be_read_is_said(subtests: pytest.Subtests) -> None:
    cases = [
        ("", r"\*\*\* Begin Patch is missing"),
        ("*** Delete File: a", r"\*\*\* Begin Patch is missing"),
        ("*** Begin Patch\n*** Delete File: a", "End Patch is missing: .* cut off"),
        ("*** End Patch\n*** Begin Patch", "End Patch is missing"),
        (patch(), "The patch is empty"),
        (patch("", ""), "The patch is empty"),
        (patch("*** Add File:"), "names no file"),
        (patch("*** Update File: a", "*** Move to: "), "names no file"),
        (patch("*** Update File: a", "*** End of File"), "follows no lines"),
        (patch("*** Rename File: a"), r"Expected .* found: \*\*\* Rename"),
        (patch("*** Add File: a", "+one", "*** Copy to: b"), r"found: \*\*\* Copy"),
        (patch("*** Delete File: a", "*** Copy to: b"), r"found: \*\*\* Copy"),
        (patch("*** Update File: a", "*** Copy to: b"), r"found: \*\*\* Copy"),
        (patch("*** " + "x" * 500), "x…$"),
    ]
    for text, problem in cases:
        with subtests.test(text=text), pytest.raises(PatchError, match=problem):
            parse_patch(text)


LINES = st.sampled_from(
    [
        *("*** Begin Patch", "*** End Patch", "*** Add File: a", "*** Delete File: a"),
        *("*** Update File: a", "*** Move to: b", "*** End of File", "@@", "@@ x", "@@@@"),
        *("+", "-", " ", "", "+a", "-a", " a", "***", "\\", "<<EOF", "EOF", "\r", "é", "\x0c"),
    ]
)


@settings(max_examples=300, derandomize=True, deadline=None)
@given(st.lists(LINES, max_size=12).map("\n".join) | st.text(max_size=80))
def test_nothing_but_its_own_error_is_raised(text: str) -> None:
    for whole in (text, patch(text)):
        with suppress(PatchError):
            assert parse_patch(whole)
