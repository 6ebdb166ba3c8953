from __future__ import annotations

from typing import Any

from django.test import Client

from opencode_web.lib.db import in_db
from providers.llm.errors import AuthError, NetworkError
from providers.llm.events import Finished, FinishReason, TextDelta
from providers.llm.messages import AssistantMessage, Text, Usage
from providers.llm.reasons import ErrorReason
from sessions.actions.retry_failed_turn import go_on_after_fault
from sessions.models import Session
from sessions.present.conversation.faults import build_fault
from sessions.present.place import Place
from teams.models import User
from tests.sessions.factories import prompt, session_access
from tests.sessions.runner.drains import drain
from tests.sessions.runner.test_fallback import answers, texts
from tests.sessions.runner.test_retries import DONE, fails, make_due
from tests.sessions.runner.test_retries import play as play

KEPT = "The provider's answer ended in the middle. What came is kept."


async def cut_for_good(session: Session) -> None:
    for _ in range(5):
        await drain(session)
        assert session.waits_for == "retry"
        await in_db(make_due, session)
    await drain(session)
    assert session.outcome == "failed"


async def test_an_answer_that_its_provider_cut_says_so_and_is_gone_on_with(
    alice: User, session: Session, play: Any, client: Client
) -> None:
    cut = fails(NetworkError(reason=ErrorReason.ANSWER_CUT), TextDelta("The first half"))
    provider = play(*[cut] * 6, DONE)
    await in_db(prompt, alice, session, "go")
    await cut_for_good(session)
    assert await in_db(texts, session) == ["The first half"]
    (answer,) = await in_db(answers, session)
    assert answer["error"]["data"]["message"] == KEPT

    def page() -> str:
        client.force_login(alice)
        return client.get(f"/t/acme/s/{session.pk}").content.decode()

    shown = await in_db(page)
    assert "The provider&#x27;s answer ended in the middle. What came is kept." in shown
    assert ">Continue</button>" in shown

    def go_on() -> bool:
        return go_on_after_fault(session_access(alice, session))

    assert await in_db(go_on)
    await drain(session)
    assert await in_db(texts, session) == ["The first half", "It works."]
    # The model goes on with what it has said, which it is shown.
    read = [m for m in provider.requests[-1].messages if isinstance(m, AssistantMessage)]
    assert [part.text for m in read for part in m.content if isinstance(part, Text)] == [
        "The first half"
    ]


async def test_a_refusal_behind_a_text_is_no_cut(alice: User, session: Session, play: Any) -> None:
    play(fails(AuthError("The key has ended."), TextDelta("The first half")))
    await in_db(prompt, alice, session, "go")
    await drain(session)
    (answer,) = await in_db(answers, session)
    assert answer["error"]["name"] == "ProviderAuthError"
    assert answer["error"]["data"]["message"].startswith("The key has ended.")


async def test_an_answer_without_a_word_is_asked_for_again(
    alice: User, session: Session, play: Any
) -> None:
    play(*[fails(NetworkError(reason=ErrorReason.ANSWER_CUT))] * 6)
    await in_db(prompt, alice, session, "go")
    await cut_for_good(session)
    (answer,) = await in_db(answers, session)
    fault = await in_db(lambda: build_fault("msg_1", answer["error"], Place.of(session)))
    assert fault.again == "Try again"


async def test_an_answer_at_its_models_limit_can_be_continued(
    alice: User, session: Session, play: Any
) -> None:
    play([TextDelta("Up to here"), Finished(FinishReason.LENGTH, Usage(1, 1))])
    await in_db(prompt, alice, session, "go")
    await drain(session)
    (answer,) = await in_db(answers, session)
    fault = await in_db(lambda: build_fault("msg_1", answer["error"], Place.of(session)))
    assert (fault.title, fault.again) == ("The answer is not complete.", "Continue")
