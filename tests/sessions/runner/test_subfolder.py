from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from opencode_web.lib.db import in_db
from providers.llm.messages import ProviderRequest
from sessions.actions.fork import fork_session
from sessions.actions.sessions import WorkFolder
from sessions.models import Message, Project, Session
from sessions.wire import session_to_wire
from teams.models import User
from tests.sessions.factories import make_session, prompt, script, session_access
from tests.sessions.runner.drains import allow_bash, drain, parts_of


@pytest.fixture
def session(alice: User, project: Project) -> Session:
    root = Path(project.directory)
    for name in ("AGENTS.md", "sub/AGENTS.md", "sub/deep/AGENTS.md", "other/AGENTS.md"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(f"Rules of {name}.")
    (root / "top.txt").write_text("at the top\n")
    (root / "sub" / "here.txt").write_text("in sub\n")
    (root / "sub" / "deep" / "file.txt").write_text("deep\n")
    made = make_session(alice, project, folder=WorkFolder(path="sub"))
    allow_bash(made)
    return made


async def calls(user: User, session: Session, *given: tuple[str, dict[str, Any]]) -> list[Any]:
    """Returns: the states of the calls."""
    made = [{"tool": tool, "input": arguments} for tool, arguments in given]
    await in_db(prompt, user, session, script(made, [{"text": "done"}]))
    await drain(session)
    return [part["state"] for part in await in_db(parts_of, session, "tool")]


async def test_tools_work_in_the_folder_and_reach_the_rest_of_the_project(
    alice: User, session: Session, project: Project
) -> None:
    pwd, here, above, found, written = await calls(
        alice,
        session,
        ("bash", {"command": "pwd"}),
        ("read", {"filePath": "here.txt"}),
        ("read", {"filePath": "../top.txt"}),
        ("glob", {"pattern": "here.*"}),
        ("bash", {"command": "echo x > ../other/made.txt"}),
    )
    root = Path(project.directory)
    assert pwd["output"] == f"{root}/sub"
    assert (here["title"], "in sub" in here["output"]) == ("sub/here.txt", True)
    assert (above["title"], "at the top" in above["output"]) == ("top.txt", True)
    assert found["output"] == f"{root}/sub/here.txt"
    assert (written["status"], (root / "other" / "made.txt").read_text()) == ("completed", "x\n")
    assert await in_db(changed_files, session) == ["other/made.txt"]


def changed_files(session: Session) -> list[str]:
    return [name for patch in parts_of(session, "patch") for name in patch["files"]]


async def test_the_model_is_told_where_it_is_and_what_holds_there(
    alice: User, session: Session, project: Project, requests: list[ProviderRequest]
) -> None:
    (inner,) = await calls(alice, session, ("read", {"filePath": "deep/file.txt"}))
    system = "\n".join(requests[0].system)
    root = project.directory
    assert f"working directory: {root}/sub\n" in system
    assert f"root of the worktree: {root}\n" in system
    near, far = system.index("Rules of sub/AGENTS.md."), system.index("Rules of AGENTS.md.")
    assert near < far
    assert "other/AGENTS.md" not in system
    assert "Rules of sub/deep/AGENTS.md." in inner["output"]
    answer = await in_db(Message.objects.filter(session=session, role="assistant").first)
    assert answer is not None
    assert answer.data["path"] == {"cwd": f"{root}/sub", "root": root}


async def test_no_path_leads_out_of_the_project(
    alice: User, session: Session, project: Project, tmp_path: Path
) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    Path(project.directory, "sub", "out").symlink_to(tmp_path)
    states = await calls(
        alice,
        session,
        ("read", {"filePath": "../../secret.txt"}),
        ("read", {"filePath": "out/secret.txt"}),
        ("bash", {"command": "pwd", "workdir": "out"}),
    )
    assert [state["status"] for state in states] == ["error"] * 3
    assert "secret" not in [state.get("output") for state in states]


@pytest.mark.parametrize("swap", ["remove", "link"])
async def test_a_folder_that_is_gone_ends_the_turn_with_a_reason(
    alice: User, session: Session, project: Project, tmp_path: Path, swap: str
) -> None:
    folder = Path(project.directory, "sub")
    shutil.rmtree(folder)
    if swap == "link":
        folder.symlink_to(tmp_path)
    assert await calls(alice, session, ("bash", {"command": "pwd"})) == []
    assert session.outcome == "failed"
    assert session.outcome_reason == {"reason": "folder_gone", "values": {"path": "sub"}}


async def test_sub_agents_and_forks_work_in_the_same_folder(
    alice: User, session: Session, project: Project
) -> None:
    task = {"description": "Look", "prompt": script([{"text": "ok"}]), "subagent_type": "general"}
    await calls(alice, session, ("task", task))
    child = await in_db(session.children.get)
    fork = await in_db(fork_session, await in_db(session_access, alice, session))
    for one in (child, fork):
        wire = await in_db(session_to_wire, one)
        assert (wire["path"], wire["directory"]) == ("sub", f"{project.directory}/sub")
