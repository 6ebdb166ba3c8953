from __future__ import annotations

from typing import Any

import pytest
from django.test import AsyncClient

from opencode_web.lib.db import in_db
from sessions.actions.compaction import request_compaction
from sessions.models import Compaction, Message, Session, SessionInput
from sessions.runner import run_session
from teams.models import User
from tests.sessions.api.conftest import ConnectAsync
from tests.sessions.api.shapes import ERROR, check, check_message
from tests.sessions.factories import prompt, script, session_access

JSON = "application/json"
MODEL = {"providerID": "demo", "modelID": "inline"}

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
async def client(alice: User, session: Session, connect_async: ConnectAsync) -> AsyncClient:
    return await in_db(connect_async, alice)


async def say(alice: User, session: Session) -> None:
    await in_db(prompt, alice, session, script([{"text": "Hello there."}]))
    await run_session(session.pk)


async def test_a_summary_by_hand_ends_there(
    client: AsyncClient, session: Session, alice: User
) -> None:
    await say(alice, session)
    answer = await client.post(f"/session/{session.pk}/summarize", MODEL, JSON)
    assert (answer.status_code, answer.json()) == (200, True)
    await run_session(session.pk)
    listed = (await client.get(f"/session/{session.pk}/message")).json()
    for message in listed:
        check_message(message)
    assert [message["info"]["role"] for message in listed] == ["user", "assistant"] * 2
    [part] = listed[2]["parts"]
    assert (part["type"], part["auto"]) == ("compaction", False)
    info = listed[3]["info"]
    assert (info["summary"], info["agent"], info["parentID"]) == (
        True,
        "compaction",
        listed[2]["info"]["id"],
    )
    assert await in_db(Compaction.objects.filter(session=session).count) == 1
    seen = (await client.get(f"/session/{session.pk}")).json()
    assert "compacting" not in seen["time"]


async def test_with_auto_the_agent_goes_on(
    client: AsyncClient, session: Session, alice: User
) -> None:
    await say(alice, session)
    path = f"/session/{session.pk}/summarize"
    assert (await client.post(path, {**MODEL, "auto": True}, JSON)).json() is True
    await run_session(session.pk)
    roles = await in_db(lambda: list(Message.objects.order_by("seq").values_list("role")))
    assert len(roles) == 6


async def test_an_empty_conversation_is_not_summed_up(
    client: AsyncClient, session: Session
) -> None:
    answer = await client.post(f"/session/{session.pk}/summarize", MODEL, JSON)
    assert answer.status_code == 409
    check(answer.json(), ERROR)
    assert not await in_db(SessionInput.objects.exists)


async def test_it_waits_in_the_queue_and_cannot_be_edited(
    client: AsyncClient, session: Session, alice: User
) -> None:
    await say(alice, session)

    def hold() -> Any:
        access = session_access(alice, session)
        return request_compaction(access)

    row = await in_db(hold)
    path = f"/session/{session.pk}/input/{row.pk}"
    for change in ({"text": "x"}, {"delivery": "steer"}):
        answer = await client.patch(path, {"revision": row.revision, **change}, JSON)
        assert answer.status_code == 409
    assert (await client.delete(path)).status_code in (200, 204)
    await in_db(row.refresh_from_db)
    assert row.status == SessionInput.Status.CANCELLED
