"""What plugins do in the name of who has prompted."""

from __future__ import annotations

import json
import shutil
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from opencode_web.lib.db import in_db
from sessions.actions.compaction import request_compaction
from sessions.actions.prompts import PromptDraft, admit_prompt
from sessions.actions.sessions import update_session
from sessions.models import Message, Part, Project, Session, SessionInput, State
from sessions.present.conversation.plugin_notes import plugin_sentence
from sessions.repository.plugins import LIMITS_S, SYSTEM
from sessions.runner.offers.plugin_acts import MAX_ACTS, MAX_ACTS_OF_TURN
from sessions.runner.offers.plugin_client import PluginClient
from teams.models import Membership, Role, Team, User
from tests.sessions.agents.test_brought import trust
from tests.sessions.factories import (
    make_project,
    make_session,
    prompt,
    script,
    session_access,
)
from tests.sessions.runner.drains import allow_bash, drain
from tests.sessions.runner.plugin_files import Write, called, turn
from tests.sessions.runner.test_plugin_client import Requests, asking, said
from tools.errors import ToolError

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.any_database,
    pytest.mark.skipif(shutil.which("node") is None, reason="there is no node"),
]


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(LIMITS_S, SYSTEM, 10.0)


async def prompts(session: Session) -> list[Message]:
    rows = Message.objects.filter(session=session, role="user").order_by("seq")
    return await in_db(lambda: [*rows])


async def notes(session: Session, kind: str) -> list[dict[str, Any]]:
    rows = Part.objects.filter(session=session, type=kind).order_by("seq", "pk")
    found = await in_db(lambda: [row.data for row in rows])
    metadata = [part if kind == "step-start" else part.get("metadata") or {} for part in found]
    return [note for one in metadata for note in one.get("plugins") or ()]


ANSWER = script([{"text": "done"}])
TEXTS = json.dumps([{"type": "text", "text": ANSWER}])
ACT = f"""
const made = await client.session.create({{ body: {{ title: "Review", parentID: i.sessionID }} }})
said.made = made.data?.id ?? made.error.data.message
if (made.data) {{
  const path = {{ id: made.data.id }}
  const own = {{ id: i.sessionID }}
  await client.session.promptAsync({{ path, body: {{ agent: "build", parts: {TEXTS} }} }})
  const named = await client.session.update({{ path: own, body: {{ title: "Named" }} }})
  said.title = named.data.title
  const parts = [{{ type: "text", text: "Mind this." }}]
  said.told = (await client.session.prompt({{ path: own, body: {{ noReply: true, parts }} }})).data
}}
await client.tui.showToast({{ body: {{ message: "Reviewed", variant: "info" }} }})
"""


async def test_it_acts_as_the_person_and_what_it_writes_is_said_to_be_its(
    session: Session, project: Project, alice: User, write_plugin: Write, requests: Requests
) -> None:
    write_plugin(asking(ACT))
    await in_db(trust, project, alice)
    await in_db(prompt, alice, session, ANSWER, agent="plan")
    await drain(session)
    found = said(requests[0])
    assert (found["title"], found["told"]) == ("Named", {})
    child = await in_db(Session.objects.get, pk=found["made"])
    assert (child.parent_id, child.title, child.owner_id) == (session.pk, "Review", alice.pk)
    # The one gave way to the other.
    child, session = await drain(child), await drain(session)
    assert (child.outcome, session.outcome) == ("done", "done")
    assert (session.state, session.title) == (State.IDLE, "Named")
    first, told = await prompts(session)
    assert (first.author_id, told.author_id) == (alice.pk, alice.pk)
    # The agent is that of the prompt: no plugin chooses one that may do more.
    assert [one.data["agent"] for one in [told, *await prompts(child)]] == ["plan", "plan"]
    # Neither turn that it has begun acts again.
    assert len(requests) == 3
    for request in requests[1:]:
        assert said(request) == {"made": "A turn that a plugin has begun cannot act."}
    wrote = [{"path": "", "hook": "client", "did": "wrote"}]
    assert [one for one in await notes(session, "text") if one["did"] == "wrote"] == wrote
    assert await notes(child, "text") == wrote
    [toast] = [one for one in await notes(session, "step-start") if one["did"] == "said"][:1]
    assert plugin_sentence([toast]) == "Plugins say: Reviewed"
    assert plugin_sentence(wrote) == "Written by a plugin."


async def test_one_that_always_prompts_prompts_once(
    session: Session, project: Project, alice: User, write_plugin: Write, requests: Requests
) -> None:
    given = f"{{ sessionID: i.sessionID, parts: {TEXTS} }}"
    write_plugin(asking(f"said.again = await client.session.promptAsync({given})"))
    await in_db(trust, project, alice)
    session = await turn(alice, session, ANSWER)
    assert (session.state, len(await prompts(session))) == (State.IDLE, 2)
    assert "error" not in said(requests[0])["again"]
    assert "cannot act" in json.dumps(said(requests[1])["again"]["error"])


async def test_a_turn_with_calls_is_not_kept_going(
    session: Session, project: Project, alice: User, write_plugin: Write, requests: Requests
) -> None:
    text = script(*[[{"tool": "bash", "input": {"command": "true"}}]] * 3)
    given = json.dumps({"noReply": True, "parts": [{"type": "text", "text": text}]})
    write_plugin(
        asking(
            "said.told = await client.session.prompt("
            f"{{ path: {{ id: i.sessionID }}, body: {given} }})"
        )
    )
    await in_db(trust, project, alice)
    await in_db(allow_bash, session)
    session = await turn(alice, session, text)
    assert (session.state, len(await prompts(session))) == (State.IDLE, 2)


async def test_summing_up_sums_up_once(
    session: Session, project: Project, alice: User, write_plugin: Write, requests: Requests
) -> None:
    write_plugin(asking("said.again = await client.session.summarize({ id: i.sessionID })"))
    await in_db(trust, project, alice)
    session = await turn(alice, session, ANSWER)
    assert session.state == State.IDLE
    answers = [said(request)["again"] for request in requests]
    assert ["data" in one for one in answers] == [True, False]
    assert "cannot act" in json.dumps(answers[-1])


async def test_what_goes_on_behind_a_summary_was_still_begun_by_a_plugin(
    session: Session, project: Project, alice: User, write_plugin: Write, requests: Requests
) -> None:
    write_plugin(
        asking(
            f"said.again = await client.session.promptAsync({{ id: i.sessionID, parts: {TEXTS} }})"
        )
    )
    await in_db(trust, project, alice)
    await turn(alice, session, ANSWER)
    access = await in_db(session_access, alice, session)
    await in_db(partial(request_compaction, access, auto=True))
    session = await drain(session)
    assert session.state == State.IDLE
    answers = [said(request)["again"] for request in requests]
    assert ["data" in one for one in answers] == [True, *[False] * (len(answers) - 1)]
    assert len(await prompts(session)) == 4


async def test_it_is_said_to_the_model_that_a_plugin_has_written(
    session: Session, project: Project, alice: User, write_plugin: Write, requests: Requests
) -> None:
    parts = json.dumps([{"type": "text", "text": "Mind this."}])
    write_plugin(
        asking(
            "said.told = await client.session.prompt("
            f"{{ id: i.sessionID, noReply: true, parts: {parts} }})"
        )
    )
    await in_db(trust, project, alice)
    await in_db(allow_bash, session)
    await turn(alice, session, called("bash", command="true"))
    texts = await in_db(
        lambda: [part.data["text"] for part in Part.objects.filter(session=session, type="text")]
    )
    [told] = [text for text in texts if text.startswith("While you were working")]
    assert "a plugin, in the turn of alice" in told.lower()


async def test_it_writes_nothing_above_itself(
    session: Session, project: Project, alice: User
) -> None:
    child = await in_db(partial(make_session, alice, project, parent=session))
    await turn(alice, session, ANSWER)
    await turn(alice, child, ANSWER)
    client = PluginClient(child)
    given = {"id": session.pk, "parentID": session.pk, "parts": json.loads(TEXTS)}
    before = await in_db(SessionInput.objects.count)
    for name in ("session.create", "session.promptAsync"):
        answer = await client(name, given)
        assert "only in their session and its sub-agents" in json.dumps(answer["error"])
    assert await in_db(SessionInput.objects.count) == before
    assert "data" in await PluginClient(session)("session.promptAsync", {**given, "id": child.pk})


async def test_it_does_not_bring_back_tools_that_were_switched_off(
    session: Session, alice: User
) -> None:
    access = await in_db(session_access, alice, session)
    draft = PromptDraft(parts=[{"type": "text", "text": ANSWER}], tools={"bash": True})
    await in_db(admit_prompt, access, draft)
    session = await drain(session)
    deny = [{"permission": "bash", "pattern": "*", "action": "deny"}]
    await in_db(partial(update_session, access, permission=deny))
    given = {"parts": json.loads(TEXTS)}
    assert "error" not in await PluginClient(session)("session.promptAsync", given)
    session = await drain(session)
    assert session.permission[-1] == deny[0]


async def test_it_acts_in_its_own_tree_alone(
    session: Session, bob: User, alice: User, team: Team, project: Project, tmp_path: Path
) -> None:
    other = await in_db(make_project, team, tmp_path / "other", name="other")
    elsewhere = await in_db(make_session, alice, other)
    beside = await in_db(make_session, alice, project)
    private = await in_db(make_session, bob, project, private=True)
    await turn(alice, session, ANSWER)
    client = PluginClient(session)
    before = await in_db(SessionInput.objects.count)
    seen = set()
    for one in (elsewhere.pk, beside.pk, private.pk, "ses_none"):
        body = {"parts": [{"type": "text", "text": "x"}], "parentID": one, "title": "x"}
        for name in ("session.create", "session.promptAsync", "session.abort", "session.update"):
            client._calls = client._acts = 0
            answer = await client(name, {"path": {"id": one}, "body": body})
            seen.add(json.dumps(answer["error"]).replace(one, "ID"))
    assert len(seen) == 1
    assert await in_db(SessionInput.objects.count) == before
    assert await in_db(Session.objects.filter(title="x").exists) is False


async def test_acts_are_few_and_those_of_a_member(
    session: Session, alice: User, team: Team
) -> None:
    await turn(alice, session, ANSWER)
    client = PluginClient(session)
    for _ in range(MAX_ACTS):
        assert (await client("session.update", {"title": "Other"}))["data"]
    with pytest.raises(ToolError, match="at most 5 times"):
        await client("session.update", {"title": "Other"})
    answers = [
        await PluginClient(session)("session.update", {"title": "More"})
        for _ in range(MAX_ACTS_OF_TURN)
    ]
    assert ["data" in one for one in answers].count(True) == MAX_ACTS_OF_TURN - MAX_ACTS
    await turn(alice, session, ANSWER)
    for given in (
        {"parts": [{"type": "file", "url": "file:///etc/passwd", "mime": "text/plain"}]},
        {"parts": []},
        {"parts": "x"},
    ):
        answer = await PluginClient(session)("session.promptAsync", given)
        assert answer["error"]
    answer = await PluginClient(session)(
        "session.prompt", {"parts": [{"type": "text", "text": "x"}]}
    )
    assert "because a turn outlasts a hook" in json.dumps(answer)
    await in_db(Membership.objects.filter(team=team, user=alice).update, role=Role.VIEWER)
    for name in ("session.create", "session.abort", "session.summarize"):
        assert "may only read" in json.dumps(await PluginClient(session)(name, {}))


async def test_nobody_says_of_a_message_that_plugins_have_seen_it(
    session: Session, alice: User
) -> None:
    part = {"type": "text", "text": "x", "metadata": {"plugins": [], "mine": 1}}
    access = await in_db(session_access, alice, session)
    row = await in_db(admit_prompt, access, PromptDraft(parts=[part]), resume=False)
    assert row.data["parts"][0]["metadata"] == {"mine": 1}
