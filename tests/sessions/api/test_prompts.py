from __future__ import annotations

import asyncio
import base64
from typing import Any
from urllib.parse import quote

import pytest
from django.test import AsyncClient

from opencode_web.lib.db import in_db
from opencode_web.lib.ids import new_id
from sessions.actions.inbox import cancel_input
from sessions.actions.prompts import MAX_TEXT_CHARS
from sessions.models import Message, PermissionRequest, Session, SessionInput
from sessions.stream import turns
from teams.models import User
from tests.lib.known_key_samples import SAMPLES
from tests.sessions.api.conftest import ConnectAsync
from tests.sessions.api.shapes import ERROR, check, check_message
from tests.sessions.factories import script, session_access

JSON = "application/json"

pytestmark = pytest.mark.django_db(transaction=True)


def body_of(text: str, **more: Any) -> dict[str, Any]:
    model = {"providerID": "demo", "modelID": "inline"}
    return {"model": model, "parts": [{"type": "text", "text": text}], **more}


SAY = script([{"reasoning": "Hm."}, {"text": "Hello there."}])
WRITE = script(
    [{"tool": "write", "input": {"filePath": "a.txt", "content": "x"}}], [{"text": "Written."}]
)


@pytest.fixture
async def client(alice: User, session: Session, connect_async: ConnectAsync) -> AsyncClient:
    return await in_db(connect_async, alice)


async def until_asked(session: Session) -> str:
    async with asyncio.timeout(25):
        while True:
            found = await in_db(PermissionRequest.objects.filter(status="pending").first)
            if found is not None:
                return str(found.pk)
            await asyncio.sleep(0.05)


async def test_a_prompt_waits_for_the_turn_and_answers_its_last_message(
    client: AsyncClient, session: Session, worker: None
) -> None:
    answer = await client.post(f"/session/{session.pk}/message", body_of(SAY), JSON)
    assert answer.status_code == 200
    check_message(answer.json())
    texts = [part["text"] for part in answer.json()["parts"] if part["type"] == "text"]
    assert texts == ["Hello there."]
    assert answer.json()["info"]["time"]["completed"]
    listed = (await client.get(f"/session/{session.pk}/message")).json()
    assert [message["info"]["role"] for message in listed] == ["user", "assistant"]
    assert listed[1] == answer.json()
    for message in listed:
        check_message(message)


async def test_an_answer_in_a_wanted_form_and_the_messages_stay_readable(
    client: AsyncClient, session: Session, worker: None
) -> None:
    path = f"/session/{session.pk}/message"
    text = script([{"tool": "StructuredOutput", "input": {"total": 7}}])
    schema = {"type": "object", "properties": {"total": {"type": "integer"}}}
    wanted = {"type": "json_schema", "schema": schema}
    answer = await client.post(path, body_of(text, format=wanted), JSON)
    assert answer.json()["info"]["structured"] == {"total": 7}
    listed = (await client.get(path)).json()
    assert listed[0]["info"]["format"] == wanted
    for message in listed:
        check_message(message)
    refused = await client.post(path, body_of(text, format={"type": "xml"}), JSON)
    assert refused.status_code == 400
    check(refused.json(), ERROR)


async def test_an_asynchronous_prompt_answers_at_once(
    client: AsyncClient, session: Session
) -> None:
    given = new_id("msg")
    path = f"/session/{session.pk}/prompt_async"
    answer = await client.post(path, body_of(SAY, messageID=given), JSON)
    assert (answer.status_code, answer.content) == (204, b"")
    row = await in_db(SessionInput.objects.get)
    assert (row.pk, row.status, row.delivery) == (given, "admitted", "steer")


async def test_a_retry_is_the_same_prompt(
    client: AsyncClient, session: Session, worker: None
) -> None:
    body = body_of(SAY, messageID=new_id("msg"))
    first = await client.post(f"/session/{session.pk}/message", body, JSON)
    again = await client.post(f"/session/{session.pk}/message", body, JSON)
    assert again.json() == first.json()
    assert await in_db(Message.objects.count) == 2
    other = body_of("something else", messageID=body["messageID"])
    conflict = await client.post(f"/session/{session.pk}/message", other, JSON)
    assert conflict.status_code == 409
    await client.post(f"/session/{session.pk}/message", body_of(SAY), JSON)
    late = await client.post(f"/session/{session.pk}/message", body, JSON)
    assert late.json() == first.json()
    check(conflict.json(), ERROR)


async def test_who_waits_no_longer_can_go_on_waiting(
    client: AsyncClient, session: Session, worker: None
) -> None:
    path = f"/session/{session.pk}/message"
    prompt = body_of(WRITE, messageID=new_id("msg"))
    assert (await client.post(f"{path}?timeout=0", prompt, JSON)).status_code == 400
    answer = await client.post(f"{path}?timeout=0.1", prompt, JSON)
    assert answer.status_code == 503
    check(answer.json(), ERROR)
    assert prompt["messageID"] in answer.content.decode()
    asked = await until_asked(session)
    await client.post(f"/permission/{asked}/reply", {"reply": "once"}, JSON)
    again = await client.post(f"{path}?timeout=60", prompt, JSON)
    assert again.status_code == 200
    assert again.json()["parts"][-2]["text"] == "Written."
    assert await in_db(SessionInput.objects.count) == 1


async def test_two_callers_of_one_turn_get_the_same_answer(
    client: AsyncClient, session: Session, worker: None
) -> None:
    path = f"/session/{session.pk}/message"
    slow = script([{"delay_ms": 2_000}, {"text": "One."}], [{"text": "Two."}])
    first = asyncio.create_task(client.post(path, body_of(slow), JSON))
    async with asyncio.timeout(25):
        while not await in_db(Message.objects.filter(role="assistant").exists):
            await asyncio.sleep(0.01)
    second = await client.post(path, body_of(SAY), JSON)
    assert (await first).json()["info"]["id"] == second.json()["info"]["id"]


async def test_without_reply_the_message_is_stored_and_no_turn_runs(
    client: AsyncClient, session: Session, worker: None
) -> None:
    answer = await client.post(
        f"/session/{session.pk}/message", body_of("Note this.", noReply=True), JSON
    )
    check_message(answer.json())
    assert answer.json()["info"]["role"] == "user"
    assert await in_db(Message.objects.count) == 1


async def test_a_failing_provider_is_an_answer_with_an_error(
    client: AsyncClient, session: Session, worker: None
) -> None:
    text = script([{"error": {"status": 401, "message": "no such key"}}])
    answer = await client.post(f"/session/{session.pk}/message", body_of(text), JSON)
    assert answer.status_code == 200
    check_message(answer.json())
    assert answer.json()["info"]["error"]["name"]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (body_of("hi") | {"parts": []}, 400),
        (body_of("hi") | {"parts": [{"type": "subtask", "prompt": "x"}]}, 400),
        (body_of("hi") | {"parts": [{"type": "text"}]}, 400),
        (body_of("hi") | {"messageID": "nonsense"}, 400),
        (body_of("hi") | {"agent": "nobody"}, 400),
        (body_of("hi") | {"delivery": "later"}, 400),
        (body_of("hi") | {"model": {"providerID": "demo", "modelID": "gone"}}, 404),
    ],
)
async def test_an_unusable_prompt_is_refused_before_it_is_stored(
    body: dict[str, Any], status: int, client: AsyncClient, session: Session
) -> None:
    for path in ("message", "prompt_async"):
        answer = await client.post(f"/session/{session.pk}/{path}", body, JSON)
        assert answer.status_code == status
        check(answer.json(), ERROR)
    assert await in_db(SessionInput.objects.count) == 0


@pytest.mark.parametrize(("reply", "text"), [("once", "Written."), ("always", "Written.")])
async def test_a_waiting_caller_gets_the_end_after_the_answer(
    reply: str, text: str, client: AsyncClient, session: Session, worker: None
) -> None:
    turn = asyncio.create_task(client.post(f"/session/{session.pk}/message", body_of(WRITE), JSON))
    request_id = await until_asked(session)
    assert (await client.get("/session/status")).json() == {session.pk: {"type": "busy"}}
    assert not turn.done()
    answer = await client.post(f"/permission/{request_id}/reply", {"reply": reply}, JSON)
    assert answer.json() is True
    end = (await turn).json()
    assert [part["text"] for part in end["parts"] if part["type"] == "text"] == [text]


async def test_a_rejected_turn_ends_for_its_caller(
    client: AsyncClient, session: Session, worker: None
) -> None:
    turn = asyncio.create_task(client.post(f"/session/{session.pk}/message", body_of(WRITE), JSON))
    request_id = await until_asked(session)
    path = f"/session/{session.pk}/permissions/{request_id}"
    assert (await client.post(path, {"response": "reject"}, JSON)).json() is True
    end = (await turn).json()
    check_message(end)
    states = [part["state"]["status"] for part in end["parts"] if part["type"] == "tool"]
    assert states == ["error"]
    assert (await client.get("/permission")).json() == []
    late = await client.post(f"/permission/{request_id}/reply", {"reply": "once"}, JSON)
    assert late.status_code == 409


async def test_who_hangs_up_does_not_stop_the_turn(
    client: AsyncClient, session: Session, worker: None
) -> None:
    text = script([{"delay_ms": 300}, {"text": "Still here."}])
    turn = asyncio.create_task(client.post(f"/session/{session.pk}/message", body_of(text), JSON))
    async with asyncio.timeout(25):
        while not await in_db(SessionInput.objects.exists):
            await asyncio.sleep(0.02)
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    async with asyncio.timeout(25):
        while (await client.get("/session/status")).json() or not await in_db(
            Message.objects.filter(role="assistant").exists
        ):
            await asyncio.sleep(0.05)
    last = (await client.get(f"/session/{session.pk}/message")).json()[-1]
    assert [part["text"] for part in last["parts"] if part["type"] == "text"] == ["Still here."]


async def test_abort_answers_when_all_is_settled(
    client: AsyncClient, session: Session, worker: None
) -> None:
    text = script([{"text": "Begin "}, {"delay_ms": 60_000}, {"text": "end"}])
    turn = asyncio.create_task(client.post(f"/session/{session.pk}/message", body_of(text), JSON))
    async with asyncio.timeout(25):
        while not (await client.get("/session/status")).json():
            await asyncio.sleep(0.02)
    assert (await client.post(f"/session/{session.pk}/abort")).json() is True
    assert (await client.get("/session/status")).json() == {}
    end = await asyncio.wait_for(turn, 25)
    assert end.json()["info"]["error"]["name"] == "MessageAbortedError"


async def test_abort_of_an_idle_session_is_true(client: AsyncClient, session: Session) -> None:
    assert (await client.post(f"/session/{session.pk}/abort")).json() is True
    for unknown in (new_id("ses"), "ses_unknown", "über all", "x" * 200):
        for path in ("abort", "message"):
            answer = await client.post(f"/session/{unknown}/{path}", body_of("hi"), JSON)
            assert answer.status_code == 404


async def test_a_viewer_cannot_prompt_or_abort(
    vera: User, session: Session, connect_async: ConnectAsync
) -> None:
    viewer = await in_db(connect_async, vera)
    for path, body in (("message", body_of("hi")), ("abort", {})):
        answer = await viewer.post(f"/session/{session.pk}/{path}", body, JSON)
        assert answer.status_code == 403
    assert await in_db(SessionInput.objects.count) == 0


async def test_a_prompt_taken_off_the_queue_has_no_answer(
    client: AsyncClient,
    alice: User,
    session: Session,
    worker: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(turns, "POLL_S", 0.2)
    path = f"/session/{session.pk}/message"
    first = asyncio.create_task(client.post(path, body_of(WRITE), JSON))
    request_id = await until_asked(session)
    body = body_of(SAY, messageID=new_id("msg"), delivery="queue")
    second = asyncio.create_task(client.post(path, body, JSON))
    async with asyncio.timeout(25):
        while await in_db(SessionInput.objects.count) < 2:
            await asyncio.sleep(0.02)
    access = await in_db(session_access, alice, session)
    await in_db(cancel_input, access, body["messageID"])
    answer = await asyncio.wait_for(second, 25)
    assert answer.status_code == 409
    check(answer.json(), ERROR)
    await client.post(f"/permission/{request_id}/reply", {"reply": "once"}, JSON)
    assert (await first).status_code == 200
    assert (await client.post(path, body, JSON)).status_code == 409


async def test_a_prompt_over_the_limit_is_refused_with_a_reason(
    client: AsyncClient, session: Session
) -> None:
    # OpenCode's terminal program shows the message of this answer.
    for route in ("message", "prompt_async"):
        body = body_of("x" * (MAX_TEXT_CHARS + 1))
        answer = await client.post(f"/session/{session.pk}/{route}", body, JSON)
        assert answer.status_code == 400
        check(answer.json(), ERROR)
        assert answer.json()["data"]["message"] == "A prompt can have at most 5,242,880 characters."
    assert not await in_db(SessionInput.objects.exists)


async def test_keys_in_a_text_file_are_hidden_like_those_in_the_text(
    client: AsyncClient, session: Session
) -> None:
    env = f"# Überall\nuse {SAMPLES[2][2]}\n"
    encoded = base64.b64encode(env.encode()).decode()
    picture = base64.b64encode(b"\x89PNG\r\n\x1a\n" + env.encode()).decode()
    urls = {
        "application/x-env": f"data:application/x-env;base64,{encoded}",
        "text/plain": f"data:text/plain;charset=utf-8,{quote(env)}",
        "image/png": f"data:image/png;base64,{picture}",
    }
    files = [{"type": "file", "mime": mime, "url": url} for mime, url in urls.items()]
    body = {**body_of("Look"), "messageID": new_id("msg")}
    body["parts"] += files
    for _ in range(2):  # the second is a retry
        answer = await client.post(f"/session/{session.pk}/prompt_async", body, JSON)
        assert answer.status_code == 204
    (row,) = await in_db(lambda: list(SessionInput.objects.all()))
    hidden = env.replace(SAMPLES[2][2], "[hidden GitHub token]")
    notes = [part["text"] for part in row.data["parts"] if part.get("synthetic")]
    assert notes == [f"The user attached attachment:\n\n{hidden}"] * 2
    *texts, image = [part["url"] for part in row.data["parts"] if part["type"] == "file"]
    for url in texts:
        assert base64.b64decode(url.partition(";base64,")[2]).decode() == hidden
    assert image == urls["image/png"]
