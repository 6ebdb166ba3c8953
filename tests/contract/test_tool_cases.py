from __future__ import annotations

from pathlib import Path

import pytest

from tests.contract.genuine_program import GenuineProgram
from tests.contract.tool_cases import CASES, FILES, Case, Files
from tests.fakes import FakeToolContext
from tools.errors import ToolError

pytestmark = pytest.mark.any_database

_EVERY = [*FILES, "n.txt", "q.txt", "z.txt"]


def lay_out(folder: Path) -> None:
    for name in _EVERY:
        (folder / name).unlink(missing_ok=True)
    for name, text in FILES.items():
        (folder / name).write_text(text)


def changed(folder: Path) -> Files:
    texts = {name: _text(folder / name) for name in _EVERY}
    return {name: text for name, text in texts.items() if text != FILES.get(name)}


def _text(file: Path) -> str | None:
    return file.read_text() if file.exists() else None


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.tool}, {case.name}")
async def test_a_call_changes_what_is_said(case: Case, tmp_path: Path) -> None:
    lay_out(tmp_path)
    context = FakeToolContext(worktree=tmp_path, output_dir=tmp_path)
    await context.know(*FILES)
    if case.changed is None:
        with pytest.raises(ToolError):
            await context.call(case.tool, **case.arguments)
    else:
        await context.call(case.tool, **case.arguments)
    assert changed(tmp_path) == (case.changed or {})


def test_what_differs_has_a_reason_and_nothing_else_has() -> None:
    for case in CASES:
        assert (case.changed != case.genuine) == bool(case.why), case.name


@pytest.mark.e2e
@pytest.mark.deep
@pytest.mark.timeout(900)
def test_the_genuine_program_changes_what_is_said_of_it(program: GenuineProgram) -> None:
    found, expected = {}, {}
    for case in CASES:
        lay_out(program.folder)
        state = program.call(case.tool, case.arguments)
        key = f"{case.tool}, {case.name}"
        found[key] = None if state["status"] == "error" else changed(program.folder)
        expected[key] = case.genuine
    assert found == expected
