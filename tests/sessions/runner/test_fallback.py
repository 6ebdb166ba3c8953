from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from opencode_web.lib.db import in_db
from opencode_web.lib.errors import AppError
from providers import actions
from providers.llm.messages import ModelRef
from sessions.actions.compaction import request_compaction
from sessions.actions.prompts import PromptDraft, admit_prompt
from sessions.models import Event, Message, Project, Session
from teams.models import Team, UsageEntry, User
from tests.providers.factories import make_provider
from tests.providers.servers import Call, OpenAIServer, Reply
from tests.sessions.factories import make_session, session_access
from tests.sessions.runner.drains import drain, parts_of
from tests.sessions.runner.test_retries import make_due

REFUSED = Reply(status=401, error={"error": {"message": "Invalid key.", "code": "invalid_api_key"}})
BROKEN = Reply(status=503, error={"error": {"message": "We are down.", "type": "server_error"}})
Serve = Callable[..., OpenAIServer]


@pytest.fixture
def serve(team: Team, project: Project) -> Iterator[Serve]:
    """Start a provider of the team with one model `m`, which answers so."""
    with ExitStack() as stack:

        def start(name: str, *replies: Reply, cost: int = 0) -> OpenAIServer:
            server = OpenAIServer(list(replies))
            stack.enter_context(server)
            row = make_provider(
                team,
                provider_id=name,
                name=name.title(),
                base_url=server.base_url,
                key=f"key-{name}",
            )
            model = {"name": f"Model {name}", "cost": {"input": cost, "output": cost}}
            actions.pick_models(row, actor=None, models={"m": model})
            return server

        yield start


def fall_back(project: Project, *names: str, **agents: list[str]) -> None:
    project.config = {
        "fallback_models": list(names),
        "agent": {agent: {"fallback": models} for agent, models in agents.items()},
    }
    project.save()


def ask(user: User, session: Session, text: str = "Hello", *, of: str = "one", **more: Any) -> None:
    draft = PromptDraft(parts=[{"type": "text", "text": text}], model=ModelRef(of, "m"), **more)
    admit_prompt(session_access(user, session), draft)


def answers(session: Session) -> list[dict[str, Any]]:
    rows = Message.objects.filter(session=session, role="assistant").order_by("seq")
    return [row.data for row in rows]


def texts(session: Session) -> list[str]:
    return [part["text"] for part in parts_of(session, "text")]


async def test_the_next_model_goes_on_in_the_same_turn_and_the_transcript_says_so(
    alice: User, session: Session, project: Project, serve: Serve
) -> None:
    await in_db(serve, "one", REFUSED)
    two = await in_db(serve, "two", Reply(text="Here I am."), cost=3)
    await in_db(fall_back, project, "two/m")
    await in_db(ask, alice, session)
    await drain(session)
    assert (session.state, session.outcome) == ("idle", "done")
    assert await in_db(texts, session) == ["Here I am."]
    (answer,) = await in_db(answers, session)
    assert (answer["providerID"], answer["modelID"]) == ("two", "m")
    assert "error" not in answer
    (part,) = await in_db(parts_of, session, "retry")
    said = "Model one did not answer (Invalid key). Model two went on."
    assert part["error"]["data"]["message"] == said
    assert part["fallback"] == {"providerID": "two", "modelID": "m"}
    assert len(two.requests) == 1
    entry = await in_db(UsageEntry.objects.get)
    assert (entry.provider, entry.model, entry.cost > 0) == ("two", "m", True)


async def test_the_next_prompt_begins_with_its_own_model_again(
    alice: User, session: Session, project: Project, serve: Serve
) -> None:
    one = await in_db(serve, "one", REFUSED, Reply(text="Back again."))
    await in_db(serve, "two", Reply(text="Here I am."))
    await in_db(fall_back, project, "two/m")
    for text in ("first", "second"):
        await in_db(ask, alice, session, text)
        await drain(session)
    assert await in_db(texts, session) == ["Here I am.", "Back again."]
    assert len(one.requests) == 2


async def test_further_steps_of_a_turn_stay_with_the_model_that_went_on(
    alice: User, session: Session, project: Project, serve: Serve
) -> None:
    one = await in_db(serve, "one", REFUSED)
    look = Call("list", {"path": "."})
    two = await in_db(serve, "two", Reply(calls=(look,)), Reply(text="Seen."))
    await in_db(fall_back, project, "two/m")
    await in_db(ask, alice, session)
    await drain(session)
    assert await in_db(texts, session) == ["Seen."]
    assert (len(one.requests), len(two.requests)) == (1, 2)


async def test_the_list_is_gone_through_in_order_and_an_agents_own_counts_before_the_teams(
    alice: User, session: Session, project: Project, serve: Serve
) -> None:
    for name in ("one", "two"):
        await in_db(serve, name, REFUSED)
    three = await in_db(serve, "three", Reply(text="Third."))
    unused = await in_db(serve, "four", Reply(text="Fourth."))
    await in_db(fall_back, project, "four/m", build=["gone/m", "two/m", "one/m", "three/m"])
    await in_db(ask, alice, session)
    await drain(session)
    assert await in_db(texts, session) == ["Third."]
    said = [part["error"]["data"]["message"] for part in await in_db(parts_of, session, "retry")]
    assert said[0].startswith("gone/m did not answer (")
    assert said[1:] == [
        "Model one did not answer (Invalid key). Model two went on.",
        "Model two did not answer (Invalid key). Model three went on.",
    ]
    assert (len(three.requests), len(unused.requests)) == (1, 0)


async def test_when_all_have_failed_the_last_ones_error_is_the_turns(
    alice: User, session: Session, project: Project, serve: Serve
) -> None:
    await in_db(serve, "one", REFUSED)
    await in_db(serve, "two", Reply(status=402, error={"error": {"message": "Nothing left."}}))
    await in_db(fall_back, project, "two/m")
    await in_db(ask, alice, session)
    await drain(session)
    assert (session.state, session.outcome) == ("idle", "failed")
    (answer,) = await in_db(answers, session)
    assert answer["error"]["data"]["message"].startswith("The provider says: “Nothing left.”")


@pytest.mark.parametrize(
    "reply",
    [
        Reply(status=400, error={"error": {"message": "What is that?"}}),
        Reply(status=400, error={"error": {"message": "No.", "code": "content_filter"}}),
    ],
    ids=["bad-request", "content-filter"],
)
async def test_what_was_refused_for_what_was_asked_goes_to_no_other_model(
    reply: Reply, alice: User, session: Session, project: Project, serve: Serve
) -> None:
    await in_db(serve, "one", reply)
    two = await in_db(serve, "two", Reply(text="Here I am."))
    await in_db(fall_back, project, "two/m")
    await in_db(ask, alice, session)
    await drain(session)
    assert session.outcome == "failed"
    assert not two.requests


async def test_a_fault_that_passes_is_waited_for_before_another_model_is_asked(
    alice: User, session: Session, project: Project, serve: Serve
) -> None:
    one = await in_db(serve, "one", BROKEN, BROKEN, BROKEN, BROKEN, BROKEN, BROKEN)
    two = await in_db(serve, "two", Reply(text="Here I am."))
    await in_db(fall_back, project, "two/m")
    await in_db(ask, alice, session)
    for _ in range(4):
        await drain(session)
        assert session.waits_for == "retry"
        assert not two.requests
        await in_db(make_due, session)
    await drain(session)
    # The fifth failure in a row has opened the circuit of the address.
    await in_db(make_due, session)
    await drain(session)
    assert await in_db(texts, session) == ["Here I am."]
    assert len(one.requests) == 5
    # So the next prompt does not even ask.
    await in_db(ask, alice, session, "And now?")
    await drain(session)
    assert (len(one.requests), len(two.requests)) == (5, 2)
    last = (await in_db(parts_of, session, "retry"))[-1]["error"]["data"]["message"]
    assert last.startswith(
        "Model one did not answer (One has failed 5 times in a row (ServerError)"
    )


async def test_without_another_model_the_turn_waits_until_a_paused_address_is_asked_again(
    alice: User, session: Session, project: Project, serve: Serve
) -> None:
    one = await in_db(serve, "one", *[BROKEN] * 5, Reply(text="Up again."))
    await in_db(ask, alice, session)
    for _ in range(5):
        await drain(session)
        await in_db(make_due, session)
    other = await in_db(make_session, alice, project)
    await in_db(ask, alice, other)
    await drain(other)
    assert (other.state, other.waits_for) == ("busy", "retry")
    assert other.outcome_detail.startswith("One has failed 5 times in a row (ServerError)")
    assert other.wake_at is not None
    assert timedelta(seconds=20) < other.wake_at - timezone.now() <= timedelta(seconds=30)
    assert len(one.requests) == 5


async def test_a_cut_answer_is_not_shown_twice(
    alice: User, session: Session, project: Project, serve: Serve
) -> None:
    cut = Reply(text="I begin", stream_error={"message": "Invalid key.", "code": "invalid_api_key"})
    await in_db(serve, "one", cut)
    await in_db(serve, "two", Reply(text="Whole."))
    await in_db(fall_back, project, "two/m")
    await in_db(ask, alice, session)
    await drain(session)
    assert await in_db(texts, session) == ["Whole."]


async def test_a_model_without_a_credential_is_passed_over(
    alice: User, session: Session, project: Project, serve: Serve, team: Team
) -> None:
    await in_db(make_provider, team, provider_id="anthropic", name="Anthropic", key="", base_url="")
    await in_db(serve, "two", Reply(text="Here I am."))
    await in_db(fall_back, project, "two/m")
    draft = PromptDraft(
        parts=[{"type": "text", "text": "Hello"}], model=ModelRef("anthropic", "claude-sonnet-5")
    )
    await in_db(lambda: admit_prompt(session_access(alice, session), draft))
    await drain(session)
    assert await in_db(texts, session) == ["Here I am."]


async def test_without_a_list_a_missing_credential_is_said_at_once(
    alice: User, session: Session, project: Project, team: Team
) -> None:
    await in_db(make_provider, team, provider_id="anthropic", name="Anthropic", key="", base_url="")
    draft = PromptDraft(
        parts=[{"type": "text", "text": "Hello"}], model=ModelRef("anthropic", "claude-sonnet-5")
    )
    with pytest.raises(AppError, match="credential"):
        await in_db(lambda: admit_prompt(session_access(alice, session), draft))


async def test_a_summary_and_a_sub_agent_fall_back_as_well(
    alice: User, session: Session, project: Project, serve: Serve
) -> None:
    task = Call(
        "task", {"description": "Look", "prompt": "Look around.", "subagent_type": "general"}
    )
    replies = [Reply(calls=(task,)), REFUSED, Reply(text="All seen."), REFUSED]
    await in_db(serve, "one", *replies)
    two = await in_db(serve, "two", Reply(text="Found."), Reply(text="The summary."))
    await in_db(fall_back, project, "two/m")
    await in_db(ask, alice, session)
    await drain(session)
    child = await in_db(Session.objects.get, parent=session)
    await drain(child)
    await drain(session)
    assert await in_db(texts, child) == ["Found."]
    assert await in_db(texts, session) == ["All seen."]

    def sum_up() -> None:
        request_compaction(session_access(alice, session), model=ModelRef("one", "m"))

    await in_db(sum_up)
    await drain(session)
    assert session.outcome == "done"
    assert len(two.requests) == 2
    summary = (await in_db(answers, session))[-1]
    assert (summary["summary"], summary["providerID"]) == (True, "two")


async def test_the_browser_says_who_went_on(
    alice: User, session: Session, project: Project, serve: Serve, client: Client
) -> None:
    await in_db(serve, "one", REFUSED)
    await in_db(serve, "two", Reply(text="Here I am."))
    await in_db(fall_back, project, "two/m")
    await in_db(ask, alice, session)
    await drain(session)

    def page() -> str:
        client.force_login(alice)
        return client.get(f"/t/acme/s/{session.pk}").content.decode()

    shown = await in_db(page)
    assert "Model one did not answer (Invalid key). Model two went on." in shown
    assert "Try 1 of" not in shown
    assert await in_db(Event.objects.filter(type="session.error").count) == 0
