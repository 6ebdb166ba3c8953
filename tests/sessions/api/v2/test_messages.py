from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from django.test import AsyncClient, Client

from opencode_web.lib.db import in_db
from sessions.actions.compaction import request_compaction
from sessions.models import Message, Session
from sessions.runner import run_session
from sessions.stream import durable
from teams.models import Membership, User
from tests.sessions.api.conftest import ConnectAsync
from tests.sessions.factories import prompt, script, session_access
from tests.sessions.story import tell_whole_turn

NEXT = "session.next."


@pytest.mark.django_db
def test_a_turn_has_the_shapes_of_the_second_version(
    client: Client, session: Session, alice: User
) -> None:
    tell_whole_turn(session, alice, "please add a discount")
    answer = client.get(f"/api/session/{session.pk}/message?order=asc").json()
    user, assistant = answer["data"][0], answer["data"][1]
    assert {key: user[key] for key in ("type", "text")} == {
        "type": "user",
        "text": "please add a discount",
    }
    assert assistant["type"] == "assistant"
    assert assistant["model"] == {"id": "inline", "providerID": "demo"}
    kinds = [piece["type"] for piece in assistant["content"]]
    assert set(kinds) <= {"text", "reasoning", "tool"}
    call = next(piece for piece in assistant["content"] if piece["type"] == "tool")
    assert call["state"]["status"] == "completed"
    assert call["state"]["content"][0]["type"] == "text"
    assert {"created", "ran", "completed"} <= set(call["time"])
    one = client.get(f"/api/session/{session.pk}/message/{assistant['id']}").json()
    assert one == {"data": assistant}
    missing = client.get(f"/api/session/{session.pk}/message/msg_none")
    assert missing.json()["_tag"] == "MessageNotFoundError"


@pytest.mark.django_db
def test_messages_come_the_newest_first_in_pages(
    client: Client, session: Session, alice: User
) -> None:
    for number in range(3):
        tell_whole_turn(session, alice, f"turn {number}")
    ids = list(
        Message.objects.filter(session=session).order_by("-seq").values_list("pk", flat=True)
    )
    found: list[str] = []
    query = "limit=2"
    for _ in range(10):
        page = client.get(f"/api/session/{session.pk}/message?{query}").json()
        found += [message["id"] for message in page["data"]]
        if "next" not in page["cursor"]:
            break
        query = f"limit=2&cursor={page['cursor']['next']}"
    assert found == ids


@pytest.mark.django_db(transaction=True)
async def test_the_context_begins_with_the_summary(
    session: Session, alice: User, connect_async: ConnectAsync
) -> None:
    client: AsyncClient = await in_db(connect_async, alice)
    await in_db(prompt, alice, session, script([{"text": "Hello there."}]))
    await run_session(session.pk)
    await in_db(request_compaction, await in_db(session_access, alice, session))
    await run_session(session.pk)
    context = (await client.get(f"/api/session/{session.pk}/context")).json()["data"]
    assert context[0]["type"] == "compaction"
    assert context[0]["reason"] == "manual"
    assert context[0]["summary"]
    listed = (await client.get(f"/api/session/{session.pk}/message?order=asc")).json()["data"]
    assert [message["type"] for message in listed] == ["user", "assistant", "compaction"]


@pytest.mark.django_db(transaction=True)
async def test_the_history_tells_a_turn_by_sequence_number(
    session: Session, alice: User, connect_async: ConnectAsync
) -> None:
    client: AsyncClient = await in_db(connect_async, alice)
    steps = script(
        [{"reasoning": "Hm."}, {"text": "Look."}, {"tool": "list", "input": {}}],
        [{"text": "Done."}],
    )
    await in_db(prompt, alice, session, steps)
    await run_session(session.pk)
    address = f"/api/session/{session.pk}/history"
    whole = (await client.get(f"{address}?limit=1000")).json()
    assert whole["hasMore"] is False
    kinds = [event["type"].removeprefix(NEXT) for event in whole["data"]]
    # The first prompt chooses for the session, too.
    turn = [kind for kind in kinds if not kind.endswith("switched")]
    assert turn[:3] == ["prompt.admitted", "prompted", "step.started"]
    for kind in ("reasoning.ended", "text.ended", "tool.called", "tool.success"):
        assert kind in kinds
    assert kinds.count("step.started") == kinds.count("step.ended") == 2
    assert kinds.count("tool.called") == 1
    numbers = [event["durable"]["seq"] for event in whole["data"]]
    assert numbers == sorted(set(numbers))
    assert {event["durable"]["aggregateID"] for event in whole["data"]} == {session.pk}
    pieces: list[Any] = []
    after = 0
    while True:
        page = (await client.get(f"{address}?limit=3&after={after}")).json()
        pieces += page["data"]
        after = page["last"]
        if not page["hasMore"]:
            break
    assert pieces == whole["data"]


@asynccontextmanager
async def events(client: AsyncClient, address: str, **headers: str) -> AsyncIterator[Any]:
    answer = await client.get(address, headers=headers)
    assert answer["Content-Type"] == "text/event-stream"
    try:
        yield answer.streaming_content
    finally:
        await answer.streaming_content.aclose()


async def next_event(stream: Any) -> tuple[int, dict[str, Any]]:
    async with asyncio.timeout(30):
        async for chunk in stream:
            text = chunk.decode()
            if not text.startswith(":"):
                head, data, *_ = text.split("\n")
                return int(head.removeprefix("id: ")), json.loads(data.removeprefix("data: "))
    raise StopAsyncIteration


@pytest.mark.django_db(transaction=True)
async def test_events_are_replayed_and_go_on_live(
    session: Session, alice: User, connect_async: ConnectAsync
) -> None:
    client: AsyncClient = await in_db(connect_async, alice)
    await in_db(tell_whole_turn, session, alice)
    address = f"/api/session/{session.pk}/event"
    told = (await client.get(f"/api/session/{session.pk}/history?limit=1000")).json()["data"]
    async with events(client, f"{address}?after=0") as stream:
        replayed = [await next_event(stream) for _ in told]
        assert [event for _, event in replayed] == told
        assert [number for number, _ in replayed] == [e["durable"]["seq"] for e in told]
        waiting = await in_db(prompt, alice, session, "more", delivery="queue")
        number, event = await next_event(stream)
    assert (event["type"], event["data"]["messageID"]) == (f"{NEXT}prompt.admitted", waiting.pk)
    assert number == event["durable"]["seq"]
    last = replayed[-3][0]
    async with events(client, f"{address}?after=0", **{"Last-Event-ID": str(last)}) as stream:
        assert [await next_event(stream) for _ in range(2)] == replayed[-2:]


@pytest.mark.django_db(transaction=True)
async def test_events_end_with_the_right_to_see_them(
    session: Session,
    bob: User,
    connect_async: ConnectAsync,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(durable, "LOOK_S", 0.1)
    client: AsyncClient = await in_db(connect_async, bob)
    async with events(client, f"/api/session/{session.pk}/event") as stream:
        assert (await anext(stream)).startswith(b":")
        await in_db(Membership.objects.filter(user=bob).delete)
        async with asyncio.timeout(30):
            assert [chunk async for chunk in stream] == []
