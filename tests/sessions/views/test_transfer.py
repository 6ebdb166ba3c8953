from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from sessions.models import Project, Session
from teams.models import User

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]


def _file(content: bytes) -> SimpleUploadedFile:
    return SimpleUploadedFile("session.json", content, content_type="application/json")


def test_a_file_becomes_a_session(alice: User, project: Project, client_for: ClientFor) -> None:
    client = client_for(alice)
    page = f"/t/acme/p/{project.pk}/"
    assert f'action="{page}import"' in client.get(page).content.decode()
    document = {"info": {"title": "Brought"}, "messages": []}
    answer = client.post(f"{page}import", {"file": _file(json.dumps(document).encode())})
    session = Session.objects.get()
    assert (session.title, session.project, session.owner) == ("Brought", project, alice)
    assert answer.headers["Location"] == f"/t/acme/s/{session.pk}"
    assert "Session imported." in client.get(answer.headers["Location"]).content.decode()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"no json", "The body is not JSON."),
        (b"[]", "Choose a JSON file"),
        (b'{"info": {}, "messages": 3}', "messages: a list"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(
    alice: User, project: Project, client_for: ClientFor, content: bytes, said: str
) -> None:
    answer = client_for(alice).post(f"/t/acme/p/{project.pk}/import", {"file": _file(content)})
    assert answer.status_code == 400
    assert said in answer.content.decode()
    assert not Session.objects.exists()


def test_a_session_offers_its_export(alice: User, session: Session, client_for: ClientFor) -> None:
    page = client_for(alice).get(f"/t/acme/s/{session.pk}").content.decode()
    assert f'href="/session/{session.pk}/export" download' in page
