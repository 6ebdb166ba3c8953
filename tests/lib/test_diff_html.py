from __future__ import annotations

from opencode_web.lib.diff_html import LARGE_LINES, render_diff, to_pairs

PATCH = """Index: src/till.py
===================================================================
--- src/till.py
+++ src/till.py
@@ -5,4 +5,5 @@
 #
-def total(items):
+def total(items, discount=0.0):
     s = 0
+    # <b>
     return s
@@ -20,2 +21,2 @@
 a
-b
+c
\\ No newline at end of file
"""


def test_it_numbers_rows_counts_what_it_leaves_out_and_marks_changed_words() -> None:
    view = render_diff(PATCH, path="src/till.py")
    rows = [(line.kind, line.old, line.new) for line in view.lines]
    assert rows == [
        ("skip", None, None),
        ("same", 5, 5),
        ("del", 6, None),
        ("add", None, 6),
        ("same", 7, 7),
        ("add", None, 8),
        ("same", 8, 9),
        ("skip", None, None),
        ("same", 20, 21),
        ("del", 21, None),
        ("add", None, 22),
    ]
    assert view.lines[0].code == "4 unmodified lines"
    assert view.lines[7].code == "11 unmodified lines"
    assert view.size == 5
    assert "<mark>, discount=" in view.lines[3].code
    assert '<span class="k">def</span>' in view.lines[3].code
    assert "&lt;b&gt;" in view.lines[5].code


def test_changed_lines_are_paired_with_the_ones_that_resemble_them() -> None:
    patch = """--- a
+++ b
@@ -1,3 +1,4 @@
-total = price * amount
-# kept for old callers
-print(total)
+# The price has no tax yet.
+total = price * amount * rate
+log.info("sum")
+print(total, rate)
"""
    lines = render_diff(patch).lines
    beside = [(old and old.old, new and new.new) for old, new in to_pairs(lines)]
    assert beside == [(None, 1), (1, 2), (2, 3), (3, 4)]
    assert "<mark> * rate</mark>" in lines[4].code
    assert "<mark>, rate</mark>" in lines[6].code
    assert [index for index, line in enumerate(lines) if "<mark>" in line.code] == [4, 6]


def test_removed_lines_that_look_like_headers_stay_lines() -> None:
    patch = "--- a\n+++ b\n@@ -1,2 +1,1 @@\n--- x\n y\n"
    kinds = [(line.kind, str(line.code)) for line in render_diff(patch).lines]
    assert kinds == [("del", "-- x"), ("same", "y")]


def test_further_files_of_a_patch_are_named() -> None:
    patch = "--- a\n+++ a\n@@ -1 +1 @@\n-x\n+y\n--- b.py\n+++ b.py\n@@ -0,0 +1 @@\n+def f(): 1\n"
    lines = render_diff(patch).lines
    assert [line.kind for line in lines] == ["del", "add", "skip", "add"]
    assert lines[2].code == "b.py"
    assert '<span class="k">def</span>' in lines[3].code


def test_a_large_diff_is_shown_on_demand_only() -> None:
    count = LARGE_LINES + 1
    patch = f"--- a\n+++ a\n@@ -0,0 +1,{count} @@\n" + "+line\n" * count
    view = render_diff(patch)
    assert (view.lines, view.size) == ([], count)
    assert len(render_diff(patch, show_large=True).lines) == count


def test_hostile_names_and_huge_lines_are_inert() -> None:
    patch = "--- a\n+++ a\n@@ -1 +1 @@\n-<script>\n+" + "<img>" * 10_000 + "\n"
    lines = render_diff(patch, path="x.html").lines
    assert "<script" not in lines[0].code
    assert "<img" not in lines[1].code
    assert len(lines[1].code) < 20_000


def test_a_long_line_is_cut_until_somebody_asks_for_it() -> None:
    patch = f"--- a\n+++ a\n@@ -1 +1,2 @@\n-{'x' * 2_000}\n+{'x' * 2_001}\n+{'y' * 1_000_000}\n"
    lines = render_diff(patch).lines
    assert [line.is_cut for line in lines] == [False, True, True]
    assert str(lines[2].code).startswith(f'{"y" * 2_000} <span class="diff-end">…')
    whole = render_diff(patch, show_long=True).lines
    # Even then a line has an end.
    assert [line.is_cut for line in whole] == [False, False, True]
    assert "y" * 200_000 in whole[2].code


def test_what_is_no_patch_has_no_rows() -> None:
    assert render_diff("hello\nworld").lines == []
    assert render_diff("").lines == []
