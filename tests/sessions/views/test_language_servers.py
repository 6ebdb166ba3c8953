from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from django.test import Client
from django.utils import timezone

from sessions.language_servers.running import note_server
from sessions.models import LanguageServer, Project, Session
from sessions.present.place import Place
from teams.models import User
from tests.sessions.api.conftest import Connect, connect
from tools.lsp.pool import ServerState, Status

__all__ = ["connect"]
pytestmark = pytest.mark.django_db


def _note(session: Session, name: str, status: Status, root: str = "", reason: str = "") -> bool:
    folder = Path(session.directory).resolve()
    return note_server(session.pk, ServerState(name, folder / root, status, reason))


def _page(client: Client, user: User, session: Session) -> str:
    client.force_login(user)
    return client.get(Place.of(session).url("session")).content.decode()


def test_the_page_of_a_session_says_how_its_servers_are(
    client: Client, alice: User, project: Project, session: Session
) -> None:
    assert "No language server is running yet" not in _page(client, alice, session)
    project.config = {"lsp": True}
    project.save()
    assert "No language server is running yet" in _page(client, alice, session)
    _note(session, "pyright", Status.CONNECTED, "web")
    _note(session, "gopls", Status.ERROR, reason="<b>no</b> go")
    page = _page(client, alice, session)
    assert 'pyright in <span class="mono">web</span>: running' in page
    assert "gopls: failed: &lt;b&gt;no&lt;/b&gt; go" in page
    _note(session, "pyright", Status.GONE, "web")
    _note(session, "gopls", Status.GONE)
    assert "No language server is running yet" in _page(client, alice, session)


def test_what_a_killed_worker_ran_is_not_shown_for_long(
    alice: User, project: Project, session: Session, connect: Connect
) -> None:
    _note(session, "pyright", Status.CONNECTED)
    assert len(connect(alice).get("/lsp").json()) == 1
    LanguageServer.objects.update(seen_at=timezone.now() - timedelta(minutes=20))
    assert connect(alice).get("/lsp").json() == []


def test_servers_of_others_are_not_listed(bob: User, session: Session, connect: Connect) -> None:
    _note(session, "pyright", Status.CONNECTED)
    assert len(connect(bob).get("/lsp").json()) == 1
    response = connect(bob).get("/lsp", {"directory": "/somewhere/else"})
    assert response.status_code == 404


def test_a_session_that_is_gone_is_said(session: Session) -> None:
    _note(session, "pyright", Status.CONNECTED)
    pk, folder = session.pk, Path(session.directory)
    session.delete()
    assert note_server(pk, ServerState("pyright", folder, Status.CONNECTED)) is False
    assert not LanguageServer.objects.exists()


def test_long_names_and_places_are_cut(session: Session) -> None:
    for _ in range(2):
        _note(session, "x" * 200, Status.ERROR, "y/" * 500, "z\x00" * 1000)
    [row] = LanguageServer.objects.all()
    assert (len(row.name), len(row.root), len(row.reason)) == (80, 400, 400)
