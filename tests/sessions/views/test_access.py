from __future__ import annotations

from collections.abc import Callable

from django.test import Client

from opencode_web.lib.ids import new_id
from sessions.models import PermissionRequest, Session
from teams.models import User
from tests.factories import make_team
from tests.sessions.story import Story

# Who may do what by role is in tests/architecture/page_table.py.


def test_a_session_is_not_reached_through_another_team_of_the_same_person(
    client_for: Callable[[User | None], Client], alice: User, session: Session
) -> None:
    make_team(alice, name="Other", slug="other")
    client = client_for(alice)
    assert client.get(f"/t/other/s/{session.pk}").status_code == 404
    assert client.get(f"/t/other/p/{session.project_id}/").status_code == 404
    assert client.post(f"/t/other/s/{session.pk}/stop").status_code == 404


def test_a_permission_is_not_answered_through_another_session(
    client_for: Callable[[User | None], Client], alice: User, session: Session
) -> None:
    story = Story(session, alice)
    story.ask("hi")
    story.answer()
    request = story.waits("ls")
    url = f"/t/acme/s/{new_id('ses')}/permission/{request}"
    assert client_for(alice).post(url, {"reply": "once"}).status_code == 404
    assert PermissionRequest.objects.get().status == "pending"


def test_who_is_not_signed_in_comes_back_to_the_page_afterwards(
    client_for: Callable[[User | None], Client], session: Session
) -> None:
    response = client_for(None).get(f"/t/acme/s/{session.pk}")
    assert response["Location"] == f"/login?next=/t/acme/s/{session.pk}"
