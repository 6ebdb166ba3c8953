from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from sessions.events.types import SessionStatus
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
    assert f'href="/t/acme/s/{child.pk}">Look around (@general subagent)</a>' in html
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


def test_a_sub_agents_page_leads_back(
    client_for: ClientFor, alice: User, session: Session, child: Session
) -> None:
    html = client_for(alice).get(f"/t/acme/s/{child.pk}").content.decode()
    title = html.split('id="session-title"')[1].split("</h1>")[0]
    assert f'<a href="/t/acme/s/{session.pk}"' in title


def test_a_request_is_not_answered_on_a_page_of_another_session(
    client_for: ClientFor, alice: User, project: Project, child: Session
) -> None:
    other = make_session(alice, project)
    request = PermissionRequest.objects.get(session=child)
    form = f"/t/acme/s/{other.pk}/permission/{request.pk}"
    assert client_for(alice).post(form, {"reply": "once"}).status_code == 404
