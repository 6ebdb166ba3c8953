from __future__ import annotations

from pathlib import Path

import pytest

from tests.fakes import FakeToolContext


@pytest.fixture
def worktree(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def context(tmp_path: Path, worktree: Path) -> FakeToolContext:
    output = tmp_path / "outputs"
    output.mkdir()
    return FakeToolContext(worktree=worktree, output_dir=output)
