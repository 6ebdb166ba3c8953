from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from sessions.events.types import SessionStatus, SessionUpdated
from sessions.models import PermissionRequest, Project, Session
from teams.models import User
from tests.sessions.factories import make_session
from tests.sessions.story import Story, write

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]


@pytest.fixture
def child(alice: User, project: Project, session: Session) -> Session:
    """A sub-agent that asks for something, while its parent waits for it."""
    made = make_session(alice, project, title="Look around (@general subagent)", parent=session)
    story = Story(made, alice)
    story.ask("look around")
    story.answer()
    story.waits("ls -la")
    write(session, SessionStatus(state="busy", waits_for="children"))
    return made


def test_what_a_sub_agent_asks_is_answered_on_the_page_of_its_root(
    client_for: ClientFor, alice: User, session: Session, child: Session
) -> None:
    client = client_for(alice)
    html = client.get(f"/t/acme/s/{session.pk}").content.decode()
    request = PermissionRequest.objects.get(session=child)
    assert f'id="perm-{request.pk}"' in html
    assert (
        f'href="/t/acme/s/{session.pk}/sub/{child.pk}">Look around (@general subagent)</a>' in html
    )
    assert "Waiting for you" in html.split('id="session-header"')[1].split("</header>")[0]
    form = f"/t/acme/s/{session.pk}/permission/{request.pk}"
    answered = client.post(form, {"reply": "once"})
    assert answered.headers["Location"] == f"/t/acme/s/{session.pk}"
    request.refresh_from_db()
    assert request.status == "once"
    assert "Waiting for you" not in client.get(f"/t/acme/s/{session.pk}").content.decode()


def test_the_list_of_sessions_says_that_somebody_is_needed(
    client_for: ClientFor, alice: User, session: Session, child: Session
) -> None:
    html = client_for(alice).get("/t/acme/rail").content.decode()
    assert f'href="/t/acme/s/{session.pk}"' in html.split("Needs you")[1]
    assert "Permission: ls -la" in html
    assert child.pk not in html


def test_fr_01_a_sub_agents_page_is_read_only_and_leads_on(
    client_for: ClientFor, alice: User, project: Project, session: Session, child: Session
) -> None:
    last = make_session(alice, project, title="Refresh", parent=session)
    write(session, SessionUpdated(agent="build"))
    client, base = client_for(alice), f"/t/acme/s/{session.pk}"
    answer = client.get(f"/t/acme/s/{child.pk}?panel=context", follow=True)
    assert answer.redirect_chain == [(f"{base}/sub/{child.pk}?panel=context", 302)]
    html = answer.content.decode()
    nav = html.split('id="sub-place"')[1].split("</nav>")[0]
    assert f'href="{base}"' in nav
    assert "Sub-agent 1 of 2" in nav
    assert f'href="{base}/sub/{last.pk}"' in nav
    assert f'data-session="{child.pk}"' in html
    assert '<span class="prompt-author">Build, for Alice</span>' in html
    for absent in ("composer", "rename", "share"):
        assert f'id="{absent}"' not in html
    after = client.get(f"{base}/sub/{last.pk}").content.decode()
    assert f'href="{base}/sub/{child.pk}"' in after.split('id="sub-place"')[1]


def test_a_sub_agent_is_found_below_its_own_session_only(
    client_for: ClientFor, alice: User, project: Project, session: Session, child: Session
) -> None:
    other = make_session(alice, project)
    for path in (f"{other.pk}/sub/{child.pk}", f"{session.pk}/sub/{other.pk}"):
        assert client_for(alice).get(f"/t/acme/s/{path}").status_code == 404


def test_the_row_of_a_task_says_how_far_its_sub_agent_is(
    client_for: ClientFor, alice: User, session: Session, child: Session
) -> None:
    story = Story(session, alice)
    story.ask("delegate")
    story.answer()
    given = {"description": "Look around", "subagent_type": "general", "prompt": "look"}
    story.running("task", given, sessionId=child.pk)
    html = client_for(alice).get(f"/t/acme/s/{session.pk}").content.decode()
    row = html.split('data-tool="task"')[1].split('<div class="dock"')[0]
    assert "general · 1 tool call" in row
    assert f'href="/t/acme/s/{session.pk}/sub/{child.pk}"' in row
    assert f'action="/t/acme/s/{child.pk}/stop"' in row


def test_a_request_is_not_answered_on_a_page_of_another_session(
    client_for: ClientFor, alice: User, project: Project, child: Session
) -> None:
    other = make_session(alice, project)
    request = PermissionRequest.objects.get(session=child)
    form = f"/t/acme/s/{other.pk}/permission/{request.pk}"
    assert client_for(alice).post(form, {"reply": "once"}).status_code == 404
