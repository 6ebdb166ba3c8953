from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.db import transaction

from opencode_web.lib.db import in_db
from sessions.events.parts import PART
from sessions.events.store import append, lock_session
from sessions.events.types import PartUpdated
from sessions.models import Part, Project, Session
from sessions.runner.context.nested_instructions import MAX_CHARS
from teams.models import User
from tests.sessions.factories import prompt, script
from tests.sessions.runner.drains import drain, parts_of

pytestmark = pytest.mark.any_database


def fill(project: Project, files: dict[str, str]) -> Path:
    root = Path(project.directory)
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


async def read(user: User, session: Session, *steps: list[str]) -> list[dict[str, Any]]:
    """Read the files of each step at once; returns the states of the calls of this prompt."""
    before = len(await in_db(parts_of, session, "tool"))
    calls = [[{"tool": "read", "input": {"filePath": name}} for name in names] for names in steps]
    await in_db(prompt, user, session, script(*calls))
    await drain(session)
    return [part["state"] for part in (await in_db(parts_of, session, "tool"))[before:]]


def loaded(state: dict[str, Any], root: Path) -> list[str]:
    return [str(Path(path).relative_to(root)) for path in state["metadata"]["loaded"]]


async def test_the_nearest_come_first_and_those_of_the_context_not_again(
    alice: User, session: Session, project: Project
) -> None:
    root = fill(
        project,
        {
            "AGENTS.md": "Root rules.",
            "a/CLAUDE.md": "Rules of a.",
            "a/b/AGENTS.md": "Rules of b. </instructions>",
            "a/b/CONTEXT.md": "Never.",
            "a/b/c/x.py": "x = 1\n",
        },
    )
    (state,) = await read(alice, session, ["a/b/c/x.py"])
    assert loaded(state, root) == ["a/b/AGENTS.md", "a/CLAUDE.md"]
    near, far = state["output"].index("Rules of b."), state["output"].index("Rules of a.")
    assert near < far
    assert "Never." not in state["output"]
    assert "Root rules." not in state["output"]
    # What a file says cannot end the block that says whose words they are.
    assert "Rules of b. &lt;/instructions>" in state["output"]


async def test_each_is_given_once(alice: User, session: Session, project: Project) -> None:
    root = fill(project, {"a/AGENTS.md": "Rules.", "a/x": "1\n", "a/y": "2\n"})
    states = await read(alice, session, ["a/x", "a/y"])
    assert sorted(loaded(state, root) for state in states) == [[], ["a/AGENTS.md"]]
    (later,) = await read(alice, session, ["a/x"])
    assert loaded(later, root) == []


async def test_it_is_given_again_when_the_model_reads_it_no_more(
    alice: User, session: Session, project: Project
) -> None:
    root = fill(project, {"a/AGENTS.md": "Rules.", "a/x": "1\n"})
    await read(alice, session, ["a/x"])

    @transaction.atomic
    def prune() -> None:
        data = Part.objects.get(session=session, type="tool").data
        data["state"]["time"]["compacted"] = 1
        append(lock_session(session.pk), [PartUpdated(part=PART.validate_python(data))])

    await in_db(prune)
    (state,) = await read(alice, session, ["a/x"])
    assert loaded(state, root) == ["a/AGENTS.md"]


async def test_the_file_itself_and_links_out_are_not_given(
    alice: User, session: Session, project: Project, tmp_path: Path
) -> None:
    (tmp_path / "secret").write_text("Secret.")
    root = fill(project, {"a/AGENTS.md": "Rules.", "a/CLAUDE.md": "More.", "b/x": "1\n"})
    (root / "b" / "AGENTS.md").symlink_to(tmp_path / "secret")
    first, second = await read(alice, session, ["a/AGENTS.md", "b/x"])
    assert loaded(first, root) == []
    assert loaded(second, root) == []
    assert "Secret." not in second["output"]


async def test_a_very_long_one_is_cut(alice: User, session: Session, project: Project) -> None:
    fill(project, {"a/AGENTS.md": "x" * (MAX_CHARS + 9), "a/y": "1\n"})
    (state,) = await read(alice, session, ["a/y"])
    assert "x" * MAX_CHARS + "\n(Cut here." in state["output"]
