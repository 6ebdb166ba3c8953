from __future__ import annotations

import itertools
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from opencode_web.lib.db import in_db
from providers import testing
from providers.llm.messages import ProviderRequest, SystemMessage, Text
from providers.script import Script, Step, TextEvent
from sessions.events.messages import MessageTime
from sessions.events.types import SessionStatus
from sessions.models import Compaction, ContextEpoch, Message, Part, Project, Session
from sessions.runner import run_session
from sessions.runner.compaction.summary import CONTINUES
from sessions.runner.log.model_history import PRUNED, WHAT_WAS_DONE
from teams.models import User
from tests.sessions.factories import prompt, script
from tests.sessions.story import T0, Story, write

# The settings keep 100 tokens of the newest messages and the model has room for 8,000.
USABLE = 8_000
FULL = {"input": USABLE}
SMALL = {"input": 500}
SUMMARY = "Objective: sell more."
LOOK = {"tool": "list", "input": {"path": "."}}

Requests = list[ProviderRequest]


@pytest.fixture(autouse=True)
def small_model(project: Project) -> None:
    limit = {"context": USABLE + 2_000, "output": 2_000}
    project.config = {
        "provider": {"demo": {"models": {"inline": {"limit": limit}}}},
        "compaction": {"preserve_recent_tokens": 400},
    }
    project.save()


def step(*events: dict[str, Any], **usage: int) -> dict[str, Any]:
    return {"events": list(events), "usage": usage or SMALL}


def play(*turns: list[dict[str, Any]]) -> str:
    """A prompt that plays these turns: what follows a compaction is the next one."""
    return script(turns=list(turns))


def talk(session: Session, author: User, *, turns: int = 2, summary: Any = SUMMARY) -> None:
    """A history of some 1,000 tokens for each turn. Its script gives the summary of it."""
    spoken = summary if isinstance(summary, dict) else step({"text": summary})
    summed_up = script(summary=spoken) if summary else ""
    story = Story(session, author)
    for number in range(turns):
        story.ask(f"Question {number}? {summed_up} " + "why " * 300)
        story.answer(finish="stop", time=MessageTime(created=T0, completed=T0))
        story.text(f"Answer {number}. " + "so " * 1_000)
    write(session, SessionStatus(state="idle", outcome="done"))


async def run(alice: User, session: Session, text: str) -> None:
    await in_db(prompt, alice, session, text)
    await run_session(session.pk)
    await in_db(session.refresh_from_db)


def shown(session: Session) -> list[tuple[str, str]]:
    """Every message as people see it: its role and its first part."""
    found = []
    for message in session.messages.order_by("seq"):
        kinds = [part.type for part in message.parts.order_by("seq", "id")]
        said = [kind for kind in kinds if kind not in ("step-start", "step-finish")]
        found.append((message.role, said[0] if said else ""))
    return found


def text_of(request: ProviderRequest, place: int) -> str:
    message = request.messages[place]
    assert not isinstance(message, SystemMessage)
    return "".join(part.text for part in message.content if isinstance(part, Text))  # type: ignore[union-attr]


async def test_a_full_context_is_summed_up_between_two_steps_and_the_turn_goes_on(
    alice: User, session: Session, requests: Requests
) -> None:
    await in_db(talk, session, alice)
    await run(alice, session, play([step(LOOK, **FULL)], [step({"text": "done"})]))
    assert (session.state, session.outcome) == ("idle", "done")
    first, compaction, last = requests
    assert len(first.messages) == 5
    assert compaction.tools == ()
    assert compaction.system[0].startswith("You write the summary")
    asked = text_of(compaction, 0)
    assert asked.startswith("<conversation>\n[User] Question 0?")
    assert "[Assistant] Answer 1." in asked
    # The summary, then what was kept of the end, then the word to go on.
    assert text_of(last, 0) == WHAT_WAS_DONE
    assert text_of(last, 1) == SUMMARY
    assert last.tools == first.tools
    assert "Question 0" not in str(last.messages)
    assert "Carry on" in text_of(last, len(last.messages) - 1)
    # For people nothing has gone.
    assert await in_db(shown, session) == [
        ("user", "text"),
        ("assistant", "text"),
        ("user", "text"),
        ("assistant", "text"),
        ("user", "text"),
        ("assistant", "tool"),
        ("user", "compaction"),
        ("assistant", "text"),
        ("user", "text"),
        ("assistant", "text"),
    ]


async def test_the_messages_of_a_compaction_have_the_shape_that_clients_know(
    alice: User, session: Session
) -> None:
    await in_db(talk, session, alice)
    await run(alice, session, play([step(LOOK, **FULL)], [step({"text": "done"})]))

    def read() -> None:
        row = Compaction.objects.get(session=session)
        asked, summary = row.message, row.summary
        part = asked.parts.get()
        assert asked.author == alice
        assert part.data["auto"] is True
        assert "overflow" not in part.data
        tail = Message.objects.get(pk=part.data["tail_start_id"])
        assert (tail.seq, row.seq) == (row.history_from, asked.seq)
        info = summary.data
        assert (info["summary"], info["finish"]) == (True, "stop")
        assert (info["mode"], info["agent"]) == ("compaction", "compaction")
        assert info["parentID"] == asked.pk
        assert info["tokens"]["input"] == 500
        [go_on] = Part.objects.filter(session=session, data__metadata__has_key=CONTINUES)
        assert go_on.data["synthetic"] is True
        assert go_on.message.author == alice
        assert session.events.filter(type="session.compacted").count() == 1
        assert session.compacting_at is None

    await in_db(read)


async def test_fr_07_a_compaction_begins_one_epoch_with_a_fresh_baseline(
    alice: User, session: Session, requests: Requests, project: Project
) -> None:
    await in_db(talk, session, alice)
    await run(alice, session, "hello")
    (project_file := _agents_file(project)).write_text("Use tabs.")
    turns = [[step(LOOK, **FULL)], [step(LOOK), step(LOOK), step({"text": "done"})]]
    await run(alice, session, play(*turns))
    before, _, *after = requests[1:]
    # The change was told in mid-conversation before, and is part of the baseline now.
    assert [m.text for m in before.messages if isinstance(m, SystemMessage)]
    assert "Use tabs." not in "".join(before.system)
    assert len(after) == 3
    for request in after:
        assert "Use tabs." in "".join(request.system)
        assert not [m for m in request.messages if isinstance(m, SystemMessage)]
    # From there on each request begins with the whole one before.
    for earlier, later in itertools.pairwise(after):
        assert later.system == earlier.system
        assert later.messages[: len(earlier.messages)] == earlier.messages

    def read() -> None:
        epoch = ContextEpoch.objects.get(session=session)
        assert (epoch.revision, epoch.ended) == (2, "")
        begun = session.events.filter(type="context.started").order_by("seq")
        assert [event.data["reason"] for event in begun] == ["start", "compaction"]

    await in_db(read)
    project_file.unlink()


def _agents_file(project: Project) -> Path:
    return Path(project.directory) / "AGENTS.md"


async def test_what_a_first_call_takes_up_is_estimated(
    alice: User, session: Session, requests: Requests
) -> None:
    await in_db(talk, session, alice, turns=9)
    await run(alice, session, play([], [step({"text": "done"})]))
    assert session.outcome == "done"
    compaction, last = requests
    assert compaction.tools == ()
    # The prompt that was not answered yet is kept word for word, whatever else is.
    assert "<<script" in text_of(last, len(last.messages) - 2)
    assert "Carry on" in text_of(last, len(last.messages) - 1)


async def test_switched_off_it_is_left_to_the_provider(
    alice: User, session: Session, project: Project, requests: Requests
) -> None:
    project.config["compaction"]["auto"] = False
    await in_db(project.save)
    await in_db(talk, session, alice)
    await run(alice, session, play([step(LOOK, **FULL), step({"text": "done"}, **FULL)]))
    assert session.outcome == "done"
    assert len(requests) == 2
    assert not await in_db(Compaction.objects.exists)


TOO_LONG = {"error": {"status": 400, "message": "prompt is too long: 9999 tokens"}}


async def test_a_request_that_the_provider_refused_as_too_long_is_made_again_once(
    alice: User, session: Session, requests: Requests
) -> None:
    await in_db(talk, session, alice)
    await run(alice, session, play([step(TOO_LONG)], [step({"text": "done"})]))
    assert session.outcome == "done"
    assert [len(request.tools) > 0 for request in requests] == [True, False, True]

    def read() -> None:
        part = Part.objects.get(session=session, type="compaction")
        assert part.data["overflow"] is True
        # The refused answer said nothing, so nothing of it is shown.
        assert not Message.objects.filter(session=session, data__has_key="error").exists()

    await in_db(read)


async def test_refused_again_after_the_compaction_the_turn_ends_with_the_error(
    alice: User, session: Session, requests: Requests
) -> None:
    await in_db(talk, session, alice)
    await run(alice, session, play([step(TOO_LONG)], [step(TOO_LONG)], [step({"text": "ok"})]))
    assert (session.state, session.outcome) == ("idle", "failed")
    assert "too long" in session.outcome_detail
    assert len(requests) == 3
    # Another model may do, or another prompt.
    await run(alice, session, play([step({"text": "fine"})]))
    assert session.outcome == "done"


async def test_summaries_as_long_as_the_history_end_the_turn_after_two(
    alice: User, session: Session, requests: Requests, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Each summary is as long as all that it stands for, and each answer fills the context again.
    long = Step(events=(TextEvent(text=" ".join(map(str, range(6_000)))),))
    monkeypatch.setattr(testing, "_SUMMARY", long)
    full = Script.model_validate({"turns": [], "otherwise": [step(LOOK, **FULL)]})
    monkeypatch.setattr(testing, "_NO_SCRIPT", full)
    await in_db(talk, session, alice, summary="")
    await run(alice, session, "work")
    assert (session.state, session.outcome) == ("idle", "failed")
    assert session.outcome_reason["reason"] == "context_full"
    assert sum(not request.tools for request in requests) == 2

    def read() -> None:
        assert list(Compaction.objects.values_list("in_vain", flat=True)) == [True, True]
        newest = Message.objects.filter(session=session).latest("seq")
        assert newest.data["error"]["name"] == "ContextOverflowError"

    await in_db(read)
    before = len(requests)
    await run(alice, session, "again?")
    # It is said again, and nothing is spent.
    assert (session.outcome, len(requests)) == ("failed", before)


@pytest.mark.parametrize(
    ("summary", "why"),
    [
        (step(LOOK), "called_instead"),
        (step({"text": "  "}), "summary_empty"),
        (step({"text": "half"}) | {"finish": "content-filter"}, "summary_filtered"),
        (step({"error": {"status": 401, "message": "No."}}), "key_refused"),
    ],
)
async def test_a_compaction_that_fails_says_why_and_loses_nothing(
    alice: User, session: Session, requests: Requests, summary: dict[str, Any], why: str
) -> None:
    await in_db(talk, session, alice, summary=summary)
    await run(alice, session, play([step(LOOK, **FULL)], [step({"text": "done"})]))
    assert (session.state, session.outcome) == ("idle", "failed")
    assert why in str(session.outcome_reason)

    def read() -> None:
        assert not Compaction.objects.exists()
        assert session.compacting_at is None
        assert ContextEpoch.objects.get(session=session).ended == ""

    await in_db(read)
    # The next prompt tries again; with a model that reads more there is no need to.
    limit = {"context": 90_000, "output": 2_000}
    project = await in_db(Project.objects.get)
    project.config["provider"]["demo"]["models"]["inline"]["limit"] = limit
    await in_db(project.save)
    await run(alice, session, play([step({"text": "fine"})]))
    assert session.outcome == "done"
    assert "Question 0" in str(requests[-1].messages)
    assert WHAT_WAS_DONE not in str(requests[-1].messages)


async def test_its_cost_and_tokens_count(alice: User, session: Session, project: Project) -> None:
    model = project.config["provider"]["demo"]["models"]["inline"]
    model["cost"] = {"input": 10, "output": 20}
    await in_db(project.save)
    await in_db(talk, session, alice, summary=step({"text": "short"}, input=300, output=50))
    before = session.cost
    await run(alice, session, play([step(LOOK, **FULL)], [step({"text": "done"}, input=100)]))
    # 8,000 + 300 + 100 tokens in at 10 USD and 50 out at 20 USD per million.
    assert session.cost - before == Decimal("0.085")
    summary = await in_db(Message.objects.get, session=session, data__summary=True)
    assert summary.data["cost"] == pytest.approx(0.004)
    # What the conversation takes up is what its own newest answer counted.
    assert session.context_tokens == 100


async def test_the_next_compaction_takes_the_notes_of_the_last_one_in(
    alice: User, session: Session, requests: Requests
) -> None:
    await in_db(talk, session, alice)
    await run(alice, session, play([step(LOOK, **FULL)], [step({"text": "done"})]))
    await in_db(talk, session, alice, summary="Both.")
    await run(alice, session, play([step(LOOK, **FULL)], [step({"text": "done"})]))
    first, second = (request for request in requests if not request.tools)
    assert "<earlier-notes>" not in text_of(first, 0)
    asked = text_of(second, 0)
    assert f"<earlier-notes>\n{SUMMARY}\n</earlier-notes>" in asked
    # What the first has taken in is not there a second time.
    assert asked.count("Answer 0. ") == 1
    assert text_of(requests[-1], 1) == "Both."
    assert SUMMARY not in str(requests[-1].messages)


async def test_old_outputs_are_pruned_where_that_is_enough(
    alice: User, session: Session, project: Project, requests: Requests
) -> None:
    limit = {"context": 200_000, "output": 20_000}
    project.config["provider"]["demo"]["models"]["inline"]["limit"] = limit
    await in_db(project.save)

    def tell() -> None:
        story = Story(session, alice)
        for number in range(4):
            story.ask(f"Question {number}")
            story.answer(finish="stop", time=MessageTime(created=T0, completed=T0))
            story.done("read", {"filePath": f"{number}.txt"}, f"file {number} " * 14_000)
        write(session, SessionStatus(state="idle", outcome="done"))

    await in_db(tell)
    # Of 24,500 tokens each. The two newest turns do not count, and of the others 40,000 stay.
    turns = [[step(LOOK, input=180_000), step({"text": "done"})]]
    await run(alice, session, play(*turns))
    assert session.outcome == "done"
    first, second = requests
    assert "file 0 file 0" in str(first.messages)
    assert "file 0 file 0" not in str(second.messages)
    assert "file 2 file 2" in str(second.messages)
    assert PRUNED in str(second.messages)

    def read() -> None:
        parts = Part.objects.filter(session=session, type="tool").order_by("seq")
        pruned = [part for part in parts if "compacted" in part.data["state"]["time"]]
        assert [part.data["state"]["input"] for part in pruned] == [
            {"filePath": "0.txt"},
            {"filePath": "1.txt"},
        ]
        # The record keeps it.
        assert pruned[0].data["state"]["output"].startswith("file 0 file 0")
        assert not Compaction.objects.exists()
        epoch = session.events.filter(type="context.started").latest("seq")
        assert epoch.data["reason"] == "pruning"

    await in_db(read)
