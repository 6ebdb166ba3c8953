from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from django.db import connections

from opencode_web.lib.db import in_db
from providers.kinds import ProviderKind
from providers.llm.messages import ModelRef
from providers.models import ProviderConfig
from sessions.actions.prompts import PromptDraft, admit_prompt
from sessions.actions.sessions import update_session
from sessions.models import Event, Message, Project, Run, Session
from sessions.runner import run_session
from sessions.runner.drain.title_request import clean_title, write_title
from teams.access import access_team
from teams.actions.budgets import change_budgets
from teams.models import Reservation, User
from tests.providers.factories import KEY, make_provider
from tests.providers.servers import OpenAIServer, Reply
from tests.sessions.factories import prompt, script, session_access

LIMIT = {"context": 200_000, "output": 64_000}
PROMPT = "The till gives wrong change\nwhen the total has more than two decimals."


@pytest.fixture(autouse=True)
def titles_on(settings: Any) -> None:
    settings.TITLES = True


@pytest.fixture
def server(project: Project) -> Iterator[OpenAIServer]:
    title = Reply(text='<think>Hm.</think>\n"Wrong change of the till"\nmore')
    with OpenAIServer([Reply(text="I will look."), title]) as server:
        cost = {"input": 10, "output": 20}
        small = {"cost": cost, "reasoning": True}
        models = {"big": {"cost": {"input": 30, "output": 60}}, "little": small}
        block = {
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": server.base_url},
            "models": models,
        }
        project.config = {"provider": {"loop": block}, "small_model": "loop/little"}
        project.save()
        yield server


def ask(alice: User, session: Session, text: str = PROMPT) -> None:
    draft = PromptDraft(parts=[{"type": "text", "text": text}], model=ModelRef("loop", "big"))
    admit_prompt(session_access(alice, session), draft)


async def run_turn(session: Session) -> None:
    await run_session(session.pk)
    await in_db(session.refresh_from_db)


async def test_a_small_model_at_its_weakest_names_the_session(
    alice: User, session: Session, server: OpenAIServer
) -> None:
    await in_db(ask, alice, session)
    await run_turn(session)
    assert (session.state, session.title) == ("idle", "The till gives wrong change")
    assert len(server.requests) == 1
    before = session.cost
    await write_title(session.pk)
    await in_db(session.refresh_from_db)
    assert session.title == "Wrong change of the till"
    sent = server.requests[1].json
    assert (sent["model"], sent["reasoning_effort"]) == ("little", "low")
    assert sent["max_tokens"] == 2_000
    assert "tools" not in sent
    assert sent["messages"][0]["role"] == "system"
    assert "two decimals" in sent["messages"][1]["content"]
    # 100 tokens in at 10 USD and 20 out at 20 USD per million.
    assert session.cost - before == Decimal("0.0014")
    assert session.tokens["input"] == 200
    # The turn's own message has only what the turn cost.
    answer = await in_db(Message.objects.get, session=session, role="assistant")
    assert answer.data["cost"] == pytest.approx(0.0042)


async def test_a_model_is_asked_once_only(
    alice: User, session: Session, server: OpenAIServer
) -> None:
    await in_db(ask, alice, session)
    await run_turn(session)
    await write_title(session.pk)
    await write_title(session.pk)
    assert len(server.requests) == 2


async def test_a_title_has_to_be_paid_for_by_the_budget_as_well(
    alice: User, session: Session, server: OpenAIServer
) -> None:
    await in_db(ask, alice, session)
    await run_turn(session)
    none = {"each": None, "members": {}}
    access = await in_db(access_team, alice, "acme")
    await in_db(change_budgets, access, team=Decimal(0), **none)
    await write_title(session.pk)
    await in_db(session.refresh_from_db)
    assert (session.state, session.title) == ("idle", "The till gives wrong change")
    assert len(server.requests) == 1
    # A later turn asks again.
    await in_db(change_budgets, access, team=Decimal(5), **none)
    await write_title(session.pk)
    await in_db(session.refresh_from_db)
    assert session.title == "Wrong change of the till"
    assert not await in_db(Reservation.objects.exists)


async def test_a_title_that_a_person_set_is_kept(
    alice: User, session: Session, server: OpenAIServer
) -> None:
    await in_db(ask, alice, session)
    await run_turn(session)
    access = await in_db(session_access, alice, session)
    await in_db(update_session, access, title="Mine")
    await write_title(session.pk)
    await in_db(session.refresh_from_db)
    assert session.title == "Mine"
    assert len(server.requests) == 1


async def test_a_title_that_a_person_sets_meanwhile_is_kept_and_the_cost_counted(
    alice: User, session: Session, server: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    await in_db(ask, alice, session)
    await run_turn(session)
    access = await in_db(session_access, alice, session)
    before = session.cost

    def rename(request: Any) -> Reply:
        # In a thread of the loopback server, which ends with its connection.
        update_session(access, title="Mine")
        connections.close_all()
        return Reply(text="Too late")

    server._replies = rename
    await write_title(session.pk)
    await in_db(session.refresh_from_db)
    assert session.title == "Mine"
    assert session.cost > before


@pytest.mark.parametrize("reply", [Reply(status=500), Reply(text="  \n"), Reply(text="<think>a")])
async def test_without_a_usable_answer_the_first_line_stays(
    reply: Reply, alice: User, session: Session, server: OpenAIServer
) -> None:
    await in_db(ask, alice, session)
    await run_turn(session)
    server._replies = [reply]
    await write_title(session.pk)
    await in_db(session.refresh_from_db)
    assert (session.title, session.outcome) == ("The till gives wrong change", "done")
    assert not await in_db(Event.objects.filter(session=session, type="session.error").exists)


async def test_the_settings_name_the_model_or_switch_titles_off(
    alice: User, session: Session, project: Project, server: OpenAIServer
) -> None:
    project.config = {**project.config, "small_model": "loop/big"}
    await in_db(project.save)
    await in_db(ask, alice, session)
    await run_turn(session)
    await write_title(session.pk)
    assert server.requests[1].json["model"] == "big"
    project.config = {**project.config, "agent": {"title": {"disable": True}}}
    await in_db(project.save)
    await in_db(Run.objects.filter(session=session).update, title_due=True)
    await in_db(Session.objects.filter(pk=session.pk).update, title="The till gives wrong change")
    await write_title(session.pk)
    assert len(server.requests) == 2
    await in_db(Session.objects.filter(pk=session.pk).update, title="Wrong change of the till")


async def test_a_budget_to_think_with_leaves_room_for_the_title(
    alice: User, session: Session, project: Project, server: OpenAIServer
) -> None:
    def add_claude() -> None:
        row = make_provider(
            project.team, kind=ProviderKind.ANTHROPIC, base_url=server.base_url, key=KEY
        )
        picked = {"claude-haiku-4-5": {"reasoning": True, "limit": LIMIT}}
        ProviderConfig.objects.filter(pk=row.pk).update(picked=picked)
        title = {"model": f"{row.provider_id}/claude-haiku-4-5", "variant": "high"}
        project.config = {**project.config, "agent": {"title": title}}
        project.save()

    await in_db(add_claude)
    await in_db(ask, alice, session)
    await run_turn(session)
    await write_title(session.pk)
    sent = server.requests[1].json
    assert sent["thinking"] == {"type": "enabled", "budget_tokens": 16_000}
    assert sent["max_tokens"] == 18_000
    assert "temperature" not in sent


async def test_the_scripted_demo_is_not_asked(
    alice: User, session: Session, requests: list[Any]
) -> None:
    await in_db(prompt, alice, session, script([{"text": "Hello."}]))
    await run_turn(session)
    await write_title(session.pk)
    assert len(requests) == 1


def test_titles_are_cleaned(subtests: pytest.Subtests) -> None:
    cases = [
        ("A title", "A title"),
        ("\n\n  # A   title\nand more", "A title"),
        ("<think>\nlong\n</think>\n'Quoted'", "Quoted"),
        ("x" * 101, "x" * 97 + "..."),
        ("x" * 100, "x" * 100),
        ("a\x00b", "a\ufffdb"),
        ("", ""),
    ]
    for answer, title in cases:
        with subtests.test(answer=answer):
            assert clean_title(answer) == title


async def test_the_next_model_is_asked_when_one_does_not_answer(
    alice: User, session: Session, project: Project, server: OpenAIServer
) -> None:
    refused = Reply(status=401, error={"error": {"message": "Invalid key."}})
    server._replies = [Reply(text="I will look."), refused, Reply(text="Wrong change")]

    def fall_back() -> None:
        project.config = {**project.config, "fallback_models": ["loop/big"]}
        project.save()

    await in_db(fall_back)
    await in_db(ask, alice, session)
    await run_turn(session)
    await write_title(session.pk)
    await in_db(session.refresh_from_db)
    assert session.title == "Wrong change"
    assert [request.json["model"] for request in server.requests] == ["big", "little", "big"]
