from __future__ import annotations

import asyncio
from typing import Any

import pytest
from django.test import AsyncClient

from opencode_web.lib.db import in_db
from sessions.models import Project, Session
from teams.models import User
from tests.sessions.api.conftest import Connect
from tests.sessions.factories import script
from tests.sessions.runner.drains import drain, until


@pytest.mark.django_db
def test_the_commands_of_a_project_are_listed(
    alice: User, project: Project, connect: Connect
) -> None:
    project.config = {"command": {"fix": {"template": "Fix $1", "description": "d"}}}
    project.save()
    listed = connect(alice).get("/command", {"directory": project.directory}).json()
    assert [command["name"] for command in listed] == ["fix", "init", "review"]
    assert listed[0] == {
        "name": "fix",
        "source": "command",
        "template": "Fix $1",
        "hints": ["$1"],
        "description": "d",
    }


@pytest.mark.django_db(transaction=True)
async def test_a_command_is_answered_when_its_turn_is_over(alice: User, session: Session) -> None:
    def configure() -> None:
        template = f"Do it. {script([{'text': 'did it'}])}"
        session.project.config = {"command": {"fix": {"template": template}}}
        session.project.save()

    await in_db(configure)
    client = AsyncClient()
    await client.aforce_login(alice)
    body: dict[str, Any] = {"command": "fix", "arguments": "", "model": "demo/inline"}
    waiting = asyncio.ensure_future(
        client.post(f"/session/{session.pk}/command", body, content_type="application/json")
    )
    await until(lambda: session.inputs.exists())
    await drain(session)
    answer = (await asyncio.wait_for(waiting, 30)).json()
    assert answer["info"]["role"] == "assistant"
    assert [part["text"] for part in answer["parts"] if part["type"] == "text"] == ["did it"]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"command": "gone"}, "Available commands: init, review"),
        ({"parts": [{"type": "text", "text": "x"}]}, "can only have files"),
    ],
)
async def test_a_wrong_call_is_explained(
    alice: User, session: Session, more: dict[str, Any], said: str
) -> None:
    client = AsyncClient()
    await client.aforce_login(alice)
    body = {"command": "init", "arguments": "", **more}
    answer = await client.post(
        f"/session/{session.pk}/command", body, content_type="application/json"
    )
    assert answer.status_code == 400
    assert said in answer.content.decode()
