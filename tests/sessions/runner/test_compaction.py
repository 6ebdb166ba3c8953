from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

from opencode_web.lib.db import in_db
from providers.messages import ProviderRequest, SystemMessage, Text
from sessions.models import Compaction, ContextEpoch, Message, Part, Project, Session
from sessions.runner import run_session
from sessions.runner.model_history import WHAT_WAS_DONE
from sessions.runner.summary import CONTINUES
from teams.models import User
from tests.sessions.factories import prompt, script
from tests.sessions.story import Story

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
    summed_up = script(summary=summary if isinstance(summary, dict) else step({"text": summary}))
    story = Story(session, author)
    for number in range(turns):
        story.ask(f"Question {number}? {summed_up} " + "why " * 300)
        story.answer(finish="stop")
        story.text(f"Answer {number}. " + "so " * 1_000)
        story.finish(changed=False)


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
    assert compaction.system[0].startswith("You write the notes")
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
