from __future__ import annotations

import json
from pathlib import Path

import pytest

from opencode_web.lib.db import in_db
from opencode_web.lib.json import JsonObject
from sessions.actions.permissions import reply_permission
from sessions.events import live
from sessions.models import Event, HeldInput, Message, Part, PermissionRequest, Project, Session
from teams.models import User
from tests.lib.known_key_samples import SAMPLES
from tests.sessions.factories import prompt, script, session_access
from tests.sessions.runner.drains import allow_bash, drain, parts_of

GITHUB = SAMPLES[2][2]
STRIPE = SAMPLES[7][2]
PASTED = SAMPLES[11][2]


def saying(*steps: list[JsonObject]) -> str:
    """A script whose keys are whole only when the model reads it out."""
    text = script(*steps)
    for key in (GITHUB, STRIPE):
        text = text.replace(key, "".join(f"\\u{ord(one):04x}" for one in key))
    return text


def stored(session: Session) -> str:
    rows = [
        *Event.objects.filter(session=session).values_list("data", flat=True),
        *Part.objects.filter(session=session).values_list("data", flat=True),
        *Message.objects.filter(session=session).values_list("data", flat=True),
        *session.inputs.values_list("data", flat=True),
        *PermissionRequest.objects.filter(session=session).values_list("metadata", flat=True),
        *PermissionRequest.objects.filter(session=session).values_list("patterns", flat=True),
    ]
    return json.dumps(rows)


async def test_a_key_is_in_nothing_that_is_stored_or_streamed(
    alice: User, session: Session, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    await in_db(allow_bash, session)
    sent: list[object] = []
    publish = live.publish

    def spy(group: str, body: object) -> None:
        sent.append(body)
        publish(group, body)  # type: ignore[arg-type]

    monkeypatch.setattr(live, "publish", spy)
    Path(project.directory, "env").write_text(f"STRIPE={STRIPE}\n")
    half = len(GITHUB) // 2
    steps: tuple[list[JsonObject], ...] = (
        [{"tool": "bash", "input": {"command": f"cat env; sleep 0.2; printf {GITHUB}"}}],
        [{"tool": "read", "input": {"filePath": "env"}}],
        [
            {"reasoning": f"so {GITHUB}"},
            {"text": f"It is {GITHUB[:half]}"},
            {"text": GITHUB[half:]},
        ],
    )
    await in_db(prompt, alice, session, f"With {PASTED}: {saying(*steps)}")
    await drain(session)
    first, second = await in_db(parts_of, session, "tool")
    assert first["state"]["output"] == "STRIPE=[hidden Stripe key]\n[hidden GitHub token]"
    assert "STRIPE=[hidden Stripe key]" in second["state"]["output"]
    assert "printf [hidden GitHub token]" in first["state"]["input"]["command"]
    texts = await in_db(parts_of, session, "text")
    assert texts[-1]["text"] == "It is [hidden GitHub token]"
    (said,) = await in_db(lambda: list(session.inputs.values_list("data", flat=True)))
    assert said["parts"][0]["text"].startswith("With [hidden Anthropic key]: ")
    for where in (await in_db(stored, session), json.dumps(sent)):
        for key in (GITHUB, STRIPE, PASTED):
            assert key[6:] not in where


async def test_what_is_written_to_disk_is_what_the_model_gave(
    alice: User, session: Session, project: Project
) -> None:
    fixture = Path(project.directory, "fixture")
    calls: list[JsonObject] = [
        {"tool": "write", "input": {"filePath": "fixture", "content": f"k={GITHUB}\nm=1\n"}}
    ]
    await in_db(prompt, alice, session, saying(calls))
    await drain(session)
    # It waits for a person, over whose answer the log keeps only marks.
    (ask,) = await in_db(lambda: list(PermissionRequest.objects.filter(session=session)))
    assert GITHUB not in await in_db(stored, session)
    held = await in_db(HeldInput.objects.get)
    assert GITHUB not in held.arguments
    await in_db(reply_permission, await in_db(session_access, alice, session), ask, reply="once")
    await drain(session)
    assert fixture.read_text() == f"k={GITHUB}\nm=1\n"
    assert not await in_db(HeldInput.objects.exists)
    assert GITHUB not in await in_db(stored, session)


async def test_a_model_is_told_how_to_edit_around_what_it_does_not_see(
    alice: User, session: Session, project: Project
) -> None:
    project.config = {"permission": {"edit": "allow"}}
    await in_db(project.save)
    file = Path(project.directory, "env")
    file.write_text(f"k={STRIPE}\nmode=old\n")
    named = {"filePath": "env"}
    seen = "k=[hidden Stripe key]\nmode="
    steps: list[JsonObject] = [
        {"tool": "read", "input": named},
        {"tool": "edit", "input": {**named, "oldString": f"{seen}old", "newString": f"{seen}new"}},
        {"tool": "write", "input": {**named, "content": f"{seen}new\n"}},
        {"tool": "edit", "input": {**named, "oldString": "mode=old", "newString": "mode=new"}},
    ]
    await in_db(prompt, alice, session, script(*([one] for one in steps)))
    await drain(session)
    _, edit, write, fine = await in_db(parts_of, session, "tool")
    assert "[hidden Stripe key] stands for a value" in edit["state"]["error"]
    assert "see as [secret NAME] or [hidden ...]" in write["state"]["error"]
    assert fine["state"]["status"] == "completed"
    assert file.read_text() == f"k={STRIPE}\nmode=new\n"


async def test_a_team_can_have_nothing_hidden(
    alice: User, session: Session, project: Project
) -> None:
    project.team.hides_keys = False
    await in_db(project.team.save)
    await in_db(prompt, alice, session, f"With {PASTED}: {saying([{'text': GITHUB}])}")
    await drain(session)
    assert PASTED in await in_db(stored, session)
    assert (await in_db(parts_of, session, "text"))[-1]["text"] == GITHUB
