from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.test import AsyncClient
from pytest_django import Settings

from sessions.models import Project, Session
from teams.models import Team, User
from tests.sessions.api.conftest import bearer
from tests.sessions.factories import make_project, make_session
from tests.sessions.story import Story

pytestmark = pytest.mark.django_db(transaction=True)
JSON = "application/json"


class Client:
    """Asks with a token, so that nothing comes by a cookie."""

    def __init__(self, token: dict[str, str]) -> None:
        self._client, self._headers = AsyncClient(), token

    async def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        more = {} if body is None else {"data": body, "content_type": JSON}
        answer = await getattr(self._client, method)(path, headers=self._headers, **more)
        return answer.status_code, json.loads(answer.content) if answer.content else None


@pytest.fixture
def client(alice: User, team: Team) -> Client:
    return Client(bearer(alice, team))


@pytest.fixture
def shop(team: Team, tmp_path: Path, settings: Settings) -> Project:
    settings.DATA_DIR = tmp_path / "data"
    project = make_project(team, tmp_path / "shop")
    (Path(project.directory) / "till.py").write_text("x\n")
    return project


@pytest.fixture
def session(alice: User, shop: Project) -> Session:
    return make_session(alice, shop)


async def test_each_project_has_its_own_sessions(
    client: Client, alice: User, team: Team, shop: Project, session: Session, tmp_path: Path
) -> None:
    other = await sync_to_async(make_project)(team, tmp_path / "other", name="other")
    status, made = await client.ask("post", f"/project/{other.pk}/session", {"title": "There"})
    assert (status, made["projectID"]) == (200, other.pk)
    for project, listed in ((shop, [session.pk]), (other, [made["id"]])):
        _, rows = await client.ask("get", f"/project/{project.pk}/session")
        assert [row["id"] for row in rows] == listed
    status, _ = await client.ask("get", f"/project/{other.pk}/session/{session.pk}")
    assert status == 404
    status, agents = await client.ask("get", f"/project/{other.pk}/agent")
    assert "build" in {agent["name"] for agent in agents}
    status, fault = await client.ask("get", "/project/nope/session")
    assert (status, fault["name"]) == (404, "NotFoundError")


async def test_what_is_about_a_session_is_found_below_its_project(
    client: Client, alice: User, shop: Project, session: Session
) -> None:
    here = f"/project/{shop.pk}/session/{session.pk}"
    story = await sync_to_async(Story)(session, alice)
    await sync_to_async(story.ask)("hi")
    await sync_to_async(story.answer)()
    request = await sync_to_async(story.waits)("ls")
    _, messages = await client.ask("get", f"{here}/message")
    assert messages[0]["info"]["role"] == "user"
    status, _ = await client.ask("get", f"{here}/message/{messages[0]['info']['id']}")
    assert status == 200
    status, done = await client.ask("post", f"{here}/permission/{request}", {"response": "once"})
    assert (status, done) == (200, True)
    _, found = await client.ask("get", f"{here}/find/file?query=till")
    assert found == ["till.py"]
    _, listed = await client.ask("get", f"{here}/file?path=.")
    assert "till.py" in [node["name"] for node in listed]
    _, changed = await client.ask("get", f"{here}/file/status")
    assert changed[0]["path"] == "till.py"
    _, found = await client.ask("get", f"/project/{shop.pk}/find/file?query=till")
    assert found == ["till.py"]
    status, _ = await client.ask("get", f"{here}/nothing")
    assert status == 404
    status, done = await client.ask("delete", here)
    assert (status, done) == (200, True)


async def test_a_browser_still_needs_its_csrf_token(
    alice: User, shop: Project, session: Session
) -> None:
    browser = AsyncClient(enforce_csrf_checks=True)
    await browser.aforce_login(alice)
    answer = await browser.post(f"/project/{shop.pk}/session", {}, content_type=JSON)
    assert answer.status_code == 403
    assert (await browser.get(f"/project/{shop.pk}/session")).status_code == 200


async def test_older_names_lead_to_the_route(client: Client, session: Session) -> None:
    _, rows = await client.ask("get", "/global")
    assert [row["id"] for row in rows] == [session.pk]
    answer = await client._client.get("/global/sync-event", headers=client._headers)
    assert answer["Content-Type"].startswith("text/event-stream")
    await answer.streaming_content.aclose()
