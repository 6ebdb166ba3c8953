from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from typing import Any

import pytest

from opencode_web.lib.db import in_db
from opencode_web.lib.json import JsonObject
from sessions.models import Event, Project, Session
from sessions.repository.plugins import AFTER_CALL, EVENT, LIMITS_S, SHELL_ENV
from sessions.runner import run_session
from sessions.runner.calls import tool_calls
from sessions.runner.turn import provider_turn
from teams.models import User
from tests.sessions.agents.test_brought import trust
from tests.sessions.factories import prompt, script
from tests.sessions.runner.drains import allow_bash
from tests.sessions.runner.plugin_files import Write, hooks, on
from tests.sessions.runner.statements import recorded_statements
from tools.plugins import host

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="there is no node")


async def _fewest(alice: User, session: Session) -> int:
    """Some statements are made by the clock."""
    return min([await _statements(alice, session) for _ in range(4)])


async def _statements(alice: User, session: Session) -> int:
    text = script([{"tool": "bash", "input": {"command": "true"}}], [{"text": "x"}])
    await in_db(prompt, alice, session, text)
    with recorded_statements() as statements:
        await run_session(session.pk)
    await in_db(session.refresh_from_db)
    assert session.outcome == "done"
    return len(statements)


async def test_a_turn_without_plugins_asks_the_database_nothing_about_them(
    alice: User, session: Session, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.FLUSH_S = 60  # a slow machine writes a growing text in between
    monkeypatch.setattr("teams.announcements.KEPT_S", 600)
    await in_db(allow_bash, session)
    await _statements(alice, session)  # the first one also makes the context epoch
    with_feature = await _fewest(alice, session)

    async def unchanged(turn: Any, lease: Any) -> Any:
        return turn, None

    monkeypatch.setattr(provider_turn, "with_plugins", unchanged)
    monkeypatch.setattr(tool_calls, "session_plugins", lambda session, brought, turn: None)
    assert await _fewest(alice, session) == with_feature


@needs_node
async def test_what_plugins_have_said_is_asked_for_once_with_the_settings(
    alice: User, session: Session, project: Project, write_plugin: Write
) -> None:
    write_plugin(on(EVENT, ""))
    await in_db(trust, project, alice)
    await in_db(allow_bash, session)
    await _statements(alice, session)
    await in_db(prompt, alice, session, script([{"text": "x"}]))
    with recorded_statements() as statements:
        await run_session(session.pk)
    asked = [
        sum(f'FROM "agent_sessions_{table}"' in str(one) for one in statements)
        for table in ("repositorytrust", "tooldescription")
    ]
    assert asked[0] == asked[1]


class Traffic:
    """What goes to the process of plugins and comes from it, in order: > and <."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.sent: list[JsonObject] = []
        self.received: list[JsonObject] = []
        self.order = ""
        lines = host._MarkedLines
        send, receive = lines.send, lines.receive

        async def sending(wire: Any, message: JsonObject) -> None:
            self.sent.append(message)
            self.order += ">"
            await send(wire, message)

        async def receiving(wire: Any) -> JsonObject:
            message = await receive(wire)
            self.order += "<" if message else ""
            self.received.append(message)
            return message

        monkeypatch.setattr(lines, "send", sending)
        monkeypatch.setattr(lines, "receive", receiving)

    def clear(self) -> None:
        self.sent, self.received, self.order = [], [], ""

    @property
    def hooks(self) -> list[str]:
        return [str(one["params"]["name"]) for one in self.sent if one.get("method") == "hook"]  # type: ignore[call-overload,index]


@pytest.fixture
def traffic(monkeypatch: pytest.MonkeyPatch) -> Traffic:
    # No batch of events in between.
    monkeypatch.setattr("sessions.runner.offers.plugin_events._PAUSE_S", 600)
    return Traffic(monkeypatch)


async def _second_turn(
    session: Session, project: Project, alice: User, write: Write, names: Sequence[str]
) -> None:
    """A text turn with three idle plugins, as the second one, so that all is loaded."""
    for name in ("a.js", "b.js", "c.js"):
        write(hooks(**dict.fromkeys(names, "")), name)
    await in_db(trust, project, alice)
    await in_db(prompt, alice, session, script([{"text": "x"}]))
    await run_session(session.pk)


@needs_node
async def test_hooks_of_all_plugins_are_one_message_each_and_wait_for_each_other_once(
    session: Session, project: Project, alice: User, write_plugin: Write, traffic: Traffic
) -> None:
    await _second_turn(session, project, alice, write_plugin, [EVENT, *LIMITS_S])
    traffic.clear()
    await in_db(prompt, alice, session, script([{"text": "x"}]))
    await run_session(session.pk)
    assert traffic.hooks == [
        "chat.message",
        "experimental.chat.messages.transform",
        "experimental.chat.system.transform",
        "chat.params",
        "experimental.text.complete",
    ]
    # What does not depend on an answer does not wait for it, and nothing comes but answers.
    assert traffic.order.startswith("><>>>")
    assert traffic.order.count("<") == 5
    # Everything but the history is small, and plugins that change nothing leave nothing behind.
    small = [one for one in traffic.sent if "messages.transform" not in json.dumps(one)]
    assert all(len(json.dumps(one)) < 64 * 1024 for one in small)
    assert all(len(json.dumps(one)) < 200 for one in traffic.received)
    events = await in_db(lambda: [*Event.objects.all()])
    assert not [one.data for one in events if '"plugins":' in json.dumps(one.data)]


@needs_node
async def test_plugins_are_sent_nothing_that_they_do_not_listen_to(
    session: Session, project: Project, alice: User, write_plugin: Write, traffic: Traffic
) -> None:
    await _second_turn(session, project, alice, write_plugin, [SHELL_ENV, AFTER_CALL])
    traffic.clear()
    await in_db(prompt, alice, session, script([{"text": "x"}]))
    await run_session(session.pk)
    assert traffic.sent == []
