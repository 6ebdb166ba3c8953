from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from opencode_web.lib.db import in_db
from providers.llm.messages import ProviderRequest
from sessions.actions.revert import revert_session, unrevert_session
from sessions.models import Project, SavedRule, Session
from sessions.runner import run_session
from teams.models import User
from tests.sessions.factories import prompt, script, session_access
from tests.sessions.runner.drains import drain, parts_of
from tests.tools.test_patch_format import patch

pytestmark = pytest.mark.any_database

MANY = patch(
    *("*** Update File: src/a.py", "@@", "-two", "+2"),
    *("*** Add File: new/d.md", "+# D"),
    *("*** Update File: b.sh", "*** Move to: bin/b.sh", "@@", "+again"),
    "*** Delete File: c.txt",
)


@pytest.fixture
def root(project: Project, session: Session) -> Path:
    """A project of four files, and a scripted model that its provider knows as a GPT-5."""
    models = {"inline": {"id": "gpt-5.1-codex"}}
    project.config = {**project.config, "provider": {"demo": {"models": models}}}
    project.save()
    SavedRule.objects.create(
        project=project, permission="edit", pattern="*", created_at=session.created_at
    )
    root = Path(project.directory)
    (root / "src").mkdir()
    (root / "src/a.py").write_text("one\ntwo\nthree\n")
    (root / "b.sh").write_text("run\n")
    (root / "b.sh").chmod(0o755)
    (root / "c.txt").write_bytes(b"gone\r\n")
    return root


def tree_of(root: Path) -> dict[str, tuple[bytes, bool]]:
    files = (path for path in root.rglob("*") if path.is_file() and ".git" not in path.parts)
    return {
        path.relative_to(root).as_posix(): (path.read_bytes(), os.access(path, os.X_OK))
        for path in files
    }


def read(path: str) -> dict[str, Any]:
    return {"tool": "read", "input": {"filePath": path}}


def _revert(user: User, session: Session, message: str) -> None:
    revert_session(session_access(user, session), message)


def _unrevert(user: User, session: Session) -> None:
    unrevert_session(session_access(user, session))


async def test_feat2_fr_06_a_turn_by_patches_changes_files_and_is_taken_back(
    alice: User, session: Session, root: Path, requests: list[ProviderRequest]
) -> None:
    before = tree_of(root)
    apply = {"tool": "apply_patch", "input": {"patchText": MANY}}
    reads = [read(name) for name in ("src/a.py", "b.sh", "c.txt")]
    said = await in_db(prompt, alice, session, script(reads, [apply], [{"text": "Patched."}]))
    await run_session(session.pk)
    await drain(session)

    offered = {tool.name for tool in requests[0].tools}
    assert "apply_patch" in offered
    assert not offered & {"edit", "write", "multiedit"}
    (call,) = [one for one in await in_db(parts_of, session, "tool") if "patch" in one["tool"]]
    assert call["state"]["status"] == "completed", call["state"]
    changed = [(one["type"], one["relativePath"]) for one in call["state"]["metadata"]["files"]]
    assert changed == [
        ("update", "src/a.py"),
        ("add", "new/d.md"),
        ("move", "bin/b.sh"),
        ("delete", "c.txt"),
    ]
    after = tree_of(root)
    assert after == {
        "src/a.py": (b"one\n2\nthree\n", False),
        "new/d.md": (b"# D\n", False),
        "bin/b.sh": (b"run\nagain\n", True),
    }
    assert session.summary["files"] == 5

    await in_db(_revert, alice, session, said.pk)
    await drain(session)
    assert tree_of(root) == before
    await in_db(_unrevert, alice, session)
    await drain(session)
    assert tree_of(root) == after


async def test_a_patch_that_does_not_fit_changes_no_file_and_says_which_line(
    alice: User, session: Session, root: Path
) -> None:
    before = tree_of(root)
    wrong = patch(
        *("*** Add File: new/d.md", "+# D"),
        *("*** Update File: src/a.py", "@@", "-four", "+4"),
    )
    apply = {"tool": "apply_patch", "input": {"patchText": wrong}}
    await in_db(prompt, alice, session, script([read("src/a.py")], [apply], [{"text": "No."}]))
    await run_session(session.pk)
    (_, call) = await in_db(parts_of, session, "tool")
    assert call["state"]["status"] == "error"
    assert "apply_patch verification failed" in call["state"]["error"]
    assert "four" in call["state"]["error"]
    assert tree_of(root) == before


async def test_edits_are_no_tool_of_such_a_model(alice: User, session: Session, root: Path) -> None:
    write = {"tool": "write", "input": {"filePath": "x", "content": "x"}}
    await in_db(prompt, alice, session, script([write], [{"text": "No."}]))
    await run_session(session.pk)
    (call,) = await in_db(parts_of, session, "tool")
    said = str(call["state"].get("error") or call["state"]["output"])
    assert "apply_patch" in said
    assert not (root / "x").exists()
