from __future__ import annotations

import time

import pytest

from tools.files.diff import diff_file, trim_indent


def test_the_patch_has_a_header_four_lines_of_context_and_counts() -> None:
    old = "".join(f"line {number}\n" for number in range(1, 13))
    new = old.replace("line 6\n", "line six\nline six and a half\n")
    diff = diff_file("src/a.txt", old, new)
    assert diff.patch.split("\n") == [
        "Index: src/a.txt",
        "=" * 67,
        "--- src/a.txt",
        "+++ src/a.txt",
        "@@ -2,9 +2,10 @@",
        *(f" line {number}" for number in range(2, 6)),
        "-line 6",
        "+line six",
        "+line six and a half",
        *(f" line {number}" for number in range(7, 11)),
        "",
    ]
    assert (diff.additions, diff.deletions) == (2, 1)
    assert diff.as_json()["additions"] == 2


def test_edges(subtests: pytest.Subtests) -> None:
    cases = [
        ("", "a\nb\n", "@@ -0,0 +1,2 @@\n+a\n+b\n", (2, 0)),
        ("a\n", "", "@@ -1,1 +0,0 @@\n-a\n", (0, 1)),
        (
            "a",
            "a\n",
            "@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+a\n",
            (1, 1),
        ),
        ("a\nb", "a\nc", None, (1, 1)),
        ("a\r\n", "a\n", "@@ -1,1 +1,1 @@\n-a\r\n+a\n", (1, 1)),
    ]
    for old, new, hunk, counts in cases:
        with subtests.test(old=old):
            diff = diff_file("f", old, new)
            assert (diff.additions, diff.deletions) == counts
            if hunk is not None:
                assert diff.patch.split("+++ f\n", 1)[1] == hunk


def test_equal_texts_have_a_header_only() -> None:
    diff = diff_file("f", "a\n", "a\n")
    assert diff.patch.endswith("+++ f\n")
    assert (diff.additions, diff.deletions) == (0, 0)


def test_distant_changes_are_separate_hunks() -> None:
    lines = [f"{number}\n" for number in range(40)]
    changed = [*lines]
    changed[3], changed[30] = "x\n", "y\n"
    assert diff_file("f", "".join(lines), "".join(changed)).patch.count("@@ -") == 2


def test_shared_indentation_is_left_out_of_what_is_shown() -> None:
    diff = diff_file("f", "    a\n      b\n", "    a\n      c\n")
    assert diff.shown.split("+++ f\n", 1)[1] == "@@ -1,2 +1,2 @@\n a\n-  b\n+  c\n"
    assert "     a\n" in diff.patch


def test_blank_lines_do_not_stop_the_trimming() -> None:
    assert trim_indent("a\nb\nc\nd\n   x\n \n+  y\n").split("\n")[4:] == [" x", " ", "+y", ""]


def test_two_large_different_texts_are_compared_at_once() -> None:
    old = "".join(f"a{number}\n" for number in range(30_000))
    new = "".join(f"b{number}\n" for number in range(30_000))
    started = time.process_time()
    diff = diff_file("f", old, new)
    assert time.process_time() - started < 2
    assert (diff.additions, diff.deletions) == (30_000, 30_000)
    assert len(diff.patch) <= 200_100
    assert "left out" in diff.patch
