from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from opencode_web.lib.ids import new_id
from sessions.events.messages import MessageError, MessageModel, MessageTime, UserMessage
from sessions.events.parts import PartTime, RetryPart, TextPart, ToolFailed
from sessions.events.types import InputAdmitted, PartUpdated, PermissionReplied
from sessions.models import Run, Session
from sessions.present.conversation.decisions import Decision, waited_s
from sessions.present.conversation.tools import build_tool_row
from sessions.present.place import Place
from teams.models import User
from tests.sessions.story import T0, Story, write

START = datetime(2026, 1, 1, tzinfo=UTC)
PLACE = Place("acme", "ses_1", "/srv/shop")


def decision(start: int, end: int, **fields: Any) -> Decision:
    moments = {
        "asked": START + timedelta(seconds=start),
        "answered": START + timedelta(seconds=end),
    }
    return Decision(**{"said": "", "rejected": False, "message": "", **moments, **fields})


def test_waiting_for_several_answers_at_once_counts_once() -> None:
    decisions = {
        ("m", "a"): [decision(0, 10), decision(2, 4)],
        ("m", "b"): [decision(8, 12)],
        ("m", "c"): [decision(20, 21)],
    }
    assert waited_s(decisions) == 13


@pytest.mark.parametrize("output", ["", "half\n"])
def test_a_rejected_call_says_who_rejected_it_and_not_what_the_model_is_told(output: str) -> None:
    state = {
        "status": "error",
        "input": {"command": "make", "description": "Build it"},
        "error": "for the model",
        "metadata": {"output": output} if output else {},
    }
    part = {"id": "prt_1", "tool": "bash", "state": state}
    said = decision(0, 1, said="Rejected by Ada", rejected=True, message="use ninja")
    row = build_tool_row(part, PLACE, decisions=[said])
    assert (row.state, row.error) == ("stopped", "Rejected by Ada: use ninja")
    assert row.object == "Build it"
    assert "for the model" not in str(row)


@pytest.mark.django_db
def test_an_answered_call_shows_who_decided(client: Client, alice: User, session: Session) -> None:
    story = Story(session, alice)
    story.ask("hi")
    story.answer()
    first, second = new_id("prt"), new_id("prt")
    story.replied(story.waits("ls", id=first))
    asked = story.waits("rm x", id=second)
    answer = PermissionReplied(id=asked, reply="reject", by_id=alice.pk, feedback="not <x>")
    time = PartTime(start=T0, end=T0)
    write(session, answer)
    story.call("bash", ToolFailed(input={"command": "rm x"}, error="told", time=time), id=second)
    client.force_login(alice)
    page = client.get(f"/t/acme/s/{session.pk}").content.decode()
    assert "Allowed once by Alice, <time" in page
    assert "Rejected by Alice: not &lt;x&gt;" in page
    assert ">told<" not in page


@pytest.mark.django_db
def test_attempts_to_reach_a_model_are_one_row(
    client: Client, alice: User, session: Session
) -> None:
    story = Story(session, alice)
    story.ask("hi")
    message = story.answer()
    error = MessageError(name="APIError", data={"message": "Overloaded"})
    for attempt in (1, 2):
        part = RetryPart(
            id=new_id("prt"),
            sessionID=session.pk,
            messageID=message,
            attempt=attempt,
            error=error,
            time={"created": T0, "next": T0},
        )
        write(session, PartUpdated(part=part))
    client.force_login(alice)
    url = f"/t/acme/s/{session.pk}"
    page = client.get(url).content.decode()
    assert page.count('class="retry"') == 1
    assert "Overloaded. <" in page
    assert "Attempt 2 of 6 failed</span>" in page
    story.text("At last.")
    assert "Attempt 2 of 6 failed</span>" in client.get(url).content.decode()


@pytest.mark.django_db
def test_held_prompts_are_offered_to_be_sent_and_are(
    client: Client, alice: User, session: Session
) -> None:
    info = UserMessage(
        id=new_id("msg"),
        sessionID=session.pk,
        time=MessageTime(created=T0),
        agent="build",
        model=MessageModel(providerID="demo", modelID="inline"),
    )
    part = TextPart(id=new_id("prt"), sessionID=session.pk, messageID=info.id, text="wait")
    write(session, InputAdmitted(author_id=alice.pk, delivery="queue", info=info, parts=[part]))
    client.force_login(alice)
    url = f"/t/acme/s/{session.pk}"
    page = client.get(url).content.decode()
    assert "Held: sends after your next message" in page
    assert f'action="{url}/resume"' in page
    assert client.post(f"{url}/resume").status_code == 302
    session.refresh_from_db()
    assert session.state == "busy"
    assert Run.objects.filter(session=session).exists()
    assert "Sends when a worker is free" in client.get(url).content.decode()
