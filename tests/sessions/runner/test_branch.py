from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from opencode_web.lib.db import in_db
from sessions.access import access_project
from sessions.actions.secrets import set_secret
from sessions.events.live import team_group
from sessions.models import Project, SavedRule, Session
from sessions.stream.hub import watch
from teams.auth import authenticate_user
from teams.models import User
from tests.sessions.factories import prompt, script
from tests.sessions.runner.drains import drain

pytestmark = pytest.mark.django_db(transaction=True)


def bash(command: str) -> list[dict[str, Any]]:
    return [{"tool": "bash", "input": {"command": command}}]


@pytest.fixture
def secret(project: Project, alice: User) -> None:
    access = access_project(authenticate_user(alice), project.pk)
    set_secret(access, name="DEPLOY", value="value-of-the-project")


@pytest.mark.usefixtures("secret")
async def test_clients_hear_when_a_command_leaves_another_branch(
    alice: User, session: Session, project: Project
) -> None:
    await in_db(
        SavedRule.objects.create,
        project=project,
        permission="bash",
        pattern="*",
        created_at=session.created_at,
    )
    steps = script(bash("true"), bash("git switch --quiet --create b-$DEPLOY"), [{"text": "done"}])
    heard: list[Any] = []
    async with watch(team_group(project.team_id)) as bodies:
        await in_db(prompt, alice, session, steps)
        await drain(session)
        while not any(body["t"] == "place" for body in heard):
            heard += await asyncio.wait_for(bodies.take(), 25)
    assert Path(project.directory, ".git", "HEAD").read_text() == (
        "ref: refs/heads/b-value-of-the-project\n"
    )
    (body,) = [body for body in heard if body["t"] == "place"]
    assert body["directory"] == project.directory
    assert (body["type"], body["properties"]) == (
        "vcs.branch.updated",
        {"branch": "b-[secret DEPLOY]"},
    )
