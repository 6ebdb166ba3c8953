from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import pytest
from django.test import AsyncClient, Client

from opencode_web.lib.db import in_db
from opencode_web.lib.ids import is_id
from sessions.actions.compaction import request_compaction
from sessions.actions.model_choice import choose_for_session
from sessions.models import Message, Session
from sessions.runner import run_session
from sessions.stream import durable
from teams.models import Membership, User
from tests.sessions.api.conftest import ConnectAsync
from tests.sessions.factories import INLINE, prompt, script, session_access
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


async def history(client: AsyncClient, session: Session, kind: str) -> list[dict[str, Any]]:
    """What events of a kind say besides when and where; the stream says the same."""
    told = (await client.get(f"/api/session/{session.pk}/history?limit=1000")).json()["data"]
    streamed = await client.get("/api/event", headers={"Last-Event-ID": "0"})
    frames: list[dict[str, Any]] = []
    async with asyncio.timeout(30):
        async for chunk in streamed.streaming_content:
            lines = chunk.decode().split("\n")
            frames += [json.loads(line[6:]) for line in lines if line.startswith("data: ")]
            if any(frame["id"] == told[-1]["id"] for frame in frames):
                break
    await streamed.streaming_content.aclose()
    found = [event["data"] for event in told if event["type"] == NEXT + kind]
    assert found == [frame["data"] for frame in frames if frame["type"] == NEXT + kind]
    for data in found:
        assert isinstance(data.pop("timestamp"), int)
        assert data.pop("sessionID") == session.pk
    return found


@pytest.mark.django_db(transaction=True)
async def test_a_prompt_is_told_whole_when_it_enters_the_history(
    session: Session, alice: User, connect_async: ConnectAsync
) -> None:
    client: AsyncClient = await in_db(connect_async, alice)
    words = script([{"text": "Done."}])
    body = {
        "prompt": {"text": words, "agents": [{"name": "explore"}]},
        "delivery": "queue",
    }
    await in_db(choose_for_session, await in_db(session_access, alice, session), model=INLINE)
    answer = await client.post(f"/api/session/{session.pk}/prompt", body, "application/json")
    assert answer.status_code == 200, answer.content
    admitted = answer.json()["data"]
    await run_session(session.pk)
    told = {
        "messageID": admitted["id"],
        "prompt": {"text": words, "agents": [{"name": "explore"}]},
        "delivery": "queue",
    }
    assert admitted["prompt"] == told["prompt"]
    assert await history(client, session, "prompt.admitted") == [told]
    assert await history(client, session, "prompted") == [told]


@pytest.mark.django_db(transaction=True)
async def test_a_choice_of_agent_and_model_has_a_message_of_its_own(
    session: Session, alice: User, connect_async: ConnectAsync
) -> None:
    client: AsyncClient = await in_db(connect_async, alice)
    access = await in_db(session_access, alice, session)
    await in_db(choose_for_session, access, agent="plan")
    await in_db(choose_for_session, access, model=INLINE)
    await in_db(choose_for_session, access, agent="build")
    agents = await history(client, session, "agent.switched")
    [model] = await history(client, session, "model.switched")
    ids = [agents[0]["messageID"], model["messageID"], agents[1]["messageID"]]
    assert sorted(set(ids)) == ids
    assert all(is_id(each, "msg") for each in ids)
    assert [each["agent"] for each in agents] == ["plan", "build"]
    assert model["model"] == {"providerID": "demo", "id": "inline"}
    assert await history(client, session, "agent.switched") == agents


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("auto", "reason"), [(False, "manual"), (True, "auto")])
async def test_the_end_of_a_compaction_has_the_summary(
    session: Session, alice: User, connect_async: ConnectAsync, auto: bool, reason: str
) -> None:
    client: AsyncClient = await in_db(connect_async, alice)
    await in_db(prompt, alice, session, script([{"text": "Hello there."}]))
    await run_session(session.pk)
    access = await in_db(session_access, alice, session)
    await in_db(partial(request_compaction, access, auto=auto))
    await run_session(session.pk)
    listed = (await client.get(f"/api/session/{session.pk}/message")).json()["data"]
    summary = next(message for message in listed if message["type"] == "compaction")
    assert summary["summary"]
    assert await history(client, session, "compaction.ended") == [
        {
            "messageID": summary["id"],
            "reason": reason,
            "text": summary["summary"],
            "recent": summary["recent"],
        }
    ]


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
