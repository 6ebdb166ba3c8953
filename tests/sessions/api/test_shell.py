from __future__ import annotations

import asyncio
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import AsyncClient

from opencode_web.lib.db import in_db
from sessions.models import PermissionRequest, Session
from sessions.runner.log.model_history import build_messages
from teams.models import User
from tests.sessions.api.conftest import Connect
from tests.sessions.api.shapes import check_message
from tests.sessions.factories import INLINE, prompt, script
from tests.sessions.projection import assert_log_equals_rows
from tests.sessions.runner.drains import drain, until

pytestmark = pytest.mark.django_db(transaction=True)
JSON = "application/json"
MODEL = {"providerID": INLINE.provider_id, "modelID": INLINE.model_id}


async def ask(alice: User, session: Session, route: str, body: dict[str, Any]) -> HttpResponse:
    client = AsyncClient()
    await client.aforce_login(alice)
    path = f"/session/{session.pk}/{route}"
    waiting = asyncio.ensure_future(client.post(path, body, content_type=JSON))
    await until(lambda: waiting.done() or session.inputs.exists())
    await drain(session)
    return await asyncio.wait_for(waiting, 30)


async def test_a_line_is_run_and_nobody_is_asked(alice: User, session: Session) -> None:
    body = {"agent": "build", "model": MODEL, "command": "echo hi >made; echo said"}
    answer = (await ask(alice, session, "shell", body)).json()
    check_message(answer)
    call = next(part for part in answer["parts"] if part["type"] == "tool")
    assert (call["tool"], call["state"]["status"]) == ("bash", "completed")
    assert call["state"]["output"].strip() == "said"
    assert answer["info"]["time"]["completed"]

    def look() -> None:
        session.refresh_from_db()
        assert (session.state, session.title) == ("idle", "echo hi >made; echo said")
        # No model was asked: the prompt, and the answer with the call.
        assert session.messages.count() == 2
        assert not PermissionRequest.objects.exists()
        assert_log_equals_rows(session)

    await in_db(look)


async def test_the_agent_reads_what_was_run(alice: User, session: Session) -> None:
    await ask(alice, session, "shell", {"command": "echo forty-two", "model": MODEL})
    await in_db(prompt, alice, session, script([{"text": "ok"}]))
    await drain(session)
    sent = await in_db(lambda: repr(build_messages(session, INLINE, ())))
    assert "forty-two" in sent
    assert "executed by the user" in sent


async def test_what_the_rules_deny_is_not_run(alice: User, session: Session) -> None:
    def forbid() -> None:
        session.project.config = {"permission": {"bash": {"touch *": "deny"}}}
        session.project.save()

    await in_db(forbid)
    body = {"command": "touch made", "model": MODEL}
    answer = (await ask(alice, session, "shell", body)).json()
    call = next(part for part in answer["parts"] if part["type"] == "tool")
    assert call["state"]["status"] == "error"
    assert "Denied" in call["state"]["error"]


def test_a_session_that_works_takes_no_line(
    alice: User, session: Session, connect: Connect
) -> None:
    prompt(alice, session, "later")
    answer = connect(alice).post(f"/session/{session.pk}/shell", {"command": "ls"}, JSON)
    assert answer.status_code == 409
    empty = connect(alice).post(f"/session/{session.pk}/shell", {"command": " "}, JSON)
    assert empty.status_code == 400


async def test_init_answers_when_the_agent_is_done(alice: User, session: Session) -> None:
    body = {**MODEL, "messageID": "msg_0123456789abAAAAAAAAAAAAAA"}
    assert (await ask(alice, session, "init", body)).json() is True
    assert await session.messages.filter(pk=body["messageID"]).aexists()


def test_compacting_needs_something_to_sum_up(
    alice: User, session: Session, connect: Connect
) -> None:
    client = connect(alice)
    for body in ({}, MODEL):
        assert client.post(f"/session/{session.pk}/compact", body, JSON).status_code == 409
