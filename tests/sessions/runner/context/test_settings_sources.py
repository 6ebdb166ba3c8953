from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sessions.config.model import Config
from sessions.repository.globs import forget_found
from sessions.repository.reading import Unavailable
from sessions.runner.context import configured, global_instructions, references
from sessions.runner.context.documents import Document
from sessions.runner.context.registry import observe
from tests.sessions.runner.context.inputs import make_inputs


@pytest.fixture(autouse=True)
def look_anew() -> Iterator[None]:
    forget_found()
    yield
    forget_found()


def config(**data: Any) -> Config:
    return Config.model_validate(data)


def names(worktree: Path, *items: str, directory: Path | None = None) -> list[str]:
    inputs = make_inputs(
        worktree, config=config(instructions=list(items)), directory=directory or worktree
    )
    found = configured.SOURCE.observe(inputs, None) or []
    return [Path(one.origin).relative_to(worktree).as_posix() for one in found]


@pytest.fixture
def worktree(tmp_path: Path) -> Path:
    for path in ("docs/style.md", "docs/a/deep.md", "docs/notes.txt", "CONVENTIONS.md", "api/x.md"):
        file = tmp_path / "shop" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(path)
    (tmp_path / "secret.md").write_text("the server's")
    return tmp_path / "shop"


@pytest.mark.parametrize(
    ("items", "found"),
    [
        (["CONVENTIONS.md"], ["CONVENTIONS.md"]),
        (["docs/*.md"], ["docs/style.md"]),
        (["docs/**/*.md"], ["docs/a/deep.md", "docs/style.md"]),
        (["**/deep.md", "**/deep.md"], ["docs/a/deep.md"]),
        (["missing.md", "docs", "~/x.md", "https://example.com/x.md"], []),
        (["../secret.md", "/etc/passwd", "../*.md"], []),
    ],
)
def test_files_of_the_settings(worktree: Path, items: list[str], found: list[str]) -> None:
    assert names(worktree, *items) == found


def test_an_absolute_path_in_the_worktree(worktree: Path) -> None:
    assert names(worktree, str(worktree / "docs/style.md")) == ["docs/style.md"]


def test_a_relative_path_is_tried_upward(worktree: Path) -> None:
    found = names(worktree, "*.md", directory=worktree / "api")
    assert found == ["api/x.md", "CONVENTIONS.md"]


def test_no_link_leads_out_of_the_worktree(worktree: Path) -> None:
    (worktree / "out").symlink_to(worktree.parent)
    (worktree / "docs" / "link.md").symlink_to(worktree.parent / "secret.md")
    assert names(worktree, "out/*.md", "out/secret.md", "docs/link.md") == []


def test_the_operators_file_comes_before_the_settings_text(
    tmp_path: Path, settings: Any, worktree: Path
) -> None:
    settings.DATA_DIR = tmp_path / "data"
    settings.DATA_DIR.mkdir()
    inputs = make_inputs(worktree, config=config(instructions_text="Write tests."))
    assert global_instructions.SOURCE.observe(inputs, None) == [
        Document(origin="the settings of the team or project", text="Write tests.")
    ]
    (settings.DATA_DIR / "AGENTS.md").write_text("Be kind.")
    found = global_instructions.SOURCE.observe(inputs, None) or []
    assert [one.text for one in found] == ["Be kind.", "Write tests."]
    assert global_instructions.SOURCE.observe(make_inputs(worktree), None) == found[:1]


def test_an_operators_file_that_cannot_be_read_now_keeps_what_is_known(
    worktree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_root: Path, path: Path) -> str | None:
        raise Unavailable(str(path))

    monkeypatch.setattr(global_instructions, "read_instructions", fail)
    sources = [global_instructions.SOURCE]
    known = {global_instructions.SOURCE.key: [{"origin": "x", "text": "Be kind."}]}
    assert observe(make_inputs(worktree), dict(known), sources=sources) == known
    assert observe(make_inputs(worktree), {}, sources=sources) == {}


def test_references_of_the_settings(worktree: Path) -> None:
    inputs = make_inputs(
        worktree,
        config=config(
            reference={"old": {"path": "../api", "description": "The\nservice"}},
            references={
                "docs": {
                    "repository": "https://bot:pw@git.example.com/docs.git",
                    "branch": "main",
                    "description": "Handbook",
                },
                "plain": "https://example.com/x.git",
                "silent": {"path": "x"},
                "away": {"path": "x", "description": "d", "hidden": True},
                "odd": {"description": "neither"},
            },
        ),
    )
    found = references.SOURCE.observe(inputs, None)
    assert found is not None
    assert references.SOURCE.baseline(found) == (
        "Named in the settings as worth knowing of:\n"
        "- docs: Handbook (repository https://git.example.com/docs.git, branch main; "
        "it is not checked out here)\n"
        "- old: The service (folder ../api; you can read it only where it lies in the worktree)"
    )
    assert references.SOURCE.observe(make_inputs(worktree), None) is None
