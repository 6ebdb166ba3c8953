"""Plugins that others have published, as they are, in turns."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from bench import npm
from opencode_web.lib.db import in_db
from sessions.actions.commands import CommandCall, run_command
from sessions.actions.permissions import reply_permission
from sessions.commands.catalog import load_commands
from sessions.config.effective import project_config
from sessions.models import Part, PermissionRequest, Session, State, TeamPlugin, ToolDescription
from sessions.repository.packages import folder_of
from sessions.repository.plugins import HISTORY, SYSTEM
from teams.models import Team, User
from tests.sessions.factories import INLINE, prompt, script, session_access
from tests.sessions.runner.drains import drain
from tests.sessions.runner.plugin_files import called, states

pytestmark = [
    pytest.mark.deep,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(shutil.which("node") is None, reason="there is no node"),
]
SKILL = "---\nname: demo\ndescription: How a demo is given to people.\n---\nOpen the shop.\n"


def put(team: Team, name: str, version: str) -> str:
    """Have a published package trusted, with what npm installs of it."""
    folder = npm.cache("plugins", f"{name.replace('/', '+')}@{version}")
    try:
        package = folder / "node_modules" / name / "package.json"
        npm.install([f"{name}@{version}"], package, folder)
    except npm.Unavailable as exc:
        pytest.skip(str(exc))
    digest = f"{name.rpartition('/')[2]:0<64.64}"
    folder_of(digest).parent.mkdir(parents=True, exist_ok=True)
    folder_of(digest).symlink_to(folder)
    now = timezone.now()
    row = TeamPlugin(team=team, name=name, version=version, digest=digest)
    row.added_at = row.trusted_at = now
    row.save()
    return str(row)


async def ask(session: Session, alice: User, text: str) -> Session:
    """Prompt, and allow what is asked."""
    await in_db(prompt, alice, session, text)
    session = await drain(session)
    while session.state == State.WAITING:
        request = await in_db(PermissionRequest.objects.get, status="pending")
        access = await in_db(session_access, alice, session)
        await in_db(reply_permission, access, request, reply="once")
        session = await drain(session)
    return session


async def test_pruning_of_conversations(
    session: Session, team: Team, alice: User, requests: list[Any]
) -> None:
    path = await in_db(put, team, "@tarquinen/opencode-dcp", "3.1.14")
    session = await ask(session, alice, script([{"text": "Hello."}]))
    assert session.state == State.IDLE
    described = await in_db(ToolDescription.objects.get)
    [plugin] = described.plugins
    assert (plugin["path"], plugin["failed"]) == (path, "")
    assert {HISTORY, SYSTEM, "experimental.text.complete", "event"} <= {*plugin["hooks"]}
    assert [tool["name"] for tool in described.tools] == ["compress"]
    commands = await in_db(lambda: load_commands(project_config(session.project)))
    assert commands["dcp-compress"].path == path
    told = json.dumps(requests[-1].system)
    assert "compress" in told
    access = await in_db(session_access, alice, session)
    await in_db(run_command, access, CommandCall("dcp-compress", "the start", model=INLINE))
    assert (await drain(session)).state == State.IDLE
    asked = str(requests[-1].messages)
    assert "You must now use the compress tool." in asked
    assert "Additional user focus:\\nthe start" in asked


async def test_skills_that_are_tools(
    session: Session, project: Any, team: Team, alice: User
) -> None:
    skill = Path(project.directory, ".opencode/skills/demo/SKILL.md")
    skill.parent.mkdir(parents=True)
    skill.write_text(SKILL)
    await in_db(put, team, "opencode-skills", "0.1.7")
    await ask(session, alice, called("skills_demo"))
    state, *_ = await states(session)
    assert (state["status"], state["tool"]) == ("completed", "skills_demo")
    texts = await in_db(lambda: [part.data for part in Part.objects.filter(type="text")])
    assert [one for one in texts if "Open the shop." in one["text"]]
