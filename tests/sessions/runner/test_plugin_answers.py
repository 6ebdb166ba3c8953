"""What plugins make of commands, of tools' descriptions and of finished texts, and their end."""

from __future__ import annotations

import logging
import shutil
from pathlib import Path
from typing import Any

import pytest

from opencode_web.lib.db import in_db
from providers.llm.messages import ProviderRequest
from sessions.actions.commands import CommandCall, run_command
from sessions.models import Part, Project, Session
from sessions.repository.plugins import DISPOSE, LIMITS_S, TEXT
from sessions.runner.offers.mcp_kept import end_kept_servers
from teams.models import User
from tests.sessions.agents.test_brought import trust
from tests.sessions.factories import INLINE, script, session_access
from tests.sessions.runner.drains import allow_bash, drain, parts_of
from tests.sessions.runner.plugin_files import PATH, Write, called, hooks, on, turn

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.any_database,
    pytest.mark.skipif(shutil.which("node") is None, reason="there is no node"),
]
Requests = list[ProviderRequest]


async def texts(session: Session, role: str) -> list[str]:
    rows = Part.objects.filter(session=session, type="text", message__role=role)
    return await in_db(lambda: [row.data["text"] for row in rows.order_by("seq", "id")])


async def said(session: Session) -> list[tuple[str, str]]:
    """What the log says that plugins did to the session's steps."""
    steps = await in_db(parts_of, session, "step-start")
    notes = [note for step in steps for note in step.get("plugins") or ()]
    return [(note["hook"], note["did"]) for note in notes]


async def test_a_command_is_changed_before_its_message(
    session: Session, project: Project, alice: User, write_plugin: Write, requests: Requests
) -> None:
    project.config = {"command": {"c": {"template": "Look at $ARGUMENTS: !`echo one`"}}}
    await in_db(project.save)
    change = (
        "o.parts[0].text += ` [${i.command} ${i.arguments}]`; "
        "o.parts.push({ type: 'text', text: 'more' })"
    )
    write_plugin(
        hooks(**{"command.execute.before": change, "chat.message": "o.parts[0].text += '[m]'"})
    )
    await in_db(trust, project, alice)
    await in_db(allow_bash, session)
    await in_db(session.refresh_from_db)
    access = await in_db(session_access, alice, session)
    await in_db(run_command, access, CommandCall("c", "a.txt", model=INLINE))
    session = await drain(session)
    assert await texts(session, "user") == ["Look at a.txt: one [c a.txt][m]", "more"]
    assert "Look at a.txt: one [c a.txt][m]" in str(requests[-1].messages)
    [first, _] = await in_db(
        lambda: [*Part.objects.filter(session=session, type="text", message__role="user")]
    )
    notes = first.data["metadata"]["plugins"]
    assert [(one["hook"], one["did"]) for one in notes] == [
        ("command.execute.before", "changed"),
        ("chat.message", "changed"),
    ]


async def test_a_message_that_no_command_became_is_no_command(
    session: Session, project: Project, alice: User, write_plugin: Write
) -> None:
    write_plugin(on("command.execute.before", "o.parts[0].text = 'taken'"))
    await in_db(trust, project, alice)
    session = await turn(alice, session, script([{"text": "done"}]))
    assert "taken" not in await texts(session, "user")


async def test_a_text_is_kept_as_plugins_leave_it(
    session: Session, project: Project, alice: User, write_plugin: Write, requests: Requests
) -> None:
    write_plugin(on(TEXT, "o.text = o.text.toUpperCase() + (i.partID && i.messageID ? '!' : '')"))
    await in_db(trust, project, alice)
    await in_db(allow_bash, session)
    steps = script(
        [{"text": "first"}, {"tool": "bash", "input": {"command": "true"}}], [{"text": "b"}]
    )
    session = await turn(alice, session, steps)
    assert await texts(session, "assistant") == ["FIRST!", "B!"]
    assert "FIRST!" in str(requests[1].messages)
    assert await said(session) == [(TEXT, "changed"), (TEXT, "changed")]


@pytest.mark.parametrize(
    ("code", "did"),
    [
        ("o.text = 7", "failed"),
        ("throw new Error('no')", "failed"),
        ("await new Promise(() => {})", "late"),
    ],
)
async def test_a_text_stays_when_plugins_fail(
    session: Session,
    project: Project,
    alice: User,
    write_plugin: Write,
    monkeypatch: pytest.MonkeyPatch,
    code: str,
    did: str,
) -> None:
    monkeypatch.setitem(LIMITS_S, TEXT, 1.0)
    write_plugin(on(TEXT, code))
    await in_db(trust, project, alice)
    session = await turn(alice, session, script([{"text": "as it was"}]))
    assert (session.outcome, await texts(session, "assistant")) == ("done", ["as it was"])
    assert await said(session) == [(TEXT, did)]


DEFINE = """
import { appendFileSync } from "node:fs"
export const One = async () => ({ "tool.definition": async (i, o) => {
  appendFileSync("asked", i.toolID + "\\n")
  if (i.toolID === "read") {
    o.description = "Reads as the plugin says."
    o.jsonSchema.properties.filePath.description = "Which file."
  }
  if (i.toolID === "write") o.parameters.properties.more = { type: "string" }
} })
"""


async def test_tools_are_described_in_other_words_and_asked_about_once(
    session: Session, project: Project, alice: User, write_plugin: Write, requests: Requests
) -> None:
    write_plugin(DEFINE)
    await in_db(trust, project, alice)
    await in_db(allow_bash, session)
    session = await turn(alice, session, called("bash", command="true"))
    assert len(requests) == 2
    for request in requests:
        by_name = {tool.name: tool for tool in request.tools}
        assert by_name["read"].description == "Reads as the plugin says."
        properties: Any = by_name["read"].schema["properties"]
        assert properties["filePath"]["description"] == "Which file."
        assert "more" not in str(by_name["write"].schema["properties"])
    names = Path(project.directory, "asked").read_text().splitlines()
    assert sorted(names) == sorted(tool.name for tool in requests[0].tools)
    assert (
        await said(session) == [("tool.definition", "changed"), ("tool.definition", "failed")] * 2
    )


async def test_plugins_are_told_of_their_end(
    session: Session,
    project: Project,
    alice: User,
    write_plugin: Write,
    caplog: pytest.LogCaptureFixture,
) -> None:
    write = "(await import('node:fs')).writeFileSync('ended', 'yes'); throw new Error('late')"
    write_plugin(hooks(**{DISPOSE: write, "chat.params": ""}))
    await in_db(trust, project, alice)
    await turn(alice, session, script([{"text": "done"}]))
    assert not Path(project.directory, "ended").exists()
    with caplog.at_level(logging.WARNING):
        await end_kept_servers()
    assert Path(project.directory, "ended").read_text() == "yes"
    assert f"plugin={PATH} hook=dispose" in caplog.text
