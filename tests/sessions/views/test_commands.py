from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from sessions.models import Project, Session
from teams.models import User

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]


@pytest.fixture
def configured(project: Project) -> Project:
    project.config = {"command": {"fix": {"template": "Fix $1 please", "description": "Mends."}}}
    project.save()
    return project


def test_commands_are_listed_as_a_page_and_beside_the_message(
    configured: Project, vera: User, client_for: ClientFor
) -> None:
    url = f"/t/acme/p/{configured.pk}/commands"
    page = client_for(vera).get(url).content.decode()
    assert "<html" in page
    fragment = client_for(vera).get(url, headers={"HX-Request": "true"}).content.decode()
    assert fragment.lstrip().startswith('<div id="commands"')
    for text in (page, fragment):
        assert "/fix</span>" in text
        assert "Mends." in text
        assert "$1" in text


def test_a_command_is_run_from_the_message_field(
    configured: Project, session: Session, alice: User, client_for: ClientFor
) -> None:
    browser = client_for(alice)
    browser.post(f"/t/acme/s/{session.pk}/prompt", {"text": "/fix it", "model": "demo/inline"})
    row = session.inputs.get()
    assert row.data["parts"][0]["text"] == "Fix it please"
    browser.post("/t/acme/start", {"text": "/fix that", "project": configured.pk})
    started = Session.objects.exclude(pk=session.pk).get()
    assert started.inputs.get().data["parts"][0]["text"] == "Fix that please"
