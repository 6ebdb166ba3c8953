from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from opencode_web.lib.db import in_db
from opencode_web.lib.json import JsonObject
from sessions.access import access_project
from sessions.actions.revert import revert_session
from sessions.actions.secrets import set_secret
from sessions.events import live
from sessions.models import Event, Part, PermissionRequest, Project, Session
from sessions.runner.calls import tool_context
from teams.auth import authenticate_user
from teams.models import User
from tests.sessions.factories import prompt, script, session_access
from tests.sessions.runner.drains import allow_bash, drain, parts_of

pytestmark = pytest.mark.any_database

VALUE = "s3cret-value-of-the-project"
ENCODED = base64.b64encode(VALUE.encode()).decode()


def give(project: Project, user: User, *, value: str = VALUE) -> None:
    access = access_project(authenticate_user(user), project.pk)
    set_secret(access, name="TOKEN", value=value)


def stored(session: Session) -> str:
    events = Event.objects.filter(session=session).values_list("data", flat=True)
    parts = Part.objects.filter(session=session).values_list("data", flat=True)
    return json.dumps([*events, *parts])


async def test_a_secret_is_in_the_command_and_in_nothing_that_is_stored_or_sent(
    alice: User, session: Session, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    await in_db(give, project, alice)
    await in_db(allow_bash, session)
    sent: list[JsonObject] = []
    publish = live.publish_progress

    def spy(session: Session, part: JsonObject) -> None:
        sent.append(part)
        publish(session, part)

    monkeypatch.setattr(tool_context, "publish_progress", spy)
    commands = (
        'printf %s "$TOKEN" | wc -c; echo "$TOKEN"; sleep 0.3; printf %s "$TOKEN" | base64 -w0',
        'printf %s "$TOKEN" >kept; seq 5000; cat kept',
    )
    calls = [{"tool": "bash", "input": {"command": command}} for command in commands]
    await in_db(prompt, alice, session, script(calls))
    await drain(session)
    first, second = await in_db(parts_of, session, "tool")
    assert first["state"]["output"].startswith(f"{len(VALUE)}\n[secret TOKEN]\n[secret TOKEN]")
    assert second["state"]["output"].endswith("[secret TOKEN]")
    assert Path(project.directory, "kept").read_text() == VALUE
    whole = Path(second["state"]["metadata"]["outputPath"]).read_text()
    assert whole.endswith("5000\n[secret TOKEN]")
    texts = (await in_db(stored, session), json.dumps(sent), whole)
    assert sent
    for text in texts:
        at = text.find(VALUE) if VALUE in text else text.find(ENCODED)
        assert at < 0, text[max(0, at - 300) : at + 100]


async def test_another_project_does_not_have_it(
    alice: User, session: Session, project: Project, tmp_path: Path
) -> None:
    await in_db(allow_bash, session)
    call = {"tool": "bash", "input": {"command": "env"}}
    await in_db(prompt, alice, session, script([call]))
    await drain(session)
    (part,) = await in_db(parts_of, session, "tool")
    assert "TOKEN" not in part["state"]["output"]


async def test_what_a_person_is_asked_does_not_show_it(
    alice: User, session: Session, project: Project
) -> None:
    await in_db(give, project, alice)
    file = Path(project.directory, "config")
    file.write_text(f"key = {VALUE}\nmode = old\n")
    project.config = {"permission": {"edit": "ask"}}
    await in_db(project.save)
    given = {"filePath": "config", "oldString": "mode = old", "newString": "mode = new"}
    calls = [{"tool": "read", "input": {"filePath": "config"}}]
    await in_db(prompt, alice, session, script(calls, [{"tool": "edit", "input": given}]))
    await drain(session)
    (request,) = await in_db(lambda: list(PermissionRequest.objects.filter(session=session)))
    assert "[secret TOKEN]" in str(request.metadata)
    assert VALUE not in await in_db(stored, session)


async def test_instructions_and_skills_are_told_and_logged_without_it(
    alice: User, session: Session, project: Project
) -> None:
    await in_db(give, project, alice)
    folder = Path(project.directory)
    (folder / "AGENTS.md").write_text(f"The password is {VALUE}.\n")
    (folder / ".opencode/skills/dye").mkdir(parents=True)
    (folder / ".opencode/skills/dye/SKILL.md").write_text(
        f"---\nname: dye\ndescription: Dyes with {VALUE}\n---\nUse {VALUE}.\n"
    )
    call = {"tool": "skill", "input": {"name": "dye"}}
    await in_db(prompt, alice, session, script([call]))
    await drain(session)
    told = await in_db(stored, session)
    assert "The password is [secret TOKEN]." in told
    assert "Dyes with [secret TOKEN]" in told
    assert "Use [secret TOKEN]." in told
    assert VALUE not in told


async def test_an_agent_does_not_write_the_mask_over_it(
    alice: User, session: Session, project: Project
) -> None:
    await in_db(give, project, alice)
    file = Path(project.directory, "config")
    file.write_text(f"key = {VALUE}\nmode = old\n")
    project.config = {"permission": {"edit": "allow"}}
    await in_db(project.save)
    named = {"filePath": "config"}
    whole = {**named, "content": "key = [secret TOKEN]\nmode = new\n"}
    fine = {**named, "oldString": "mode = old", "newString": "mode = new"}
    calls = ({"tool": "read", "input": named}, {"tool": "write", "input": whole})
    steps = [[call] for call in (*calls, {"tool": "edit", "input": fine})]
    await in_db(prompt, alice, session, script(*steps))
    await drain(session)
    _, refused, _ = await in_db(parts_of, session, "tool")
    assert "which you see as [secret NAME]" in refused["state"]["error"]
    assert file.read_text() == f"key = {VALUE}\nmode = new\n"


async def test_no_name_of_a_file_shows_it_and_the_file_goes_back_all_the_same(
    alice: User, session: Session, project: Project
) -> None:
    await in_db(give, project, alice)
    await in_db(allow_bash, session)
    command = 'printf "$TOKEN" >"f-$TOKEN.txt"; truncate -s 40M "big-$TOKEN"'
    call = {"tool": "bash", "input": {"command": command}}
    first = await in_db(prompt, alice, session, script([call]))
    await drain(session)
    made = Path(project.directory, f"f-{VALUE}.txt")
    assert made.exists()
    (patch,) = await in_db(parts_of, session, "patch")
    assert patch["files"] == ["f-[secret TOKEN].txt"]
    await in_db(revert_session, await in_db(session_access, alice, session), first.pk)
    await drain(session)
    assert not made.exists()
    assert "f-[secret TOKEN].txt" in session.revert["diff"]
    assert VALUE not in json.dumps(session.revert)
    assert VALUE not in await in_db(stored, session)
