from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from opencode_web.lib.db import in_db
from providers.llm.errors import AuthError, NetworkError, ProviderError, RateLimited, ServerError
from providers.llm.events import (
    Failed,
    Finished,
    FinishReason,
    ReasoningDelta,
    StreamEvent,
    TextDelta,
    ToolCallEnd,
    ToolCallStart,
)
from providers.llm.messages import ModelRef, ProviderRequest, Usage
from providers.models import ProviderConfig
from sessions.actions.control import retry_now
from sessions.events.reasons import told_by_session
from sessions.events.types import SessionStatus
from sessions.models import Event, Message, Session, SessionInput
from sessions.runner.drain import coordinator
from sessions.runner.log.model_history import build_messages
from sessions.runner.turn import provider_turn
from sessions.wire import to_ms
from teams.models import User
from tests.sessions.factories import prompt, session_access
from tests.sessions.runner.drains import drain, is_runnable, parts_of, stop
from tests.sessions.story import write

DONE: list[StreamEvent] = [TextDelta("It works."), Finished(FinishReason.STOP, Usage(1, 1))]


class FlakyProvider:
    """Plays one list of events after the other, whatever it is asked."""

    def __init__(self, *tries: list[StreamEvent]) -> None:
        self.tries = list(tries)
        self.requests: list[ProviderRequest] = []

    async def stream(self, request: ProviderRequest) -> AsyncGenerator[StreamEvent, None]:
        self.requests.append(request)
        for event in self.tries.pop(0):
            yield event


@pytest.fixture
def play(monkeypatch: pytest.MonkeyPatch) -> Any:
    def start(*tries: list[StreamEvent]) -> FlakyProvider:
        provider = FlakyProvider(*tries)
        monkeypatch.setattr(provider_turn, "stream", provider.stream)
        return provider

    return start


def fails(error: ProviderError, *before: StreamEvent) -> list[StreamEvent]:
    return [*before, Failed(error)]


def make_due(session: Session) -> None:
    """What the passing of time does."""
    now = to_ms(timezone.now() - timedelta(seconds=1))
    status = SessionStatus(state="busy", waits_for="retry", until=now, attempt=session.attempt)
    write(session, status.saying(told_by_session(session)))


def texts(session: Session) -> list[str]:
    return [part["text"] for part in parts_of(session, "text")]


async def test_a_failed_try_is_suspended_until_its_time_and_holds_nothing(
    alice: User, session: Session, play: Any
) -> None:
    provider = play(fails(RateLimited("Slow down.", retry_after_s=20)), DONE)
    await in_db(prompt, alice, session, "go")
    before = timezone.now()
    await drain(session)
    assert (session.state, session.waits_for, session.attempt) == ("busy", "retry", 1)
    assert session.outcome_detail == "Slow down."
    assert timedelta(seconds=19) < session.wake_at - before < timedelta(seconds=25)
    assert not coordinator._drains
    assert [task for task in asyncio.all_tasks() if task.get_name().startswith("drain")] == []
    assert not await in_db(is_runnable, session)
    (part,) = await in_db(parts_of, session, "retry")
    assert part["attempt"] == 1
    assert part["time"]["next"] == to_ms(session.wake_at)
    assert part["error"]["data"]["isRetryable"] is True

    # A ring that comes too early neither asks again nor writes anything.
    seq = session.seq
    await drain(session)
    assert (session.seq, len(provider.requests)) == (seq, 1)

    await in_db(make_due, session)
    assert await in_db(is_runnable, session)
    await drain(session)
    assert (session.state, session.outcome, session.waits_for) == ("idle", "done", "")
    assert session.wake_at is None
    answer = await in_db(Message.objects.get, session=session, role="assistant")
    assert "error" not in answer.data
    assert await in_db(texts, session) == ["It works."]
    first, second = provider.requests
    assert first == second


async def test_what_a_failed_try_wrote_is_never_seen_twice(
    alice: User, session: Session, play: Any
) -> None:
    partial = [
        ReasoningDelta("Hm."),
        TextDelta("It wo"),
        ToolCallStart(0, "call_1", "list"),
        ToolCallEnd(0, "call_1", "list", {}, "{}"),
    ]
    play(fails(NetworkError("Cut.", retry_after_s=0), *partial), DONE)
    await in_db(prompt, alice, session, "go")
    await drain(session)
    assert session.outcome == "done"
    assert await in_db(texts, session) == ["It works."]
    assert await in_db(parts_of, session, "reasoning") == []
    assert await in_db(parts_of, session, "tool") == []
    removed = Event.objects.filter(session=session, type="part.removed")
    assert await in_db(removed.count) == 3
    messages = await in_db(build_messages, session, ModelRef("demo", "inline"))
    assert [type(message).__name__ for message in messages] == ["UserMessage", "AssistantMessage"]


async def test_after_six_tries_the_turn_fails_and_keeps_what_the_last_one_wrote(
    alice: User, session: Session, play: Any
) -> None:
    overloaded = ServerError("Overloaded.", retry_after_s=0)
    provider = play(*([fails(overloaded, TextDelta("so far"))] * 9))
    await in_db(prompt, alice, session, "go")
    await drain(session)
    assert (session.state, session.outcome) == ("idle", "failed")
    assert len(provider.requests) == 6
    assert [part["attempt"] for part in await in_db(parts_of, session, "retry")] == [1, 2, 3, 4, 5]
    (part,) = await in_db(parts_of, session, "text")
    assert part["text"] == "so far"
    assert part["metadata"] == {"interrupted": True}
    answer = await in_db(Message.objects.get, session=session, role="assistant")
    assert answer.data["error"]["name"] == "APIError"
    assert not await in_db(is_runnable, session)
    await drain(session)
    assert len(provider.requests) == 6


async def test_what_cannot_pass_is_not_tried_again(
    alice: User, session: Session, play: Any
) -> None:
    provider = play(fails(AuthError("No.")), DONE)
    await in_db(prompt, alice, session, "go")
    await drain(session)
    assert (session.outcome, len(provider.requests)) == ("failed", 1)


async def test_a_person_has_it_tried_now(alice: User, session: Session, play: Any) -> None:
    play(fails(RateLimited("Slow down.", retry_after_s=600)), DONE)
    await in_db(prompt, alice, session, "go")
    access = await in_db(session_access, alice, session)
    assert not await in_db(retry_now, access)
    await drain(session)
    assert await in_db(retry_now, access)
    assert await in_db(is_runnable, session)
    await drain(session)
    assert session.outcome == "done"
    assert not await in_db(retry_now, access)


async def test_a_stop_while_it_waits_for_the_next_try_is_immediate(
    alice: User, bob: User, session: Session, play: Any
) -> None:
    provider = play(fails(RateLimited("Slow down.", retry_after_s=600)), DONE)
    await in_db(prompt, alice, session, "go")
    await drain(session)
    assert await stop(bob, session)
    await drain(session)
    assert session.state == "idle"
    assert session.outcome_reason == {"reason": "stopped_by", "values": {"name": "Bob"}}
    assert (session.waits_for, session.wake_at) == ("", None)
    answer = await in_db(Message.objects.get, session=session, role="assistant")
    assert answer.data["error"]["name"] == "MessageAbortedError"
    assert len(provider.requests) == 1


async def test_a_steer_during_the_wait_is_taken_by_the_next_try(
    alice: User, bob: User, session: Session, play: Any
) -> None:
    provider = play(fails(RateLimited("Slow down.", retry_after_s=600)), DONE)
    await in_db(prompt, alice, session, "go")
    await drain(session)
    steer = await in_db(prompt, bob, session, "and mind the tests", delivery="steer")
    await drain(session)
    await in_db(steer.refresh_from_db)
    assert steer.status == SessionInput.Status.ADMITTED
    assert session.waits_for == "retry"
    await in_db(make_due, session)
    await drain(session)
    assert session.outcome == "done"
    asked = [type(message).__name__ for message in provider.requests[1].messages]
    assert asked == ["UserMessage", "UserMessage"]
    # The answer stands behind the prompt that it answers.
    roles = Message.objects.filter(session=session).order_by("seq")
    assert [row.role for row in await in_db(list, roles)] == ["user", "assistant"] * 2
    newest = await in_db(roles.last)
    assert newest.data["parentID"] == steer.pk


async def test_a_model_that_goes_away_during_the_wait_ends_the_turn(
    alice: User, session: Session, play: Any
) -> None:
    play(fails(RateLimited("Slow down.", retry_after_s=600)), DONE)
    await in_db(prompt, alice, session, "go")
    await drain(session)
    await in_db(ProviderConfig.objects.all().delete)
    await in_db(make_due, session)
    await drain(session)
    assert (session.state, session.outcome) == ("idle", "failed")
    answer = await in_db(Message.objects.get, session=session, role="assistant")
    assert answer.data["time"]["completed"]
    assert "demo/inline" in answer.data["error"]["data"]["message"]


async def test_short_waits_are_slept_and_said(alice: User, session: Session, play: Any) -> None:
    provider = play(fails(RateLimited("Slow down.", retry_after_s=0.2)), DONE)
    await in_db(prompt, alice, session, "go")
    await drain(session)
    assert (session.outcome, len(provider.requests)) == ("done", 2)
    rows = Event.objects.filter(session=session, type="session.status").order_by("seq")
    said = [(row.data["state"], row.data["waits_for"]) for row in await in_db(list, rows)]
    assert said == [("busy", ""), ("busy", "retry"), ("busy", ""), ("idle", "")]
