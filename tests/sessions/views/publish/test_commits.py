from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest
from django.test import Client

from sessions.actions.checkouts import Plan
from sessions.checkouts.jobs import run_job
from sessions.models import Project, Session
from teams.models import AuditEntry, User
from tests.sessions.checkouts.conftest import run
from tests.sessions.factories import make_session
from tests.sessions.views.publish.panel import Panel, forms_of, worked

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.any_database]


def test_it_commits_in_the_name_of_who_asks_with_the_agent_as_co_author(
    browser: Client, own: Session, alice: User
) -> None:
    panel = Panel(browser, own)
    assert "Checking the files" in browser.get(panel.url).content.decode()
    shown = panel.show()
    assert f"{panel.row.branch}</span>" in shown
    assert "3 files" in shown
    assert ">Mend the till</textarea>" in shown
    assert forms_of(shown) == {"commit", "push", "switch", "rename"}
    row = panel.do("commit", message="Mend\r\n\r\nit", which="all")
    assert not row.job_failed, row.job_detail
    folder = Path(own.folder)
    said = run("git log -1 --format='%an <%ae>%n%B'", folder).strip().splitlines()
    assert said[0] == f"{alice.display_name} <{alice.email}>"
    assert said[1:4] == ["Mend", "", "it"]
    assert re.fullmatch(r"Co-authored-by: build \(.+\) <opencode-web@localhost>", said[-1])
    assert run("git status --porcelain", folder) == ""
    shown = panel.show()
    assert "Committed" in shown
    assert "commit" not in forms_of(shown)
    entry = AuditEntry.objects.get(action="checkout.committed")
    assert entry.actor == alice


def test_it_commits_chosen_files_only(browser: Client, own: Session) -> None:
    panel = Panel(browser, own)
    panel.show()
    run("git add till.py", Path(own.folder))
    row = panel.do("commit", message="Some", which="some", path=["new", "d/f"])
    assert not row.job_failed, row.job_detail
    assert run("git show --name-status --format= HEAD", Path(own.folder)) == "D\td/f\nA\tnew\n"
    assert run("git status --porcelain", Path(own.folder)) == "M  till.py\n"
    row = panel.do("commit", message="Again", which="some", path=["new"])
    assert row.job_failed
    assert "no changes any more: new" in row.job_detail
    assert "at least one file" in panel.refused("commit", message="None", which="some")


def test_what_git_would_take_for_a_pattern_or_an_option_is_a_name(
    browser: Client, alice: User, project: Project, shop: Path
) -> None:
    command = "echo 1 >'*.py'; echo 2 >--all; echo 3 >':(top)x'; echo x >>till.py"
    session = worked(alice, project, command, checkout=Plan())
    panel = Panel(browser, session)
    panel.show()
    row = panel.do("commit", message="-m x", which="some", path=["*.py", "--all", ":(top)x"])
    assert not row.job_failed, row.job_detail
    folder = Path(session.folder)
    named = run("git show --name-only --format= HEAD", folder).split()
    assert sorted(named) == ["*.py", "--all", ":(top)x"]
    assert run("git log -1 --format=%s", folder) == "-m x\n"


def test_a_click_that_comes_twice_commits_once(browser: Client, own: Session) -> None:
    panel = Panel(browser, own)
    panel.show()
    key = {"key": "msg_1-c", "message": "Once", "which": "all"}
    assert browser.post(f"{panel.url}/commit", key).status_code == 302
    assert browser.post(f"{panel.url}/commit", key).status_code == 302
    asyncio.run(run_job(own.pk))
    assert browser.post(f"{panel.url}/commit", key).status_code == 302
    assert panel.row.job == ""
    assert AuditEntry.objects.filter(action="checkout.committed").count() == 1


def test_nothing_is_committed_while_a_turn_is_at_work(browser: Client, own: Session) -> None:
    panel = Panel(browser, own)
    panel.show()
    Session.objects.filter(pk=own.pk).update(state="busy")
    assert "Stop it first" in panel.refused("commit", message="No", which="all")
    assert "Stop it first" in panel.refused("push", url="https://git.example.com/a/b.git")


def test_what_was_typed_stays_when_it_is_refused(browser: Client, own: Session) -> None:
    panel = Panel(browser, own)
    panel.show()
    answer = browser.post(f"{panel.url}/commit", {"message": "Kept", "which": "some", "path": []})
    assert "Kept</textarea>" in answer.content.decode()
    assert "not a valid branch name" in panel.refused("switch", name="-x")


def test_hooks_of_the_repository_do_not_run(browser: Client, own: Session) -> None:
    folder = Path(own.folder)
    hook = "printf '#!/bin/sh\\ntouch hooked\\nexit 1\\n'"
    run(f"mkdir -p .git/hooks; {hook} >.git/hooks/pre-commit", folder)
    run("cp .git/hooks/pre-commit .git/hooks/commit-msg; chmod +x .git/hooks/*", folder)
    panel = Panel(browser, own)
    panel.show()
    assert not panel.do("commit", message="Fine", which="all").job_failed
    assert not (folder / "hooked").exists()


def test_it_commits_in_the_projects_own_folder_with_a_warning(
    browser: Client, shared: Session, shop: Path
) -> None:
    panel = Panel(browser, shared)
    run("echo mine >theirs", shop)
    shown = panel.show()
    assert "These files may include changes of other people and sessions" in shown
    assert "rename" not in forms_of(shown)
    assert 'value="theirs"' in shown
    row = panel.do("commit", message="Mend", which="some", path=["new", "till.py"])
    assert not row.job_failed, row.job_detail
    assert run("git status --porcelain", shop) == "?? theirs\n"
    assert "cannot be renamed here" in panel.refused("rename", name="other")
    assert not panel.do("switch", name="feature/x").job_failed
    assert run("git branch --show-current", shop) == "feature/x\n"


def test_only_its_own_changes_are_ticked_in_the_projects_own_folder(
    browser: Client, shared: Session, shop: Path
) -> None:
    panel = Panel(browser, shared)
    run("echo mine >theirs", shop)
    shown = panel.show()
    ticks = dict(re.findall(r'name="path" value="([^"]+)"( checked)?', shown))
    assert ticks == {"new": " checked", "till.py": " checked", "theirs": ""}
    assert 'value="theirs"' in shown.split("Changed by others")[1]


def test_a_session_beside_it_is_waited_for_in_the_projects_folder(
    browser: Client, shared: Session, alice: User, project: Project
) -> None:
    panel = Panel(browser, shared)
    panel.show()
    other = make_session(alice, project)
    Session.objects.filter(pk=other.pk).update(state="busy")
    said = panel.refused("commit", message="No", which="all")
    assert "A session is running in the project folder" in said
