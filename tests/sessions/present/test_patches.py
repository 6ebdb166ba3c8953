from __future__ import annotations

from sessions.present.changes.patches import patch_lines, patched_files
from tests.sessions.present.test_tools import PATCHED, PLACE, patched


def test_a_card_names_each_file_above_its_lines() -> None:
    lines = patch_lines(patched_files({"files": list(PATCHED)}, PLACE, show_large=True))
    assert [str(line.code) for line in lines if line.kind == "skip"] == [
        "a.py",
        "new file: b.py",
        "moved from old/c.py: new/c.py",
        "deleted: d.py",
    ]
    assert [line.kind for line in lines[:4]] == ["skip", "del", "add", "add"]


def test_what_is_too_large_to_show_is_said() -> None:
    large = patched("update", "a.py", patch="")
    lines = patch_lines(patched_files({"files": [large]}, PLACE, show_large=True))
    assert [str(line.code) for line in lines] == ["a.py", "3 changed lines, too many to show"]


def test_hostile_metadata_breaks_nothing() -> None:
    for files in ("text", [None, 3, {}], [{"patch": 5, "type": [], "additions": "x"}]):
        found = patched_files({"files": files}, PLACE, show_large=False)  # type: ignore[dict-item]
        assert all(file.lines == [] for file in found)
    assert patched_files({}, PLACE, show_large=False) == []
