from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from pytest_django import Settings

from opencode_web.lib.db import in_db
from opencode_web.lib.errors import Conflict
from sessions.actions.checkouts import (
    Plan,
    checkout_of,
    request_commit,
    request_drop,
    request_look,
    request_merge,
    request_restore,
    work_in_project,
)
from sessions.actions.sessions import delete_session
from sessions.checkouts.jobs import run_job
from sessions.models import Checkout, Project, Session
from teams.models import User
from tests.sessions.checkouts.conftest import INIT, run
from tests.sessions.factories import make_session, prompt, script, session_access
from tests.sessions.runner.drains import allow_bash, drain, parts_of

pytestmark = pytest.mark.any_database


@pytest.fixture
def shop(project: Project, tmp_path: Path, settings: Settings) -> Path:
    settings.DATA_DIR = tmp_path / "data"
    folder = Path(project.directory)
    run(f"rm -rf .git; {INIT}", folder)
    return folder


@pytest.fixture
def own(alice: User, project: Project, shop: Path) -> Session:
    session = make_session(alice, project, title="Mend the till", checkout=Plan())
    allow_bash(session)
    return session


def write(text: str, *, file: str = "till.py") -> str:
    return sh(f"echo {text} >{file}")


def sh(command: str) -> str:
    call = {"tool": "bash", "input": {"command": command, "description": "Run"}}
    return script([call], [{"text": "ok"}])


async def output(session: Session) -> str:
    part = (await in_db(parts_of, session, "tool"))[-1]
    assert part["state"]["status"] == "completed", part["state"]
    return str(part["state"]["output"])


async def do(request, user: User, session: Session, **fields: str) -> Checkout:  # type: ignore[no-untyped-def]
    row = await in_db(lambda: request(session_access(user, session), **fields))
    await run_job(row.pk)
    await in_db(row.refresh_from_db)
    return row


async def test_a_turn_works_in_its_own_worktree_and_branch(
    alice: User, own: Session, shop: Path
) -> None:
    assert own.folder.endswith(f"/{own.pk}/shop")
    await in_db(
        prompt, alice, own, sh("pwd; git status -sb; echo mine >>till.py; git commit -qam x")
    )
    await drain(own)
    assert own.outcome == "done", own.outcome_detail
    said = await output(own)
    checkout = await in_db(checkout_of, own)
    assert checkout is not None
    assert (checkout.state, checkout.base_branch) == ("ready", "main")
    assert said.splitlines()[:2] == [own.folder, f"## {checkout.branch}"]
    assert run("git log --format=%s", Path(own.folder)) == "x\nFirst\n"
    assert run("git log --format=%s; git status --porcelain", shop) == "First\n"
    shown = Path(own.folder, "till.py").read_text()
    assert shown.endswith("mine\n")
    assert await in_db(lambda: own.summary) == {"additions": 1, "deletions": 0, "files": 1}


async def test_commands_cannot_reach_the_project_or_the_store(
    alice: User, own: Session, shop: Path, tmp_path: Path
) -> None:
    store = tmp_path / "data" / "checkouts" / own.project_id / "store.git"
    tries = (
        f"cat {shop}/till.py; ls {shop}; ls {store}; echo x >{store}/objects/x; "
        f"rm -rf {store}/objects; ls {store}/objects; touch {tmp_path}/data/x; true"
    )
    await in_db(prompt, alice, own, sh(tries))
    await drain(own)
    said = await output(own)
    assert "pack" in said
    assert said.count("No such file or directory") >= 2
    assert "Read-only file system" in said
    assert "one" not in said
    assert (store / "objects" / "pack").is_dir()
    assert not (store / "objects" / "x").exists()


async def test_two_sessions_of_one_project_edit_one_file_at_once(
    alice: User, bob: User, project: Project, own: Session, shop: Path
) -> None:
    other = await in_db(lambda: make_session(bob, project, checkout=Plan()))
    wait = "sleep 0.5; cat till.py"
    await in_db(prompt, alice, own, sh(f"echo alice >till.py; {wait}"))
    await in_db(prompt, bob, other, sh(f"echo bob >till.py; {wait}"))
    await asyncio.gather(drain(own), drain(other))
    assert (await output(own)).strip() == "alice"
    assert (await output(other)).strip() == "bob"
    assert (shop / "till.py").read_text() == "one\ntwo\nthree\n"


async def test_work_is_committed_merged_dropped_and_made_again(
    alice: User, own: Session, shop: Path
) -> None:
    await in_db(prompt, alice, own, write("new", file="new"))
    await drain(own)
    row = await do(request_look, alice, own)
    assert (row.ahead, row.behind, row.dirty) == (0, 0, 1)
    row = await do(request_commit, alice, own, message="Add new")
    assert (row.job_failed, row.ahead, row.dirty) == (False, 1, 0), row.job_detail
    row = await do(request_merge, alice, own)
    assert (row.job_failed, row.ahead) == (False, 0), row.job_detail
    assert "fast-forward" in row.job_detail
    assert run("git log -1 --format='%s %ae'", shop) == "Add new alice@example.com\n"
    row = await do(request_drop, alice, own)
    assert (row.state, row.rescued) == ("dropped", "")
    assert not Path(own.folder).exists()
    await in_db(prompt, alice, own, sh("cat new"))
    await drain(own)
    assert (await output(own)).strip() == "new"


async def test_what_is_dropped_is_rescued_and_comes_back_with_the_next_prompt(
    alice: User, own: Session, shop: Path
) -> None:
    await in_db(prompt, alice, own, write("new", file="new"))
    await drain(own)
    row = await do(request_drop, alice, own)
    assert row.state == "parked"
    assert f"refs/opencode/rescue/{own.pk}" in row.job_detail
    assert run(f"git show refs/opencode/rescue/{own.pk}:new", shop) == "new\n"
    row = await do(request_restore, alice, own)
    assert (row.state, row.dirty) == ("ready", 1), row.job_detail
    await do(request_drop, alice, own)
    await in_db(prompt, alice, own, sh("git status --porcelain"))
    await drain(own)
    assert (await output(own)).strip() == "?? new"


async def test_a_deleted_session_leaves_its_work_rescued(
    alice: User, own: Session, shop: Path
) -> None:
    await in_db(prompt, alice, own, write("new", file="new"))
    await drain(own)
    pk, folder = own.pk, Path(own.folder)
    await in_db(lambda: delete_session(session_access(alice, own)))
    row = await in_db(Checkout.objects.get, pk=pk)
    assert (row.job, row.session_id) == ("drop", None)
    await run_job(pk)
    await in_db(row.refresh_from_db)
    assert (row.state, row.title) == ("parked", "Mend the till")
    assert not folder.exists()
    assert run(f"git show refs/opencode/rescue/{pk}:new", shop) == "new\n"


async def test_nothing_is_done_while_a_turn_runs(alice: User, own: Session) -> None:
    await in_db(prompt, alice, own, sh("echo x >x; sleep 3"))
    turn = asyncio.create_task(drain(own))
    while not Path(own.folder, "x").exists():
        await asyncio.sleep(0.05)
    for request in (request_drop, request_merge):
        with pytest.raises(Conflict, match="running in this worktree"):
            await do(request, alice, own)
    await turn
    first = await in_db(lambda: request_drop(session_access(alice, own)))
    with pytest.raises(Conflict, match="Another operation"):
        await in_db(lambda: request_drop(session_access(alice, own)))
    await asyncio.gather(run_job(first.pk), run_job(first.pk))
    await in_db(first.refresh_from_db)
    assert (first.state, first.job) == ("parked", "")


async def test_a_turn_waits_for_a_drop_and_goes_on_with_what_was_rescued(
    alice: User, own: Session
) -> None:
    await in_db(prompt, alice, own, write("new", file="new"))
    await drain(own)
    row = await in_db(lambda: request_drop(session_access(alice, own)))
    await in_db(prompt, alice, own, sh("cat new"))
    # The job sees that a turn has begun since, and leaves everything as it is.
    await asyncio.gather(drain(own), run_job(row.pk))
    assert (await output(own)).strip() == "new"
    await in_db(row.refresh_from_db)
    assert row.job == ""


async def test_where_none_can_be_made_the_session_works_in_the_project_or_says_why(
    alice: User, project: Project, shop: Path
) -> None:
    run("rm -rf .git; git init -q", shop)
    default = await in_db(lambda: make_session(alice, project, checkout=Plan(asked=False)))
    await in_db(allow_bash, default)
    await in_db(prompt, alice, default, write("here"))
    await drain(default)
    assert (default.folder, default.outcome) == ("", "done")
    assert (shop / "till.py").read_text() == "here\n"
    row = await in_db(checkout_of, default)
    assert row is not None
    assert (row.state, "no commit yet" in row.detail) == ("shared", True)
    asked = await in_db(lambda: make_session(alice, project, checkout=Plan()))
    await in_db(prompt, alice, asked, write("there"))
    await drain(asked)
    assert asked.outcome == "failed"
    assert asked.outcome_reason["reason"] == "worktree_not_made"
    assert asked.outcome_reason["values"]["reason"]["reason"] == "checkout_nothing_to_start"
    run("git add -A; git commit -qm First", shop)
    await in_db(prompt, alice, asked, write("there"))
    await drain(asked)
    assert asked.outcome == "done", asked.outcome_detail
    assert Path(asked.folder, "till.py").read_text() == "there\n"
    with pytest.raises(Conflict, match="already has a worktree"):
        await in_db(lambda: work_in_project(session_access(alice, asked)))


async def test_sub_agents_share_the_worktree(alice: User, own: Session) -> None:
    task = {
        "description": "Look",
        "prompt": sh("pwd >where"),
        "subagent_type": "general",
    }
    steps = script([{"tool": "task", "input": task}], [{"text": "ok"}])
    await in_db(prompt, alice, own, steps)
    await drain(own)
    child = await in_db(own.children.get)
    assert child.folder == own.folder
    await drain(child)
    assert Path(own.folder, "where").read_text().strip() == own.folder


async def test_a_turn_goes_first_when_nobody_has_begun_a_job(alice: User, own: Session) -> None:
    await in_db(prompt, alice, own, write("new", file="new"))
    await drain(own)
    row = await in_db(lambda: request_drop(session_access(alice, own)))
    await in_db(prompt, alice, own, sh("cat new"))
    await drain(own)
    assert (await output(own)).strip() == "new"
    await in_db(row.refresh_from_db)
    assert (row.job, row.job_failed, row.job_detail) == (
        "",
        True,
        "A turn has begun in the meantime.",
    )
    assert Path(own.folder).is_dir()


async def test_a_worktree_whose_drop_died_at_its_end_comes_back_with_the_next_turn(
    alice: User, own: Session
) -> None:
    await in_db(prompt, alice, own, write("new", file="new"))
    await drain(own)
    row = await do(request_drop, alice, own)
    # As it is when a worker is killed after the folder went and before the row says so.
    await in_db(Checkout.objects.filter(pk=row.pk).update, state="ready", job="drop")
    await in_db(prompt, alice, own, sh("cat new"))
    await drain(own)
    assert (await output(own)).strip() == "new"
