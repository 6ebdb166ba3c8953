from __future__ import annotations

from pathlib import Path

import pytest

from sessions.repository import globs
from sessions.repository.globs import find_files, forget_found


@pytest.fixture(autouse=True)
def look_anew() -> None:
    forget_found()


def make(folder: Path, *paths: str) -> None:
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).touch()


def find(folder: Path, pattern: str) -> list[str]:
    return [path.relative_to(folder).as_posix() for path in find_files(folder, pattern)]


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*.md", ["a.md"]),
        ("./*.md", ["a.md"]),
        ("**/*.md", ["a.md", "x/b.md", "x/y/c.md"]),
        ("x/**/c.md", ["x/y/c.md"]),
        ("**/y/**", ["x/y/c.md"]),
        ("x/?.md", ["x/b.md"]),
        ("x", []),
        ("../*.md", []),
        ("", []),
    ],
)
def test_patterns(tmp_path: Path, pattern: str, found: list[str]) -> None:
    make(tmp_path, "a.md", "x/b.md", "x/y/c.md", "node_modules/p/d.md", ".git/e.md")
    assert find(tmp_path, pattern) == found


def test_a_link_in_a_circle_is_not_entered(tmp_path: Path) -> None:
    make(tmp_path, "x/a.md")
    (tmp_path / "x" / "again").symlink_to(tmp_path)
    assert find(tmp_path, "**/*.md") == ["x/a.md"]


def test_the_search_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, *(f"{number:03}.md" for number in range(50)))
    monkeypatch.setattr(globs, "MAX_ENTRIES", 10)
    assert len(find(tmp_path, "*.md")) == 10


def test_what_was_found_counts_for_a_while(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, "a.md")
    assert find(tmp_path, "*.md") == ["a.md"]
    make(tmp_path, "b.md")
    assert find(tmp_path, "*.md") == ["a.md"]
    monkeypatch.setattr(globs, "FRESH_S", 0.0)
    assert find(tmp_path, "*.md") == ["a.md", "b.md"]
