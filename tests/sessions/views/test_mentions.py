from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from django.test import Client

from sessions.models import Project, Session
from teams.models import User

# What looks at files does so on a thread of its own.
pytestmark = pytest.mark.django_db(transaction=True)
ClientFor = Callable[[User | None], Client]


@pytest.fixture
def browser(project: Project, alice: User, client_for: ClientFor) -> Client:
    folder = Path(project.directory)
    subprocess.run(["git", "init", "--quiet"], cwd=folder, check=True)
    for name in ("src/till.py", "src/with blank.py", "docs/till.md"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("x")
    project.config = {"command": {"tidy": {"template": "Tidy.", "description": "Cleans <b>up</b>"}}}
    project.save()
    return client_for(alice)


def asked(browser: Client, project: Project, typed: str, session: str = "") -> str:
    query = {"q": typed, "session": session} if session else {"q": typed}
    answer = browser.get(f"/t/acme/p/{project.pk}/mentions", query)
    assert answer.status_code == 200
    return answer.content.decode()


def test_files_folders_agents_and_commands_are_offered(
    browser: Client, project: Project, session: Session
) -> None:
    for own in ("", session.pk):
        files = asked(browser, project, "@till", own)
        assert 'data-insert="@src/till.py"' in files
        assert 'data-insert="@docs/till.md"' in files
        assert 'data-insert="@src/"' in asked(browser, project, "@src", own)
        # A name ends at a blank.
        assert "with blank" not in asked(browser, project, "@with", own)
        assert 'data-insert="@explore"' in asked(browser, project, "@exp", own)
        commands = asked(browser, project, "/ti", own)
        assert 'data-insert="/tidy"' in commands
        assert "Cleans &lt;b&gt;up&lt;/b&gt;" in commands
    assert "Nothing here has that in its name." in asked(browser, project, "@zzzz")


def test_another_projects_session_gives_nothing_away(
    browser: Client, project: Project, session: Session
) -> None:
    answer = browser.get(f"/t/acme/p/{project.pk}/mentions", {"q": "@", "session": "ses_unknown"})
    assert answer.status_code == 404
