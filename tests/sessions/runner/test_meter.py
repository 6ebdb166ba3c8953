from __future__ import annotations

import asyncio
from decimal import Decimal
from typing import Any

import pytest

from opencode_web.lib.bus import publish, subscribe
from opencode_web.lib.db import in_db
from providers.llm.messages import ProviderRequest
from providers.tokens import estimate_request
from sessions.events.live import Estimate, team_group
from sessions.models import Compaction, Project, Session
from sessions.runner.turn import meter
from teams.models import User
from tests.sessions.factories import prompt, script
from tests.sessions.runner.drains import drain
from tests.sessions.runner.test_compaction import talk

PRICE = {"input": 10, "output": 20, "cache_read": 1, "cache_write": 12}
LIMIT = {"context": 50_000, "output": 1_000}
LONG = "".join(f"{number:04}" for number in range(1_000))


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meter, "EVERY_S", 0.05)


def configure(project: Project, **model: Any) -> None:
    project.config = {"provider": {"demo": {"models": {"inline": model}}}}
    project.save()


def answer(*events: dict[str, Any], **usage: int) -> dict[str, Any]:
    return {"events": [*events], "usage": usage}


def play(*answers: dict[str, Any]) -> str:
    return script(turns=[[*answers]] * 9)


SLOW = ({"text": LONG}, {"delay_ms": 120}, {"text": LONG})


async def told(session: Session, user: User, text: str) -> list[Estimate]:
    await in_db(prompt, user, session, text)
    found: list[Estimate] = []
    team_id = await in_db(lambda: session.project.team_id)
    async with subscribe(team_group(team_id)) as bodies:

        async def listen() -> None:
            async for body in bodies:
                if body["t"] == "estimate":
                    assert body["session"] == session.pk
                    found.append(Estimate.of(body))
                elif body["t"] == "end":
                    return

        listening = asyncio.create_task(listen())
        await drain(session)
        publish(team_group(team_id), {"t": "end"})
        await asyncio.wait_for(listening, 25)
    return found


async def test_an_answer_that_takes_long_says_what_it_has_used_so_far(
    alice: User, session: Session, project: Project, requests: list[ProviderRequest]
) -> None:
    await in_db(configure, project, cost=PRICE, limit=LIMIT)
    guess = (await told(session, alice, play(answer(*SLOW, input=700, output=2_000))))[-1]
    read = estimate_request(requests[0])
    assert guess == Estimate(
        context=read + 2_000,
        limit=50_000,
        tokens=read + 2_000,
        cost=(read * Decimal(10) + 2_000 * Decimal(20)) / 1_000_000,
    )
    assert session.context_tokens == 2_700


async def test_what_was_counted_before_is_not_guessed_again(
    alice: User, session: Session, project: Project
) -> None:
    await in_db(configure, project, cost=PRICE, limit=LIMIT)
    first = answer({"tool": "list", "input": {"path": "."}}, input=9_000, output=1_000)
    guess = (await told(session, alice, play(first, answer(*SLOW))))[-1]
    assert guess.context is not None
    # What the tool said is not much.
    assert 12_000 < guess.context < 12_200
    assert guess.cost is not None
    assert Decimal("0.14") < guess.cost < Decimal("0.143")


async def test_what_a_provider_keeps_is_taken_to_be_there_for_the_next_answer(
    alice: User, session: Session, project: Project
) -> None:
    await in_db(configure, project, cost=PRICE, limit=LIMIT)
    first = answer({"tool": "list", "input": {"path": "."}}, cache_write=9_000, output=1_000)
    guess = (await told(session, alice, play(first, answer(*SLOW))))[-1]
    assert guess.cost is not None
    # 10,000 read again at 1 USD, and 2,000 out at 20 USD per million.
    assert Decimal("0.05") < guess.cost < Decimal("0.0525")


async def test_what_a_compaction_left_is_not_counted_twice(
    alice: User, session: Session, project: Project
) -> None:
    await in_db(configure, project, limit=LIMIT)
    project.config["compaction"] = {"preserve_recent_tokens": 3_000}
    await in_db(project.save)
    await in_db(talk, session, alice)
    full = answer({"tool": "list", "input": {"path": "."}}, input=49_900)
    found = await told(session, alice, script(turns=[[full], [answer(*SLOW)]]))
    compaction = await in_db(Compaction.objects.get)
    assert found[-1].context == compaction.tokens_after + 2_000


async def test_arguments_of_a_call_count_as_they_come(
    alice: User, session: Session, project: Project
) -> None:
    await in_db(configure, project, limit=LIMIT)
    write = {"tool": "write", "input": {"filePath": "a.txt", "content": LONG}}
    slow = answer({"text": "so"}, {"delay_ms": 120}, write, output=5)
    guess = (await told(session, alice, play(slow, answer({"text": "done"}))))[-1]
    assert guess.tokens > 1_000
    # The demo is known to be free.
    assert guess.cost == 0


async def test_short_answers_say_only_what_was_counted(
    alice: User, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(meter, "EVERY_S", 2.0)
    assert await told(session, alice, play(answer(*SLOW))) == []
