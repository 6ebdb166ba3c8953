from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest

from opencode_web.lib.hunks import HunkRange, overlap, patch_of_hunks, ranges_of


def git(folder: Path, *arguments: str, given: str = "", fine: tuple[int, ...] = (0,)) -> str:
    run = ["git", "-C", str(folder), *arguments]
    done = subprocess.run(run, input=given, capture_output=True, text=True, check=False)
    assert done.returncode in fine, done.stderr
    return done.stdout


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("reverse", [False, True])
def test_chosen_hunks_change_their_lines_and_no_others(
    tmp_path: Path, seed: int, reverse: bool
) -> None:
    # Lines that are alike are what a patch could be put in the wrong place of.
    rng = random.Random(seed)
    old = [rng.choice("abc") for _ in range(40)]
    new = list(old)
    for _ in range(8):
        at = rng.randrange(len(new))
        new[at : at + rng.randrange(3)] = [rng.choice("abc") for _ in range(rng.randrange(3))]
    for name, lines in (("old", old), ("new", new)):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines))
    patch = git(tmp_path, "diff", "--no-index", "-U0", "old", "new", fine=(0, 1))
    ranges = ranges_of(patch)
    chosen = {one for one in ranges if rng.random() < 0.5}

    wanted, at = [], 0
    for one in ranges:
        (first, end), (new_first, new_end) = one.old_span, one.new_span
        is_new = (one in chosen) != reverse
        wanted += old[at:first] + (new[new_first:new_end] if is_new else old[first:end])
        at = end
    wanted += old[at:]

    start = tmp_path / "file"
    start.write_text("".join(f"{line}\n" for line in (new if reverse else old)))
    given = patch_of_hunks(patch, lambda one: one in chosen, reverse=reverse)
    given = given.replace("a/old", "a/file").replace("b/new", "b/file")
    if chosen:
        how = ["--reverse"] if reverse else []
        git(tmp_path, "apply", "--unidiff-zero", *how, "-", given=given)
    assert start.read_text().split() == wanted


def test_rights_of_a_file_are_no_part_of_its_lines() -> None:
    head = "diff --git a/x b/x\nold mode 100644\nnew mode 100755\nindex 1..2\n--- a/x\n+++ b/x\n"
    patch = f"{head}@@ -1 +1 @@\n-a\n+b\n@@ -9,0 +10,2 @@ def f():\n+c\n+d\n"
    made = patch_of_hunks(patch, lambda one: one.old == 9, reverse=False)
    assert made.splitlines()[:2] == ["diff --git a/x b/x", "index 1..2"]
    assert made.endswith("@@ -9,0 +10,2 @@\n+c\n+d\n")
    assert patch_of_hunks(patch, lambda one: False, reverse=False) == ""


def test_a_side_without_lines_is_a_place_between_lines() -> None:
    inserted = HunkRange(4, 0, 5, 2)
    assert (inserted.old_span, inserted.new_span) == ((4, 4), (4, 6))
    assert overlap(inserted.old_span, HunkRange(2, 6, 2, 8).old_span)
    assert not overlap(inserted.old_span, HunkRange(6, 2, 8, 2).old_span)
