from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.test import AsyncClient

from sessions.models import Session
from sessions.stream import hub
from teams.models import Scope, User
from tests.sessions.api.conftest import Connect, ConnectAsync

pytestmark = pytest.mark.django_db(transaction=True)
JSON = "application/json"
TOLD: list[tuple[str, dict[str, Any], str, dict[str, Any]]] = [
    ("append-prompt", {"text": "hi"}, "tui.prompt.append", {"text": "hi"}),
    (
        "execute-command",
        {"command": "agent.cycle"},
        "tui.command.execute",
        {"command": "agent.cycle"},
    ),
    ("open-sessions", {}, "tui.command.execute", {"command": "session.list"}),
    ("submit-prompt", {}, "tui.command.execute", {"command": "prompt.submit"}),
    (
        "show-toast",
        {"message": "m", "variant": "info"},
        "tui.toast.show",
        {"message": "m", "variant": "info"},
    ),
    (
        "publish",
        {"type": "tui.prompt.append", "properties": {"text": "x"}},
        "tui.prompt.append",
        {"text": "x"},
    ),
]


class Stream:
    """The events of one client, from the first on."""

    def __init__(self, client: AsyncClient, path: str) -> None:
        self.client, self.path = client, path
        self.frames: AsyncIterator[bytes]

    async def __aenter__(self) -> Stream:
        answer = await self.client.get(self.path)
        self.frames = aiter(answer.streaming_content)
        await anext(self.frames)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.frames.aclose()  # type: ignore[attr-defined]

    async def next(self) -> dict[str, Any]:
        async with asyncio.timeout(30):
            frame = (await anext(self.frames)).decode()
        data = next(line for line in frame.splitlines() if line.startswith("data: "))
        return dict(json.loads(data.removeprefix("data: ")))


async def test_own_clients_are_told_and_nobody_else(
    alice: User, bob: User, connect_async: ConnectAsync
) -> None:
    mine, theirs = [await sync_to_async(connect_async)(one) for one in (alice, bob)]
    async with Stream(mine, "/global/event") as heard, Stream(theirs, "/event") as other:
        for name, body, kind, properties in TOLD:
            answer = await mine.post(f"/tui/{name}", body, content_type=JSON)
            assert answer.json() is True, name
            payload = (await heard.next())["payload"]
            assert (payload["type"], payload["properties"]) == (kind, properties)
        await theirs.post("/tui/append-prompt", {"text": "own"}, content_type=JSON)
        # The first that bob hears of is his own.
        assert (await other.next())["properties"] == {"text": "own"}


async def test_a_request_can_be_waited_for(alice: User, connect_async: ConnectAsync) -> None:
    client = await sync_to_async(connect_async)(alice)
    assert (await client.get("/tui/control/next?wait=0")).status_code == 204
    waiting = asyncio.create_task(client.get("/tui/control/next?wait=30"))
    while not waiting.done():
        # Until the wait has begun, what is said is lost.
        await client.post("/tui/append-prompt", {"text": "hi"}, content_type=JSON)
        await asyncio.wait({waiting}, timeout=0.05)
    assert (await waiting).json() == {"path": "/tui/append-prompt", "body": {"text": "hi"}}
    answered = await client.post("/tui/control/response", {"ok": True}, content_type=JSON)
    assert answered.json() is True


async def test_a_wait_that_falls_too_far_behind_is_asked_to_come_again(
    alice: User, connect_async: ConnectAsync, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, "CAPACITY", 0)
    client = await sync_to_async(connect_async)(alice)
    waiting = asyncio.create_task(client.get("/tui/control/next?wait=30"))
    while not waiting.done():
        await client.post("/tui/append-prompt", {"text": "hi"}, content_type=JSON)
        await asyncio.wait({waiting}, timeout=0.05)
    assert (await waiting).status_code == 503


def test_a_session_that_is_opened_must_be_there_to_be_seen(
    alice: User, charlie: User, connect: Connect, session: Session
) -> None:
    client = connect(alice)
    select = {"type": "tui.session.select", "properties": {"sessionID": session.pk}}
    assert client.post("/tui/select-session", {"sessionID": session.pk}, JSON).status_code == 200
    assert client.post("/tui/publish", select, JSON).status_code == 200
    outsider = connect(charlie, of=charlie.memberships.get().team)
    assert outsider.post("/tui/publish", select, JSON).status_code == 404
    assert client.post("/tui/publish", {**select, "type": "other"}, JSON).status_code == 400
    reader = connect(alice, Scope.READ)
    assert reader.post("/tui/append-prompt", {"text": "x"}, JSON).status_code == 403
