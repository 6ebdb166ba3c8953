from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from django.test import AsyncClient

from opencode_web.lib.db import in_db
from sessions.actions.sessions import update_session
from sessions.api.v2.shapes import permission_to_v2
from sessions.models import Event, PermissionRequest, Project, Session
from teams.models import User
from tests.sessions.api.conftest import ConnectAsync
from tests.sessions.api.shapes import ANY, ERROR, SESSION, check
from tests.sessions.factories import session_access
from tests.sessions.story import tell_whole_turn

pytestmark = pytest.mark.django_db(transaction=True)


async def read(answer: Any, count: int) -> list[str]:
    frames: list[str] = []
    async with asyncio.timeout(25):
        async for chunk in answer.streaming_content:
            frames.append(chunk.decode())
            if len(frames) == count:
                break
    await answer.streaming_content.aclose()
    return frames


async def rename(user: User, session: Session, title: str) -> None:
    await in_db(update_session, await in_db(session_access, user, session), title=title)


@pytest.mark.parametrize("path", ["/event", "/global/event", "/api/event"])
async def test_a_stream_is_plain_event_stream(
    path: str, alice: User, session: Session, connect_async: ConnectAsync
) -> None:
    client = await in_db(connect_async, alice)
    answer = await client.get(path)
    assert answer["Content-Type"] == "text/event-stream"
    assert answer["Cache-Control"] == "no-cache, no-transform"
    assert answer["X-Accel-Buffering"] == "no"
    (first,) = await read(answer, 1)
    newest = await in_db(Event.objects.latest, "pk")
    head, data, *rest = first.split("\n")
    assert head == f"id: {newest.pk}"
    assert rest == ["", ""]
    frame = json.loads(data.removeprefix("data: "))
    bare = {"id": str, "type": {"server.connected"}, "properties": {}}
    native = {"id": str, "type": {"server.connected"}, "data": {}}
    expected = {"/event": bare, "/global/event": {"payload": bare}, "/api/event": native}
    check(frame, expected[path])


async def test_the_second_version_has_a_location_with_each_event(
    alice: User, session: Session, project: Project, connect_async: ConnectAsync
) -> None:
    client = await in_db(connect_async, alice)
    seen = await in_db(Event.objects.latest, "pk")
    await rename(alice, session, "Renamed")
    answer = await client.get("/api/event", headers={"Last-Event-ID": str(seen.pk)})
    _, second = await read(answer, 2)
    frame = json.loads(second.split("\n")[1].removeprefix("data: "))
    shape = {"id": str, "type": {"session.updated"}, "data": ANY}
    place = {"directory": {project.directory}}
    position = {"aggregateID": {session.pk}, "seq": {seen.seq + 1}, "version": {1}}
    check(frame, {**shape, "location": place, "durable": position})
    assert frame["data"]["info"]["title"] == "Renamed"


async def test_a_turn_that_was_missed_comes_whole_and_each_event_with_its_place(
    alice: User, session: Session, connect_async: ConnectAsync
) -> None:
    client = await in_db(connect_async, alice)
    seen = await in_db(Event.objects.latest, "pk")
    await in_db(tell_whole_turn, session, alice)
    answer = await client.get("/api/event", headers={"Last-Event-ID": str(seen.pk)})
    _, missed = await read(answer, 2)
    frames = [
        json.loads(line.removeprefix("data: "))
        for line in missed.split("\n")
        if line.startswith("data: ")
    ]
    assert len({frame["id"] for frame in frames}) == len(frames)
    placed = [frame["durable"]["seq"] for frame in frames if "durable" in frame]
    assert placed == sorted(set(placed))
    history = (await client.get(f"/api/session/{session.pk}/history")).json()["data"]
    told = [frame for frame in frames if frame["type"].startswith("session.next.")]
    location = {"directory": session.project.directory}
    assert told == [
        {**event, "location": location} for event in history if event["durable"]["seq"] > seen.seq
    ]
    assert {"session.next.step.started", "session.next.tool.success"} <= {
        frame["type"] for frame in told
    }
    asked = next(frame["data"] for frame in frames if frame["type"] == "permission.v2.asked")
    row = await in_db(PermissionRequest.objects.get, session=session)
    assert asked == permission_to_v2(row)
    assert "permission.v2.replied" in {frame["type"] for frame in frames}


async def test_it_resumes_after_the_id_that_the_client_names(
    alice: User, session: Session, project: Project, connect_async: ConnectAsync
) -> None:
    client = await in_db(connect_async, alice)
    seen = await in_db(Event.objects.latest, "pk")
    await rename(alice, session, "Renamed")
    answer = await client.get(
        "/event", {"directory": project.directory}, headers={"Last-Event-ID": str(seen.pk)}
    )
    _, second = await read(answer, 2)
    head, data, *_ = second.split("\n")
    assert head == f"id: {seen.pk + 1}"
    frame = json.loads(data.removeprefix("data: "))
    check(frame, {"id": str, "type": {"session.updated"}, "properties": ANY})
    check(frame["properties"], {"sessionID": str, "info": SESSION})
    assert frame["properties"]["info"]["title"] == "Renamed"


async def test_a_stream_of_a_foreign_directory_is_not_found(
    charlie: User, session: Session, project: Project, connect_async: ConnectAsync
) -> None:
    globex = (await in_db(charlie.memberships.select_related("team").get)).team
    client = await in_db(connect_async, charlie, of=globex)
    answer = await client.get("/event", {"directory": project.directory})
    assert answer.status_code == 404
    check(answer.json(), ERROR)


async def test_a_stream_needs_a_token(session: Session, async_client: Any) -> None:
    for path in ("/event", "/global/event"):
        assert (await async_client.get(path)).status_code == 401


async def test_a_signed_in_browser_may_listen_and_needs_the_csrf_token_to_prompt(
    alice: User, session: Session
) -> None:
    client = AsyncClient(enforce_csrf_checks=True)
    await client.aforce_login(alice)
    (first,) = await read(await client.get("/event"), 1)
    assert "server.connected" in first
    body: dict[str, Any] = {"parts": [{"type": "text", "text": "hi"}], "noReply": True}
    body["model"] = {"providerID": "demo", "modelID": "inline"}
    path, kind = f"/session/{session.pk}/message", "application/json"
    assert (await client.post(path, body, kind)).status_code == 403
    client.cookies["csrftoken"] = "a" * 32
    answer = await client.post(path, body, kind, headers={"X-CSRFToken": "a" * 32})
    assert answer.status_code == 200
