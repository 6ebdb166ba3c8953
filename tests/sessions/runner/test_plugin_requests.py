"""What plugins may make of the request to a model, and of the result of a call."""

from __future__ import annotations

import shutil
from typing import Any

import pytest

from opencode_web.lib.db import in_db
from providers.llm.messages import ProviderRequest, ToolResultMessage
from sessions.models import Part, Project, Session, State
from sessions.repository.plugins import AFTER_CALL, COMPACTING, GO_ON, HISTORY
from teams.models import User
from tests.sessions.agents.test_brought import trust
from tests.sessions.factories import script
from tests.sessions.runner.drains import allow_bash, parts_of
from tests.sessions.runner.plugin_files import PATH, Write, called, on, states, turn
from tests.sessions.runner.test_compaction import FULL, LOOK, SUMMARY, play, step, talk

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.any_database,
    pytest.mark.skipif(shutil.which("node") is None, reason="there is no node"),
]
Requests = list[ProviderRequest]
REWRITE = """
for (const { info, parts } of o.messages)
  for (const part of parts) {
    if (part.type === "text" && info.role === "user") part.text += " [seen]"
    if (part.type === "tool" && part.state.status === "completed") {
      part.state.output = "[taken out]"
      part.state.input = { command: "never called" }
    }
  }
o.messages[0].parts.push({ type: "text", text: "[added]" })
o.messages.splice(1, 0, { info: { role: "user" }, parts: [{ type: "text", text: "[new]" }] })
"""


async def test_the_history_is_rewritten_for_the_model_and_for_nobody_else(
    session: Session, project: Project, alice: User, write_plugin: Write, requests: Requests
) -> None:
    write_plugin(on(HISTORY, REWRITE))
    await in_db(trust, project, alice)
    await in_db(allow_bash, session)
    text = script([{"tool": "bash", "input": {"command": "echo 1"}}], [{"text": "done"}])
    session = await turn(alice, session, text)
    assert session.state == State.IDLE
    first, second = requests[-2:]
    for request in (first, second):
        told = str(request.messages)
        assert "[seen]" in told
        assert "[added]" in told
        assert "[new]" in told
    results = [one for one in second.messages if isinstance(one, ToolResultMessage)]
    assert [one.output for one in results] == ["[taken out]"]
    assert "never called" not in str(second.messages)
    # People and the log have what was said.
    assert [state["output"] for state in await states(session)] == ["1"]
    kept = await in_db(lambda: str([row.data for row in Part.objects.all()]))
    assert "[seen]" not in kept
    assert "[new]" not in kept
    steps = await in_db(parts_of, session, "step-start")
    assert steps[0]["plugins"] == [{"path": PATH, "hook": HISTORY, "did": "changed"}]


BROKEN = {
    "o.messages = []": "is to be answered is missing",
    "o.messages = 'none'": "no list of messages",
    "o.messages = [1]": "A message is no object",
    "o.messages[0].parts = null": "no list of parts",
    "o.messages[0].parts[0].text = 7": "A text is missing",
    "o.messages.push(...o.messages)": "in another order",
    "o.messages.push({ info: { role: 'assistant' }, parts: [] })": "Only messages of the role user",
}


@pytest.mark.parametrize("code", BROKEN)
async def test_a_history_that_cannot_be_sent_is_not_taken(
    session: Session,
    project: Project,
    alice: User,
    write_plugin: Write,
    requests: Requests,
    code: str,
) -> None:
    write_plugin(on(HISTORY, code))
    await in_db(trust, project, alice)
    session = await turn(alice, session, script([{"text": "hello"}]))
    assert session.state == State.IDLE
    [step] = await in_db(parts_of, session, "step-start")
    assert step["plugins"][0]["did"] == "failed"
    assert BROKEN[code] in step["plugins"][0]["why"]
    assert len(requests[0].messages) == 1


async def test_options_of_the_model_are_taken_from_a_list(
    session: Session, project: Project, alice: User, write_plugin: Write, requests: Requests
) -> None:
    write_plugin(
        on(
            "chat.params",
            "Object.assign(o.options, { reasoningEffort: 'low', headers: { a: 'b' },"
            " baseURL: 'http://evil.example', models: ['dear'], serviceTier: 'priority' })",
        )
    )
    await in_db(trust, project, alice)
    await turn(alice, session, script([{"text": "hello"}]))
    options = requests[0].model.options
    assert options["reasoningEffort"] == "low"
    assert not {"headers", "baseURL", "models", "serviceTier"} & set(options)


@pytest.mark.parametrize("code", ["o.options = []", "o.options.thinking = 'x'.repeat(20000)"])
async def test_options_that_are_none_are_not_taken(
    session: Session,
    project: Project,
    alice: User,
    write_plugin: Write,
    requests: Requests,
    code: str,
) -> None:
    write_plugin(on("chat.params", f"o.temperature = 0.5; {code}"))
    await in_db(trust, project, alice)
    session = await turn(alice, session, script([{"text": "hello"}]))
    [step] = await in_db(parts_of, session, "step-start")
    assert "options is no object, or larger" in step["plugins"][0]["why"]
    assert requests[0].temperature != 0.5


@pytest.fixture
def small_model(project: Project) -> None:
    limit = {"context": 10_000, "output": 2_000}
    project.config = {
        "provider": {"demo": {"models": {"inline": {"limit": limit}}}},
        "compaction": {"preserve_recent_tokens": 400},
    }
    project.save()


async def test_a_compaction_is_told_more_and_asked_in_other_words(
    small_model: None,
    session: Session,
    project: Project,
    alice: User,
    write_plugin: Write,
    requests: Requests,
) -> None:
    write_plugin(on(COMPACTING, "o.context.push('[more]'); o.prompt = 'Write [otherwise].'"))
    await in_db(trust, project, alice)
    await in_db(talk, session, alice)
    session = await turn(alice, session, play([step(LOOK, **FULL)], [step({"text": "done"})]))
    assert session.outcome == "done"
    first, compaction, last = requests
    assert compaction.system == ("Write [otherwise].",)
    assert "[more]" in str(compaction.messages[-1])
    assert "[more]" not in str(first.messages) + str(last.messages)
    assert SUMMARY in str(last.messages)


async def compact_with(session: Session, alice: User, write_plugin: Write, code: str) -> Session:
    """Play a turn that does not fit, with a plugin that says whether the work goes on."""
    write_plugin(on(GO_ON, code))
    await in_db(trust, session.project, alice)
    await in_db(talk, session, alice)
    return await turn(alice, session, play([step(LOOK, **FULL)], [step({"text": "done"})]))


@pytest.mark.usefixtures("small_model")
@pytest.mark.parametrize("code", ["o.enabled = false", "o.enabled = i.overflow || !i.agent"])
async def test_a_plugin_decides_that_the_work_rests_after_a_compaction(
    session: Session, alice: User, write_plugin: Write, requests: Requests, code: str
) -> None:
    session = await compact_with(session, alice, write_plugin, code)
    assert (session.state, len(requests)) == (State.IDLE, 2)
    steps = await in_db(parts_of, session, "step-start")
    assert [(note["hook"], note["did"]) for note in steps[-1]["plugins"]] == [(GO_ON, "changed")]
    # A prompt takes the work up again, from the summary.
    session = await turn(alice, session, script([{"text": "more"}]))
    assert SUMMARY in str(requests[-1].messages)


@pytest.mark.usefixtures("small_model")
@pytest.mark.parametrize("code", ["o.enabled = 'no'", "throw new Error('no')"])
async def test_the_work_goes_on_after_a_compaction_when_a_plugin_says_nonsense(
    session: Session, alice: User, write_plugin: Write, requests: Requests, code: str
) -> None:
    session = await compact_with(session, alice, write_plugin, code)
    assert (session.outcome, len(requests)) == ("done", 3)


async def test_metadata_is_added_and_none_of_a_tool_is_changed(
    session: Session, project: Project, alice: User, write_plugin: Write
) -> None:
    code = "o.metadata = { mine: { a: [1] }, exit: 7, stoppedBy: 'me', interrupted: true }"
    write_plugin(on(AFTER_CALL, code))
    await in_db(trust, project, alice)
    await in_db(allow_bash, session)
    session = await turn(alice, session, called("bash", command="echo 1"))
    [state] = await states(session)
    metadata: dict[str, Any] = state["metadata"]
    assert (metadata["mine"], metadata["exit"]) == ({"a": [1]}, 0)
    assert not {"stoppedBy", "interrupted"} & set(metadata)


async def test_metadata_of_a_plugin_never_switches_the_agent(
    session: Session, project: Project, alice: User, write_plugin: Write
) -> None:
    write_plugin(on(AFTER_CALL, "o.metadata = { agent: 'build', todos: [] }"))
    project.config = {"permission": "allow"}
    await in_db(project.save)
    await in_db(trust, project, alice)
    todos = [{"content": "a", "status": "pending", "priority": "high", "id": "1"}]
    session = await turn(alice, session, called("todowrite", todos=todos))
    [state] = await states(session)
    assert "agent" not in state["metadata"]
    assert len(state["metadata"]["todos"]) == 1
