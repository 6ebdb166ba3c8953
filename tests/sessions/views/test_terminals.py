from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from opencode_web.lib.reasons import Cause
from sessions.events.reasons import TerminalReason, read_cause
from sessions.models import Project, Session, Terminal
from sessions.terminals.lease import until
from sessions.terminals.life import end_terminal
from teams.models import Team, User
from tools.sandbox.stop_reasons import StopReason

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]
HTMX = {"HX-Request": "true"}
Ask = Callable[..., str]


@pytest.fixture
def tabs(client_for: ClientFor, session: Session) -> Ask:
    def ask(user: User) -> str:
        url = f"/t/acme/s/{session.pk}/terminals"
        answer = client_for(user).get(url, headers=HTMX)
        assert answer.status_code == 200
        return str(answer.content.decode())

    return ask


def make_terminal(project: Project, creator: User, **fields: Any) -> Terminal:
    given = {"status": Terminal.Status.RUNNING, "title": "Build", "lease_until": until(60)}
    terminal_id = f"pty_{Terminal.objects.count()}"
    return Terminal.objects.create(
        id=terminal_id, project=project, creator=creator, cwd="/", **{**given, **fields}
    )


def test_a_person_sees_their_own_and_what_others_show(
    tabs: Ask, project: Project, alice: User, bob: User, adam: User, vera: User
) -> None:
    make_terminal(project, alice, title="<b>Mine</b>")
    make_terminal(project, alice, title="Shown", watchable=True)
    make_terminal(project, alice, title="Elsewhere", watchable=True, folder="/other/worktree")
    mine = tabs(alice)
    assert "&lt;b&gt;Mine&lt;/b&gt;" in mine
    assert 'data-owner=""' in mine
    assert "Elsewhere" not in mine
    for other in (bob, adam):
        html = tabs(other)
        assert "Mine" not in html
        assert f'data-owner="{alice.display_name}"' in html
        assert "Shown" in html
    assert "Shown" not in tabs(vera)
    assert "Team members can open terminals here." in tabs(vera)
    assert "data-terminal-open" not in tabs(vera)


def test_how_one_ended_is_told_to_its_own_person(
    tabs: Ask, project: Project, alice: User, bob: User
) -> None:
    over = {"status": Terminal.Status.EXITED, "watchable": True}
    make_terminal(project, alice, exit_code=3, **over)
    make_terminal(project, alice, detail="The server was stopped.", **over)
    html = tabs(alice)
    assert 'data-ended="Ended with exit code 3."' in html
    assert 'data-ended="Ended. The server was stopped."' in html
    assert "data-terminal-id" not in tabs(bob)


@pytest.mark.parametrize(
    ("told", "text"),
    [
        (Cause(TerminalReason.IDLE, {"hours": 12}), "Nobody has typed anything for 12 hours."),
        (
            Cause(TerminalReason.LIMIT, {"why": StopReason.MEMORY.over_bytes(512 << 20)}),
            "It was ended: it used more than 512 MB of memory.",
        ),
    ],
)
def test_why_the_server_ended_one_is_kept_as_a_reason(
    tabs: Ask, project: Project, alice: User, told: Cause, text: str
) -> None:
    row = make_terminal(project, alice)
    end_terminal(row.pk, code=137, told=told)
    row.refresh_from_db()
    assert (row.detail, read_cause(row.cause)) == (text, told)
    assert f'data-ended="Ended with exit code 137. {text}"' in tabs(alice)


def test_where_terminals_are_switched_off_the_pane_says_so(
    tabs: Ask, project: Project, alice: User
) -> None:
    assert f'data-terminal-open="/pty?directory={project.directory.replace("/", "%2F")}' in tabs(
        alice
    )
    project.config = {"limits": {"terminals": 0}}
    project.save()
    off = tabs(alice)
    project.config = {}
    project.save()
    Team.objects.filter(pk=project.team_id).update(max_terminals=0)
    for html in (off, tabs(alice)):
        assert "Terminals are turned off." in html
        assert "data-terminal-open" not in html


def test_only_who_may_have_terminals_gets_pages_that_take_their_styles(
    client_for: ClientFor, session: Session, alice: User, vera: User
) -> None:
    session_url = f"/t/acme/s/{session.pk}?panel=terminal"
    project_url = f"/t/acme/p/{session.project_id}/"
    # Any of them may be the first, whose policy is that of those which take its place.
    for url in (session_url, project_url, "/t/acme/", "/t/acme/inbox", "/t/acme/board"):
        page = client_for(alice).get(url)
        policy = page["Content-Security-Policy"]
        assert "style-src 'self' 'unsafe-inline'" in policy
        assert "'unsafe-inline'" not in policy.replace("style-src 'self' 'unsafe-inline'", "")
        assert 'data-policy="work"' in page.content.decode()
        other = client_for(vera).get(url)
        assert "unsafe-inline" not in other["Content-Security-Policy"]
        assert "data-policy" not in other.content.decode()
    settings = client_for(alice).get("/t/acme/settings/general")
    assert "unsafe-inline" not in settings["Content-Security-Policy"]
    assert "data-policy" not in settings.content.decode()


def test_the_pane_says_without_scripts_that_it_needs_them(
    client_for: ClientFor, session: Session, alice: User
) -> None:
    page = client_for(alice).get(f"/t/acme/s/{session.pk}?panel=terminal").content.decode()
    assert "<noscript>" in page
    assert "No terminal is open." in page
    list_url = f"/t/acme/s/{session.pk}/terminals"
    assert client_for(alice).get(list_url)["Location"].endswith("?panel=terminal")
