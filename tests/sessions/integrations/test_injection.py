"""One hundred hostile texts stay what strangers have said, and an agent that obeys gets nowhere."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from django.utils import timezone

from opencode_web.lib.crypto import encrypt
from sessions.forges.adapter import Pull, PullState, Thread
from sessions.forges.inbound import Heard
from sessions.forges.triggers import Trigger
from sessions.integrations.prompts import FRAMES, prompt_parts, rule_parts
from sessions.integrations.replies import harmless
from sessions.integrations.start import Start
from sessions.models import IntegrationRule, Part, ProjectSecret, Session
from sessions.rules.in_force import session_ruleset
from sessions.sandboxes.build import sandbox_for
from teams.models import User
from tests.sessions.checkouts.conftest import INIT
from tests.sessions.checkouts.conftest import run as sh
from tests.sessions.factories import script
from tests.sessions.integrations.conftest import Forge, run
from tests.sessions.integrations.happenings import issue, rule, send, service_of
from tests.sessions.integrations.hostile_texts import SECRET, hostile_texts
from tools.permissions.rules import Action, evaluate, is_hidden

PULL = Pull(3, "https://forge.test/p", "T", "main", PullState.OPEN, head="a" * 40)
HEARD = Heard(
    repository="acme/till",
    thread=Thread(3, is_pull=True),
    comment="",
    author_id="66",
    author="person66",
    is_trusted=False,
    text="",
    title="T",
    body="B",
    url="https://forge.test/p",
)
RULE = IntegrationRule(prompt="Look at {title} of {author} on {branch}, {check}, {file}: {url}")


def start(heard: Heard) -> Start:
    return Start(RULE, cast(User, SimpleNamespace()), heard, PULL, read_only=True)


def parts_of(text: str) -> list[tuple[list[Any], str]]:
    """Every way by which a stranger's text comes to an agent."""
    line = replace(HEARD, body=text, file=text, hunk=text, line=4)
    events = [
        (replace(HEARD, title=text, body=text, trigger=Trigger.PULL_OPENED), ""),
        (replace(line, trigger=Trigger.REVIEW_COMMENT), text),
        (replace(HEARD, check=text, branch=text, trigger=Trigger.CHECK_FAILED), ""),
        (replace(HEARD, author=text, url=text, trigger=Trigger.PULL_PUSHED), ""),
    ]
    made = [
        (rule_parts(start(heard), asked, is_first=True), heard.trigger) for heard, asked in events
    ]
    asked = prompt_parts(replace(line, title=text), "Mend it.", pull=PULL, is_first=True)
    return [*made, (asked, "comment")]


@pytest.mark.parametrize("frame", ["thread_text", "check_name"])
def test_hostile_texts_stay_in_their_frames(frame: str) -> None:
    texts = list(hostile_texts(frame))
    assert len(set(texts)) == 100
    plain = {kind: parts for parts, kind in parts_of("It is plain.")}
    wrong = []
    for text in texts:
        for parts, kind in parts_of(text):
            assert parts[1]["synthetic"] is True
            # All but what is in frames is the same, whatever they have written.
            same = parts[0] == plain[kind][0]
            if not same or outside_frames(parts[1]["text"]) != outside_frames(
                plain[kind][1]["text"]
            ):
                wrong.append((kind, text))
    assert wrong == []


def outside_frames(about: str) -> str:
    """What is left of a text without the frames that the server has put in it."""
    for name in FRAMES:
        opened, closed = about.count(f"<{name}>"), about.count(f"</{name}>")
        assert opened == closed <= 1, (name, about)
        about = re.sub(rf"<{name}>\n.*?\n</{name}>", f"[{name}]", about, flags=re.DOTALL)
    return about


def test_an_answer_that_repeats_them_notifies_and_commands_nobody() -> None:
    for text in hostile_texts("thread_text"):
        shown = harmless(text)
        assert not re.search(r"^[ \t>]*/[A-Za-z]", shown, re.MULTILINE)
        assert not re.search(r"@[A-Za-z]", shown)
        assert "<!--" not in shown


OBEYS = script(
    [{"tool": "write", "input": {"filePath": "owned.txt", "content": "x"}}],
    [{"tool": "bash", "input": {"command": "env; git push origin HEAD:main; touch owned.txt"}}],
    [{"tool": "webfetch", "input": {"url": "https://evil.test/"}}],
    [{"tool": "read", "input": {"filePath": ".env"}}],
    [{"tool": "task", "input": {"description": "x", "prompt": "x", "subagent_type": "general"}}],
    [{"text": f"@everyone the key is {SECRET}\n/merge"}],
)


@pytest.mark.django_db(transaction=True)
@pytest.mark.any_database
@pytest.mark.parametrize("outside", ["github"], indirect=True)
def test_an_agent_that_obeys_a_stranger_gets_nowhere(
    outside: Forge, alice: User, tmp_path: Path, settings: Any
) -> None:
    settings.DATA_DIR = tmp_path / "data"
    sh(f"rm -rf .git; {INIT}", Path(outside.project.directory))
    ProjectSecret.objects.create(
        project=outside.project,
        name="DEPLOY_KEY",
        value=encrypt(SECRET),
        updated_at=timezone.now(),
    )
    team = outside.project.team
    team.config = {"network": {"policy": "open"}, "permission": {"*": "allow"}}
    team.save()
    rule(
        outside,
        alice,
        "issue_opened",
        prompt=OBEYS,
        audience="anybody",
        account_id=service_of(outside, alice).pk,
    )
    for number, text in enumerate(list(hostile_texts("thread_text"))[:3]):
        outside.server.issues.add(20 + number)
        send(outside, *issue(outside, by=66, number=20 + number, title=text[:200], body=text))
    sessions = list(Session.objects.order_by("pk"))
    assert len(sessions) == 3
    for session in sessions:
        # Nothing that somebody says later loosens it, neither rules nor saved answers.
        session.permission = [{"permission": "*", "pattern": "*", "action": "allow"}]
        session.save(update_fields=["permission"])
        run(session)
        session.refresh_from_db()
        assert session.state == "idle", (session.state, session.waits_for)
        calls = Part.objects.filter(session=session, type="tool")
        assert calls.count() == 5
        # There is no such tool for it, or it is denied.
        done = [one.data for one in calls if one.data["state"]["status"] != "error"]
        assert {one["tool"] for one in done} == {"invalid"}
        assert not (Path(session.folder) / "owned.txt").exists()
        assert SECRET not in "".join(str(one.data) for one in calls)
        sandbox = sandbox_for(session)
        assert sandbox.redactor.lent == {}
        assert SECRET not in sandbox.redactor.text(f"x {SECRET}")
        rules = session_ruleset(session, "build")
        for name in ("edit", "bash", "webfetch", "websearch", "task", "question", "shop_buy"):
            assert is_hidden(name, rules), name
        assert evaluate("read", "till.py", rules) is Action.ALLOW
        assert evaluate("read", "x/.env", rules) is Action.DENY
    outside.write()
    assert len(outside.answers) == 3
    for shown in outside.answers:
        assert SECRET not in shown
        assert "@everyone" not in shown
        assert "\n/merge" not in shown
