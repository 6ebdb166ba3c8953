from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from django.test import Client
from django.utils import timezone

from opencode_web.lib.ids import new_id
from sessions.actions.privacy import set_private
from sessions.config.effective import project_config
from sessions.events.parts import PatchPart
from sessions.events.types import PartUpdated
from sessions.mcp.servers import digest_of
from sessions.models import McpServer, Project, Session
from teams.models import Role, Team, User
from tests.factories import add_member, make_user
from tests.sessions.factories import make_session, session_access
from tests.sessions.story import Story, write

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
    assert "No matches." in asked(browser, project, "@zzzz")


def test_resources_of_servers_are_offered_to_whom_they_were_listed(
    browser: Client, project: Project, alice: User, bob: User, client_for: ClientFor
) -> None:
    """FEAT-0008 FR-03, NFR-02."""
    url = "https://mcp.example.com/"
    project.config = {
        "mcp": {
            "the shop": {"command": ["shop"]},
            "mail": {"type": "remote", "url": url, "account": "own"},
            "off": {"command": ["off"], "enabled": False},
        }
    }
    project.save()
    servers = project_config(project).mcp
    hours = {"name": "Opening <hours>", "uri": "shop://hours", "description": "When it is open"}
    blank = {"name": "hours, cut", "uri": "shop://hours, cut"}
    mine = {"name": "My hours", "uri": "mail://hours"}
    for name, user, found in (
        ("the shop", None, [hours, blank]),
        ("mail", alice, [mine]),
        ("off", None, [hours]),
    ):
        McpServer.objects.create(
            project=project,
            name=name,
            user=user,
            digest=digest_of(servers[name]),
            resources=found,
            asked_at=timezone.now(),
        )
    offered = asked(browser, project, "@hours")
    assert re.findall(r'data-insert="([^"]+)"', offered) == [
        "@mail:mail://hours",
        "@the_shop:shop://hours",
    ]
    assert "Opening &lt;hours&gt;" in offered
    assert "the shop · When it is open" in offered
    others = asked(client_for(bob), project, "@hours")
    assert re.findall(r'data-insert="([^"]+)"', others) == ["@the_shop:shop://hours"]


def test_symbols_are_asked_for_by_themselves(browser: Client, project: Project) -> None:
    # Without language servers there are none; files are not found a second time.
    answer = browser.get(f"/t/acme/p/{project.pk}/mentions", {"q": "@till", "symbols": "1"})
    assert answer.status_code == 200
    assert "data-insert" not in answer.content.decode()


def test_another_projects_session_gives_nothing_away(
    browser: Client, project: Project, session: Session
) -> None:
    answer = browser.get(f"/t/acme/p/{project.pk}/mentions", {"q": "@", "session": "ses_unknown"})
    assert answer.status_code == 404


def test_what_is_open_comes_first_then_what_the_agent_changed(
    browser: Client, project: Project, session: Session, alice: User
) -> None:
    folder = Path(project.directory)
    for name in ("src/till_a.py", "src/deep/till_b.py"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("x")

    def files(**query: str) -> list[str]:
        answer = browser.get(
            f"/t/acme/p/{project.pk}/mentions", {"q": "@till", "session": session.pk, **query}
        )
        return re.findall(r'data-insert="@([^"]+)"', answer.content.decode())

    assert files()[0] == "src/till.py"
    story = Story(session, alice)
    story.ask("hi")
    story.answer()
    part = PatchPart(
        id=new_id("prt"),
        sessionID=session.pk,
        messageID=story.message_id,
        hash="0" * 40,
        files=[f"{folder}/src/deep/till_b.py", "/elsewhere/till.py"],
    )
    write(session, PartUpdated(part=part))
    assert files()[0] == "src/deep/till_b.py"
    assert files(open="docs/till.md")[:2] == ["docs/till.md", "src/deep/till_b.py"]
    # A file that fits only by scattered letters is not preferred, nor one that is not there.
    assert files(open="src/till_z.py")[0] == "src/deep/till_b.py"


def test_past_sessions_are_offered_by_their_title(
    browser: Client, project: Project, session: Session, alice: User
) -> None:
    past = make_session(alice, project, title="Round the <till>")
    offered = asked(browser, project, "@till", session.pk)
    assert f'data-insert="@{past.pk} (Round the &lt;till&gt;)"' in offered
    assert past.pk not in asked(browser, project, "@", session.pk)
    Session.objects.filter(pk=session.pk).update(title="The till itself")
    assert f"@{session.pk} (" not in asked(browser, project, "@till", session.pk)


def test_people_who_see_it_are_offered(
    browser: Client, project: Project, session: Session, team: Team, alice: User, bill: User
) -> None:
    zoe = make_user("zoe@example.com", name="Zoe Quark")
    add_member(team, zoe, Role.MEMBER)
    for own in ("", session.pk):
        for typed in ("@zo", "@QUA", "@zoe-q"):
            assert 'data-insert="@Zoe-Quark"' in asked(browser, project, typed, own)
        assert "zoe@example.com" not in asked(browser, project, "@zoe", own)
        for typed in ("@alice", "@bill", "@charlie"):
            assert "No matches." in asked(browser, project, typed, own)
    set_private(session_access(alice, session), private=True)
    assert "No matches." in asked(browser, project, "@zoe", session.pk)
