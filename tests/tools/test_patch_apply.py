from __future__ import annotations

import time
from difflib import SequenceMatcher

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tools.test_patch_format import patch
from tools.files.patch_apply import apply_chunks, apply_sections
from tools.files.patch_format import Chunk, Mark, PatchError, parse_patch
from tools.matching.search import EditMatchError, Work


def change(text: str, *lines: str) -> str:
    """The text after one update."""
    (changed,) = apply_sections(
        parse_patch(patch("*** Update File: f", *lines)), {"f": text.encode()}
    )
    assert changed.after is not None
    return changed.after.decode()


def test_what_an_update_makes_of_a_file(subtests: pytest.Subtests) -> None:
    cases = [
        ("a\nb\nc\n", ["@@", " a", "-b", "+B", " c"], "a\nB\nc\n"),
        ("a\nb\n", ["@@", "-a", "-b"], ""),
        ("", ["+a"], "a\n"),
        # Two places, each from where the last one ended.
        ("x\na\nx\nb\n", ["@@ a", "-x", "+1", "@@", "-b", "+2"], "x\na\n1\n2\n"),
        ("x\ny\nx\n", ["@@", "-x", "+1", "@@", "-x", "+2"], "1\ny\n2\n"),
        # The line behind @@ narrows, and several narrow further.
        ("A\n f\nB\n f\n", ["@@ B", "- f", "+ g"], "A\n f\nB\n g\n"),
        ("A\nf\n x\nB\nf\n x\n", ["@@ B", "@@ f", "- x", "+ y"], "A\nf\n x\nB\nf\n y\n"),
        # Lines that only come.
        ("a\nb\n", ["@@ a", "+new"], "a\nnew\nb\n"),
        ("a\nb\n", ["@@", "+new"], "a\nb\nnew\n"),
        ("a\nb\n", ["@@ a", "+new", "*** End of File"], "a\nb\nnew\n"),
        # Those that end the file.
        ("x\na\nx\n", ["-x", "+y", "*** End of File"], "x\na\ny\n"),
        # The four ways in which lines are alike; what stays is as the file has it.
        ("a  \nb\n", [" a", "-b", "+c"], "a  \nc\n"),
        ("\ta\nb\n", [" a", "-b", "+c"], "\ta\nc\n"),
        ("\u201ca\u201d \u2014 b\u2026\u00a0c\n", ['-"a" - b... c', "+x"], "x\n"),
        # An exact place further down wins over a like one above it.
        (" x\nx\n", ["-x", "+y"], " x\ny\n"),
        # An empty line too many at the end of a place.
        ("a\nb\n", ["@@", "-b", "+c", " ", "*** End of File"], "a\nc\n"),
        ("a\nb\n", ["-b", "-", "+c", "+"], "a\nc\n"),
        # Line ends.
        ("a\r\nb\r\nc\r\n", [" a", "-b", "+B", "+B2"], "a\r\nB\r\nB2\r\nc\r\n"),
        ("a\r\nb\nc\r\n", ["-c", "+d"], "a\r\nb\nd\r\n"),
        ("a\nb\r\nc\n", ["-c", "+d"], "a\nb\r\nd\n"),
        ("a\nb", ["-a", "+A"], "A\nb"),
        ("a\nb", ["-b", "+B"], "a\nB\n"),
        ("a\nb", [" b", "+c"], "a\nb\nc\n"),
        ("a\x0cb\u2028c\nd\n", ["-d", "+e"], "a\x0cb\u2028c\ne\n"),
        ("\ufeffa\nb\n", ["-a", "+A"], "\ufeffA\nb\n"),
    ]
    for text, lines, expected in cases:
        with subtests.test(text=text, lines=lines):
            assert change(text, *lines) == expected


def test_what_does_not_fit_is_said(subtests: pytest.Subtests) -> None:
    cases = [
        ("a\n", ["-b", "+c"], "f: The file does not have these lines:\nb\nRead the file again"),
        ("a\n", ["@@ def g", "-a", "+c"], "does not have this line:\ndef g\n"),
        ("a\n", ["@@ a", "-a", "+c"], "does not have these lines:\na\nThey are at line 1, above"),
        ("a\nb\n", ["-b", "+B", "-a", "+A"], "does not have these lines:\nb\na\n"),
        ("a\nb\n", ["-b", "+B", "@@", "-a", "+A"], "They are at line 1, above .* in the order"),
        ("a\nb\n", ["-a", "+A", "*** End of File"], "does not have these lines at its end:\na\n"),
        ("a\n", ["-a", "+a"], "changes nothing"),
        ("a\n", [" a"], "changes nothing"),
        ("a\n", ["@@ a"], "changes nothing"),
        ("a\n", [f"-{n}" for n in range(20)], r"\n11\n\(8 more lines\)\n"),
    ]
    for text, lines, problem in cases:
        with subtests.test(lines=lines), pytest.raises(PatchError, match=problem):
            change(text, *lines)


def test_sections_are_applied_one_after_the_other() -> None:
    text = patch(
        *("*** Update File: a", "-1", "+2", "*** Update File: a", "-2", "+3"),
        *("*** Delete File: b", "*** Add File: b", "+new"),
        *("*** Update File: c", "*** Move to: d", "*** Add File: c", "+c again"),
    )
    files = {"a": b"1\n", "b": b"old\n", "c": b"c\n", "d": None}
    changes = apply_sections(parse_patch(text), files)
    assert [(one.kind, one.path, one.move_to, one.before, one.after) for one in changes] == [
        ("update", "a", None, b"1\n", b"2\n"),
        ("update", "a", None, b"2\n", b"3\n"),
        ("delete", "b", None, b"old\n", None),
        ("add", "b", None, None, b"new\n"),
        ("move", "c", "d", b"c\n", b"c\n"),
        ("add", "c", None, None, b"c again\n"),
    ]


def test_what_is_there_is_never_overwritten(subtests: pytest.Subtests) -> None:
    cases = [
        (["*** Delete File: none"], "There is no file none"),
        (["*** Update File: none", "+x"], "There is no file none"),
        (["*** Update File: a", "*** Move to: b"], "moved to b: that file exists already"),
        (["*** Update File: a", "*** Move to: a"], "The patch changes nothing"),
        (["*** Add File: a", "+1"], "The patch changes nothing"),
        (["*** Delete File: a", "*** Update File: a", "+x"], "There is no file a"),
    ]
    for lines, problem in cases:
        with subtests.test(lines=lines), pytest.raises(PatchError, match=problem):
            apply_sections(parse_patch(patch(*lines)), {"a": b"1\n", "b": b"2\n", "none": None})


def test_bytes_that_are_no_text_survive() -> None:
    section = parse_patch(patch("*** Update File: f", "-a", "+b"))
    (changed,) = apply_sections(section, {"f": b"\xff\xfe\na\n\x80"})
    assert changed.after == b"\xff\xfe\nb\n\x80"


LINE = st.text(st.sampled_from("ab \t\u00a0\u201d-+@*\\"), max_size=4)
TEXTS = st.lists(LINE, max_size=10).map(lambda lines: "".join(f"{line}\n" for line in lines))
QUICK = settings(max_examples=120, derandomize=True, deadline=None)


def chunk_of(old: str, new: str) -> Chunk:
    """One place that has the whole file."""
    before, after = old.split("\n")[:-1], new.split("\n")[:-1]
    lines: list[tuple[Mark, str]] = []
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag == "equal":
            lines += [(" ", line) for line in before[i1:i2]]
        else:
            lines += [("-", line) for line in before[i1:i2]]
            lines += [("+", line) for line in after[j1:j2]]
    return Chunk(None, tuple(lines))


@QUICK
@given(old=TEXTS, new=TEXTS)
def test_the_difference_of_two_texts_makes_one_of_the_other(old: str, new: str) -> None:
    chunk = chunk_of(old, new)
    assert apply_chunks(old, [chunk], Work()) == new
    if "\n" in old:
        crlf = old.replace("\n", "\r\n")
        assert apply_chunks(crlf, [chunk], Work()) == new.replace("\n", "\r\n")
    if old == new or "\r" in old + new:
        return
    # As a model would write it.
    written = [mark + line for mark, line in chunk.lines]
    assert change(old, "@@", *written) == new


CHUNKS = st.lists(
    st.builds(
        Chunk,
        st.none() | LINE,
        st.lists(st.tuples(st.sampled_from(" -+"), LINE), max_size=4).map(tuple),
        st.booleans(),
    ),
    max_size=4,
)


@QUICK
@given(text=TEXTS | st.text(max_size=20), chunks=CHUNKS)
def test_nothing_but_its_own_error_is_raised(text: str, chunks: list[Chunk]) -> None:
    try:
        changed = apply_chunks(text, chunks, Work())
    except PatchError:
        return
    added = sum(mark == "+" for chunk in chunks for mark, _ in chunk.lines)
    assert changed.count("\n") <= text.count("\n") + added + 1


@pytest.mark.deep
def test_hostile_patches_end_within_a_second_or_so(subtests: pytest.Subtests) -> None:
    cases = [
        ("x\n" * 100_000, ["-x"] * 50_000 + ["-y"]),
        ("x\n" * 100_000, [line for _ in range(20_000) for line in ("@@", "-x", "-y")]),
        ("x" * 9_000_000, ["-" + "x" * 5_000_000]),
        ("\n" * 5_000_000, ["-", "-x"]),
        ("".join(f"{n}\n" for n in range(100_000)), [f"@@ {n} x" for n in range(5_000)]),
    ]
    for text, lines in cases:
        with subtests.test(lines=lines):
            started = time.process_time()
            with pytest.raises((PatchError, EditMatchError)):
                change(text, *lines)
            assert time.process_time() - started < 4


def test_a_long_patch_of_a_long_file_is_quick() -> None:
    text = "".join(f"line {n}\n" for n in range(50_000))
    lines = [part for n in range(0, 50_000, 50) for part in ("@@", f"-line {n}", f"+LINE {n}")]
    started = time.process_time()
    assert change(text, *lines).count("LINE") == 1_000
    assert time.process_time() - started < 4
