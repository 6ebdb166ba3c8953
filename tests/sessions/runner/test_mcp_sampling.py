from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from opencode_web.lib.db import in_db
from opencode_web.lib.json import JsonObject, JsonValue
from sessions.actions.permissions import reply_permission
from sessions.events.messages import Tokens
from sessions.events.types import SessionUsed
from sessions.models import PermissionRequest, Project, SavedRule, Session, State
from sessions.runner.offers import mcp_kept
from sessions.runner.offers.mcp_caller import SessionCaller
from teams.access import access_team
from teams.actions.budgets import change_budgets
from teams.models import Reservation, UsageEntry, User
from tests.fakes import FakeToolContext
from tests.sessions.factories import prompt, script, session_access
from tests.sessions.runner.drains import drain, parts_of, stop, until
from tests.sessions.runner.test_custom_tools import states
from tests.sessions.runner.test_mcp_tools import set_up
from tests.sessions.runner.test_secrets import VALUE, give
from tests.sessions.story import write
from tests.tools.mcp.servers import living
from tools.redaction import Redactor

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.any_database]
REJECTED = {"code": -1, "message": "User rejected sampling request"}


@pytest_asyncio.fixture(autouse=True)
async def ended() -> AsyncIterator[None]:
    yield
    await mcp_kept.end_kept_servers()


async def serve(project: Project, sampling: str, **more: JsonValue) -> None:
    argv = list(living(Path(project.directory)))
    server = {"command": argv, "sampling": sampling, "environment": {"GIVEN": "{env:TOKEN}"}}

    def prepare() -> None:
        give(project, project.team.memberships.get(role="owner").user)
        set_up(project, living=server)
        project.config = {**project.config, **more}
        project.save()
        SavedRule.objects.create(
            project=project, permission="living_*", pattern="*", created_at=project.created_at
        )

    await in_db(prepare)


def asked(*events: dict[str, Any], text: str = "Name a tea.", **more: Any) -> dict[str, Any]:
    """What a server asks; the scripted model answers with these events."""
    played = {"name": "sampled", "turns": [[{"events": [*events]}]]}
    said = {"type": "text", "text": f"{text} <<script{json.dumps(played)}>>"}
    return {"messages": [{"role": "user", "content": said}], "maxTokens": 100, **more}


TEA = asked({"text": "Sencha"})


def calls(*given: dict[str, Any], tool: str = "sample") -> str:
    """One step for each."""
    return script(*([{"tool": f"living_{tool}", "input": {"message": one}}] for one in given))


def limit(user: User, project: Project) -> None:
    access = access_team(user, project.team.slug)
    change_budgets(access, team=Decimal(5), each=None, members={})


async def outputs(session: Session) -> list[Any]:
    return [json.loads(one["output"]) for one in await states(session)]


async def reply(user: User, session: Session, reply: str, **more: Any) -> PermissionRequest:
    request = await in_db(PermissionRequest.objects.get, session=session, status="pending")
    access = await in_db(session_access, user, session)
    await in_db(lambda: reply_permission(access, request, reply=reply, **more))  # type: ignore[arg-type]
    return request


async def test_a_server_that_may_not_is_told_that_it_is_not_offered(
    session: Session, project: Project, alice: User
) -> None:
    await serve(project, "never")
    await in_db(prompt, alice, session, calls(TEA))
    session = await drain(session)
    assert [one["code"] for one in await outputs(session)] == [-32601]
    assert session.state == State.IDLE


async def test_an_allowed_server_is_answered_and_the_session_pays(
    session: Session, project: Project, alice: User
) -> None:
    await serve(project, "allow")
    await in_db(prompt, alice, session, calls(TEA, asked({"text": "Assam or Ceylon"})))
    session = await drain(session)
    first, second = await outputs(session)
    content = {"type": "text", "text": "Sencha"}
    assert first == {
        "role": "assistant",
        "content": content,
        "model": "inline",
        "stopReason": "endTurn",
    }
    assert second["content"]["text"] == "Assam or Ceylon"
    assert not await in_db(PermissionRequest.objects.exists)
    parts = await in_db(parts_of, session, "tool")
    sampled = [part["metadata"]["sampling"] for part in parts]
    assert [one["requests"] for one in sampled] == [1, 1]
    assert sampled[0]["tokens"] > 0
    # Beside one entry for each of the session's own steps.
    [prompted] = await in_db(lambda: list(session.messages.filter(role="user")))
    rows = await in_db(lambda: list(UsageEntry.objects.filter(session=session.pk)))
    assert {(row.prompt, row.user_id, row.model) for row in rows} == {
        (prompted.pk, alice.pk, "inline")
    }
    answers = await in_db(lambda: list(session.messages.filter(role="assistant")))
    own = sum(one.data["tokens"]["input"] + one.data["tokens"]["output"] for one in answers)
    total = session.tokens["input"] + session.tokens["output"]
    assert total - own == sum(one["tokens"] for one in sampled)
    assert total == sum(row.input + row.output for row in rows)
    # What it asked is not part of the conversation.
    assert session.turn_steps == len(answers)


async def test_the_reason_of_a_rejection_reaches_the_server_without_secrets(
    session: Session, project: Project, alice: User
) -> None:
    await serve(project, "ask")
    await in_db(prompt, alice, session, calls(TEA))
    await drain(session)
    await reply(alice, session, "reject", message=f"Not with {VALUE}, and\x1b shorter.")
    session = await drain(session)
    [rejected] = await outputs(session)
    message = f"{REJECTED['message']}: Not with [secret TOKEN], and shorter."
    assert rejected == {"code": -1, "message": message}


async def test_a_person_sees_the_whole_prompt_and_decides_each_time(
    session: Session, project: Project, alice: User
) -> None:
    await serve(project, "ask")
    wanted = asked({"text": "Sencha"}, systemPrompt="Be brief.", text=f"Say {VALUE}.")
    await in_db(prompt, alice, session, calls(wanted, wanted, wanted))
    for answer in ("once", "reject", "always"):
        session = await drain(session)
        assert session.state == State.WAITING
        request = await reply(alice, session, answer)
        assert (request.permission, request.patterns) == ("sampling", ["living"])
        assert request.always == ["living"]
        shown = request.metadata["prompt"]
        assert shown.startswith("System prompt:\nBe brief.\n\nUser:\nSay [secret TOKEN].")
    session = await drain(session)
    first, rejected, third = await outputs(session)
    assert (first["content"]["text"], rejected) == ("Sencha", REJECTED)
    assert third["content"]["text"] == "Sencha"
    # Once it is always allowed nobody is asked, and the turn went on behind the rejection.
    assert session.state == State.IDLE
    await in_db(prompt, alice, session, calls(wanted))
    session = await drain(session)
    assert session.state == State.IDLE
    assert (await outputs(session))[-1]["content"]["text"] == "Sencha"


async def test_no_secret_comes_to_a_model_or_back(tmp_path: Path) -> None:
    context = FakeToolContext(tmp_path, tmp_path, model_says=f"It is {VALUE}.")
    caller = SessionCaller("living", context, Redactor({"TOKEN": VALUE}), False)
    result = await caller.sample(asked(text=f"Say {VALUE}."), 1)
    assert result["content"] == {"type": "text", "text": "It is [secret TOKEN]."}
    [request] = context.model_requests
    assert "Say [secret TOKEN]." in str(request.messages)
    assert VALUE not in str([request, context.asks])


async def test_each_of_several_requests_of_one_call_is_asked_for(
    session: Session, project: Project, alice: User
) -> None:
    await serve(project, "ask")
    await in_db(prompt, alice, session, calls(TEA, tool="flood"))
    for number in range(1, 9):
        session = await drain(session)
        assert session.state == State.WAITING
        request = await reply(alice, session, "once" if number < 8 else "reject")
        assert request.metadata["number"] == number
    session = await drain(session)
    assert session.state == State.IDLE
    [told] = await outputs(session)
    assert len([one for one in told if "content" in one]) == 7
    assert len([one for one in told if one.get("code") == -1]) == 1
    assert len(told) == 30
    [part] = await in_db(parts_of, session, "tool")
    assert part["metadata"]["sampling"]["requests"] == 7


async def test_rules_decide_before_the_settings_of_the_server(
    session: Session, project: Project, alice: User, subtests: pytest.Subtests
) -> None:
    cases: list[tuple[str, JsonObject, str]] = [
        ("allow", {"permission": {"sampling": "deny"}}, "rejected"),
        ("allow", {"permission": {"sampling": {"liv*": "deny"}}}, "rejected"),
        ("allow", {"permission": {"sampling": {"other": "deny"}}}, "answered"),
        ("allow", {"permission": {"sampling": "ask"}}, "waits"),
        ("ask", {"permission": {"sampling": {"living": "allow"}}}, "answered"),
        ("ask", {"agent": {"build": {"permission": {"sampling": "deny"}}}}, "rejected"),
        ("never", {"permission": {"sampling": "allow"}}, "not offered"),
    ]
    for policy, config, expected in cases:
        with subtests.test(policy=policy, config=config):
            await in_db(SavedRule.objects.all().delete)
            await serve(project, policy, **config)
            await in_db(prompt, alice, session, calls(TEA))
            session = await drain(session)
            if session.state == State.WAITING:
                found = "waits"
                await reply(alice, session, "reject")
                await drain(session)
            else:
                output = (await outputs(session))[-1]
                found = {-1: "rejected", -32601: "not offered"}.get(output.get("code"), "answered")
            assert found == expected


async def test_a_server_prefers_one_of_the_two_models_of_the_session(
    session: Session, project: Project, alice: User, subtests: pytest.Subtests
) -> None:
    limits: JsonObject = {"limits": {"models": ["demo/inline"]}}
    cases: list[tuple[dict[str, Any], JsonObject, str]] = [
        ({}, {}, "inline"),
        ({"speedPriority": 0.8, "intelligencePriority": 0.5}, {}, "tour"),
        ({"costPriority": 0.8, "intelligencePriority": 0.9}, {}, "inline"),
        ({"hints": [{"name": "opus"}, {"name": "TOUR"}]}, {}, "tour"),
        ({"hints": [{"name": "inline"}], "costPriority": 1}, {}, "inline"),
        ({"costPriority": 1}, limits, "inline"),
        ({"hints": [{"name": "tour"}]}, limits, "inline"),
    ]
    for wanted, config, expected in cases:
        with subtests.test(wanted=wanted, config=config):
            await in_db(SavedRule.objects.all().delete)
            await serve(project, "allow", small_model="demo/tour", **config)
            tea = asked({"text": "Sencha"}, modelPreferences=wanted)
            await in_db(prompt, alice, session, calls(tea))
            session = await drain(session)
            assert (await outputs(session))[-1]["model"] == expected


async def test_at_its_cost_limit_a_session_asks_no_model_for_a_server(
    session: Session, project: Project, alice: User
) -> None:
    await serve(project, "ask", limits={"session_cost": "5.00"})
    await in_db(prompt, alice, session, calls(TEA))
    session = await drain(session)
    await in_db(write, session, SessionUsed(cost=Decimal(6), tokens=Tokens()))
    await reply(alice, session, "once")
    session = await drain(session)
    [told] = await outputs(session)
    assert told == {"code": -32603, "message": "The session may not use a model for this now."}


async def test_at_its_budget_a_team_asks_no_model_for_a_server(
    session: Session, project: Project, alice: User
) -> None:
    await serve(project, "ask")
    await in_db(prompt, alice, session, calls(TEA))
    session = await drain(session)
    spent = SessionUsed(cost=Decimal(6), tokens=Tokens(), provider_id="demo", model_id="inline")

    await in_db(limit, alice, project)
    await in_db(write, session, spent)
    await reply(alice, session, "once")
    session = await drain(session)
    [told] = await outputs(session)
    assert told == {"code": -32603, "message": "The session may not use a model for this now."}
    assert session.waits_for == "funds"


async def test_a_model_that_fails_is_an_error_of_the_request_alone(
    session: Session, project: Project, alice: User
) -> None:
    await serve(project, "allow")
    failing = asked({"error": {"status": 500, "message": "secret of the provider"}})
    await in_db(prompt, alice, session, calls(failing, {"messages": []}, TEA))
    session = await drain(session)
    failed, invalid, fine = await outputs(session)
    assert failed == {"code": -32603, "message": "The model did not answer."}
    assert invalid["code"] == -32602
    assert fine["content"]["text"] == "Sencha"


async def test_a_stop_ends_what_a_server_asks_and_it_lives_on(
    session: Session, project: Project, alice: User
) -> None:
    await serve(project, "allow")
    slow = asked({"text": "Sen"}, {"delay_ms": 60_000}, {"text": "cha"})
    await in_db(prompt, alice, session, calls(slow))
    task = asyncio.create_task(drain(session))
    await until(
        lambda: any(part["state"]["status"] == "running" for part in parts_of(session, "tool"))
    )
    await stop(alice, session)
    session = await task
    assert session.state == State.IDLE
    assert (await states(session))[-1]["status"] == "error"
    await in_db(prompt, alice, session, calls(TEA))
    session = await drain(session)
    answered = json.loads((await states(session))[-1]["output"])
    assert answered["content"]["text"] == "Sencha"


async def test_a_stop_ends_a_card_that_waits(
    session: Session, project: Project, alice: User
) -> None:
    await serve(project, "ask")
    await in_db(prompt, alice, session, calls(TEA))
    session = await drain(session)
    await stop(alice, session)
    session = await drain(session)
    assert session.state == State.IDLE
    assert not await in_db(UsageEntry.objects.filter(model="inline", input=0).exists)
    assert (await states(session))[-1]["status"] == "error"


async def test_a_server_that_is_gone_when_it_is_allowed_asks_no_model(
    session: Session, project: Project, alice: User
) -> None:
    await serve(project, "ask")
    await in_db(prompt, alice, session, calls(TEA))
    session = await drain(session)
    await mcp_kept.end_kept_servers()
    await reply(alice, session, "once")
    session = await drain(session)
    [state] = await states(session)
    assert "The server was ended while it waited for an answer." in state["error"]


async def test_a_server_that_does_not_wait_gets_no_answer_of_a_model(
    session: Session, project: Project, alice: User
) -> None:
    await serve(project, "allow")
    await in_db(limit, alice, project)
    slow = asked({"delay_ms": 60_000}, {"text": "Sencha"})
    await in_db(prompt, alice, session, calls(slow, tool="hasty"))
    session = await drain(session)
    [state] = await states(session)
    assert state["output"] == "done without it"
    # Nothing stays set apart, so the next call can ask again.
    assert not await in_db(Reservation.objects.exists)
