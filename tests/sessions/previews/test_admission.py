from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any

import pytest
from asgiref.testing import ApplicationCommunicator
from channels.testing import WebsocketCommunicator
from django.contrib.sessions.backends.db import SessionStore
from django.test import Client
from websockets.asyncio.server import serve
from websockets.typing import Subprotocol

from opencode_web.lib.db import in_db
from opencode_web.lib.errors import AppError, Conflict, Forbidden, NotFound, Unauthorized
from sessions.access import access_terminal
from sessions.actions.previews import admit_visit, issue_ticket, open_preview, take_ticket
from sessions.consumers import PreviewHosts
from sessions.consumers.preview import admission
from sessions.consumers.preview.forward import Cut
from sessions.consumers.preview.headers import Headers
from sessions.models import Preview, Project, Terminal
from sessions.stream.rights import FORBIDDEN
from sessions.terminals.lease import until
from teams.auth import authenticate_user
from teams.browser import BrowserSession
from teams.models import AuditEntry, Membership, Role, Team, User
from tests.sessions.previews.apps import PATIENCE_S, served

ORIGIN = "http://127.0.0.1:4096"


def sign_in(user: User) -> BrowserSession:
    client = Client()
    client.force_login(user)
    assert client.session.session_key
    return BrowserSession(client.session.session_key)


def make_preview(user: User, project: Project, *, port: int = 5173) -> Preview:
    terminal = Terminal.objects.create(
        id=f"pty_{port}",
        project=project,
        creator=user,
        title="One",
        command="/bin/sh",
        cwd=project.directory,
        status=Terminal.Status.RUNNING,
        lease_until=until(60),
    )
    principal = authenticate_user(user, browser=sign_in(user))
    access = access_terminal(principal, terminal.pk, own=True)
    return open_preview(access, port, app_origin=ORIGIN)


@pytest.mark.django_db
def test_a_ticket_is_good_once_at_its_own_preview_and_not_after_a_newer_one(
    bob: User, project: Project
) -> None:
    preview, other = (make_preview(bob, project, port=port) for port in (5173, 5174))
    older, newer = issue_ticket(preview), issue_ticket(preview)
    assert take_ticket(other.label, newer) is None
    assert take_ticket(preview.label, newer + "x") is None
    entry = take_ticket(preview.label, newer)
    assert entry is not None
    assert take_ticket(preview.label, newer) is None
    assert take_ticket(preview.label, older) is None
    assert admit_visit(preview.label, entry.cookie).port == 5173
    for wrong in ("", "é", entry.cookie[:-1]):
        with pytest.raises(Unauthorized):
            admit_visit(preview.label, wrong)
    with pytest.raises(Unauthorized):
        admit_visit(other.label, entry.cookie)
    assert AuditEntry.objects.filter(action="preview.opened").count() == 2


def _sign_out(preview: Preview, _team: Team) -> None:
    SessionStore(preview.browser_key).flush()


def _make_viewer(preview: Preview, team: Team) -> None:
    Membership.objects.filter(team=team, user=preview.terminal.creator).update(role=Role.VIEWER)


def _leave(preview: Preview, team: Team) -> None:
    Membership.objects.filter(team=team, user=preview.terminal.creator).delete()


def _end(preview: Preview, _team: Team) -> None:
    Terminal.objects.filter(pk=preview.terminal_id).update(status=Terminal.Status.EXITED)


def _forget(preview: Preview, _team: Team) -> None:
    Preview.objects.filter(pk=preview.pk).delete()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("change", "refusal"),
    [
        (_sign_out, Unauthorized),
        (_make_viewer, Forbidden),
        (_leave, NotFound),
        (_end, Conflict),
        (_forget, NotFound),
    ],
)
def test_it_is_open_while_its_person_may_use_the_terminal(
    bob: User,
    team: Team,
    project: Project,
    change: Callable[[Preview, Team], None],
    refusal: type[AppError],
) -> None:
    preview = make_preview(bob, project)
    entry = take_ticket(preview.label, issue_ticket(preview))
    assert entry is not None
    admit_visit(preview.label, entry.cookie)
    change(preview, team)
    with pytest.raises(refusal):
        admit_visit(preview.label, entry.cookie)


def admitted(user: User, project: Project) -> tuple[Preview, Headers]:
    preview = make_preview(user, project)
    entry = take_ticket(preview.label, issue_ticket(preview))
    assert entry is not None
    return preview, [
        (b"host", f"{preview.label}.localhost:4096".encode()),
        (b"cookie", f"__Host-opencode-preview={entry.cookie}".encode()),
    ]


async def _echo(connection: Any) -> None:
    async for message in connection:
        await connection.send(message)


@pytest.mark.django_db(transaction=True)
async def test_who_loses_the_right_loses_the_open_websocket(
    bob: User, team: Team, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(admission, "CHECK_S", 0.05)
    preview, headers = await in_db(admitted, bob, project)
    async with (
        serve(_echo, "127.0.0.1", 0, subprotocols=[Subprotocol("one")]) as server,
        served(server, preview.terminal_id) as network,
    ):
        await in_db(Preview.objects.filter(pk=preview.pk).update, port=network.port)
        foreign = [*headers, (b"origin", b"https://evil.example")]
        refused = WebsocketCommunicator(PreviewHosts(_nothing), "/socket", foreign)
        assert await refused.connect() == (False, FORBIDDEN)
        socket = WebsocketCommunicator(PreviewHosts(_nothing), "/socket", headers, ["one"])
        assert await socket.connect(PATIENCE_S) == (True, "one")
        await socket.send_to(text_data="é" * 100_000)
        assert await socket.receive_from(PATIENCE_S) == "é" * 100_000
        await socket.send_to(bytes_data=b"\0\xff")
        assert await socket.receive_from(PATIENCE_S) == b"\0\xff"
        await in_db(_make_viewer, preview, team)
        assert await socket.receive_output(PATIENCE_S) == {
            "type": "websocket.close",
            "code": FORBIDDEN,
        }


async def _nothing(*_: Any) -> None:
    raise AssertionError("it is for a preview")


async def _stream(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    asked = await reader.readuntil(b"0\r\n\r\n")
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
    writer.write(head + b"data: %d\n\n" % asked.count(b"piece"))
    with contextlib.suppress(OSError):
        await reader.read()
    writer.close()


@pytest.mark.django_db(transaction=True)
async def test_a_response_comes_while_it_is_written_and_is_cut_off_with_the_right(
    bob: User, team: Team, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(admission, "CHECK_S", 0.05)
    preview, headers = await in_db(admitted, bob, project)
    async with (
        await asyncio.start_server(_stream, "127.0.0.1", 0) as server,
        served(server, preview.terminal_id) as network,
    ):
        await in_db(Preview.objects.filter(pk=preview.pk).update, port=network.port)
        scope = {"type": "http", "method": "POST", "path": "/", "query_string": b""}
        scope |= {"headers": [*headers, (b"transfer-encoding", b"chunked")]}
        request = ApplicationCommunicator(PreviewHosts(_nothing), scope)
        for more in (True, False):
            body = {"type": "http.request", "body": b"piece", "more_body": more}
            await request.send_input(body)
        start = await request.receive_output(PATIENCE_S)
        assert start["status"] == 200
        assert (b"content-type", b"text/event-stream") in start["headers"]
        assert (await request.receive_output(PATIENCE_S))["body"] == b"data: 2\n\n"
        await in_db(_make_viewer, preview, team)
        with pytest.raises(Cut):
            await request.wait(PATIENCE_S)
