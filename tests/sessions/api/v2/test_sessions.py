from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest
from django.test import AsyncClient, Client

from opencode_web.lib.db import in_db
from opencode_web.lib.ids import new_id
from sessions.models import Message, Project, Session
from sessions.runner import run_session
from teams.models import User
from tests.sessions.api.conftest import ConnectAsync
from tests.sessions.api.shapes import ANY, MSG, NUMBER, SES, check
from tests.sessions.factories import make_session, prompt, script
from tests.sessions.story import Story, tell_whole_turn

JSON = "application/json"
FILE = {"path": str, "status": str, "additions": int, "deletions": int, "patch": str}
REVERT = {"messageID": MSG, "partID?": str, "snapshot?": str, "diff?": str, "files": [FILE]}
SESSION_V2 = {
    "id": SES,
    "parentID?": SES,
    "projectID": str,
    "agent?": str,
    "model?": {"id": str, "providerID": str, "variant?": str},
    "cost": NUMBER,
    "tokens": {"*": ANY},
    "time": {"created": int, "updated": int, "archived?": int},
    "title": str,
    "location": {"directory": str},
    "revert?": REVERT,
}


@pytest.mark.django_db
def test_a_session_has_its_shape(client: Client, session: Session, project: Project) -> None:
    data = client.get(f"/api/session/{session.pk}").json()["data"]
    check(data, SESSION_V2)
    assert data["location"] == {"directory": project.directory}


@pytest.mark.django_db
@pytest.mark.parametrize("order", ["desc", "asc"])
def test_a_list_is_walked_page_by_page_and_back(
    client: Client, alice: User, project: Project, here: str, order: str
) -> None:
    made = [make_session(alice, project).pk for _ in range(7)]
    wanted = made if order == "asc" else made[::-1]

    def page_at(cursor: str) -> dict[str, Any]:
        return dict(client.get(f"/api/session?{here}&limit=3&cursor={cursor}").json())

    address = f"/api/session?{here}&limit=3&order={order}"
    first = client.get(address).json()
    assert set(first["cursor"]) == {"next"}
    second = page_at(first["cursor"]["next"])
    third = page_at(second["cursor"]["next"])
    pages = [[row["id"] for row in one["data"]] for one in (first, second, third)]
    assert pages == [wanted[:3], wanted[3:6], wanted[6:]]
    assert set(second["cursor"]) == {"previous", "next"}
    assert set(third["cursor"]) == {"previous"}
    back = page_at(third["cursor"]["previous"])
    assert back["data"] == second["data"]
    start = page_at(back["cursor"]["previous"])
    assert start["data"] == first["data"]
    assert set(start["cursor"]) == {"next"}


@pytest.mark.django_db
@pytest.mark.parametrize("cursor", ["x", "e30", "bnVsbA", "eyJwbGFjZSI6W119"])
def test_a_broken_cursor_is_refused(client: Client, here: str, cursor: str) -> None:
    answer = client.get(f"/api/session?{here}&cursor={cursor}")
    assert answer.status_code == 400
    assert answer.json()["_tag"] == "InvalidRequestError"


@pytest.mark.django_db
def test_a_list_can_be_searched_and_is_of_the_place(
    client: Client, alice: User, project: Project, here: str
) -> None:
    wanted = make_session(alice, project, title="Find me")
    make_session(alice, project, title="Other")
    found = client.get(f"/api/session?{here}&search=find").json()["data"]
    assert [row["id"] for row in found] == [wanted.pk]
    nowhere = client.get("/api/session?location%5Bdirectory%5D=/nowhere")
    assert nowhere.status_code == 404


@pytest.mark.django_db
def test_a_session_is_made_where_the_body_says(client: Client, project: Project) -> None:
    body = {"location": {"directory": project.directory}, "agent": "plan"}
    made = client.post("/api/session", body, JSON).json()["data"]
    check(made, SESSION_V2)
    assert made["agent"] == "plan"
    again = client.post("/api/session", {"id": made["id"]}, JSON).json()["data"]
    assert again == made
    mine = new_id("ses")
    first, second = (client.post("/api/session", {"id": mine}, JSON) for _ in range(2))
    assert first.status_code == 200
    assert first.json()["data"]["id"] == mine
    assert second.json() == first.json()
    week_ms = 7 * 24 * 3600 * 1000
    for old in (new_id("ses", at_ms=int(time.time() * 1000) - week_ms), "x", new_id("msg")):
        assert client.post("/api/session", {"id": old}, JSON).status_code == 400
    far = client.post("/api/session", {"location": {"directory": "/nowhere"}}, JSON)
    assert far.status_code == 404


@pytest.mark.django_db
def test_an_unknown_session_has_its_tag(client: Client, project: Project) -> None:
    answer = client.get("/api/session/ses_unknown")
    assert answer.status_code == 404
    assert answer.json()["_tag"] == "SessionNotFoundError"
    assert "ses_unknown" in answer.json()["message"]


@pytest.mark.django_db
def test_agent_and_model_are_chosen_for_what_follows(
    client: Client, session: Session, alice: User
) -> None:
    top = f"/api/session/{session.pk}"
    assert client.post(f"{top}/agent", {"agent": "plan"}, JSON).status_code == 204
    model = {"id": "inline", "providerID": "demo"}
    assert client.post(f"{top}/model", {"model": model}, JSON).status_code == 204
    data = client.get(top).json()["data"]
    assert (data["agent"], data["model"]) == ("plan", {**model, "variant": "default"})
    assert client.post(f"{top}/agent", {"agent": "nobody"}, JSON).status_code == 400
    unknown = {"model": {"id": "none", "providerID": "demo"}}
    assert client.post(f"{top}/model", unknown, JSON).status_code == 404


@pytest.mark.django_db
def test_what_works_is_active_until_it_is_interrupted(
    client: Client, session: Session, alice: User
) -> None:
    assert client.get("/api/session/active").json() == {"data": {}}
    Story(session, alice).ask("hi")
    assert client.get("/api/session/active").json()["data"] == {session.pk: {"type": "running"}}
    assert client.post(f"/api/session/{session.pk}/interrupt").status_code == 204
    session.run.refresh_from_db()
    assert session.run.stop_requested_at is not None


@pytest.mark.django_db
def test_a_summary_is_asked_for(client: Client, session: Session, alice: User) -> None:
    tell_whole_turn(session, alice)
    assert client.post(f"/api/session/{session.pk}/compact").status_code == 204
    assert session.inputs.filter(status="admitted", delivery="queue").count() == 1


@pytest.mark.django_db(transaction=True)
async def test_a_rollback_is_staged_cleared_and_committed(
    session: Session, alice: User, connect_async: ConnectAsync
) -> None:
    client: AsyncClient = await in_db(connect_async, alice)
    await in_db(prompt, alice, session, script([{"text": "Hello."}]))
    await run_session(session.pk)
    first = await in_db(Message.objects.filter(session=session).order_by("seq").first)
    assert first is not None
    top = f"/api/session/{session.pk}/revert"
    staged = await client.post(f"{top}/stage", {"messageID": first.pk}, JSON)
    assert staged.json()["data"]["messageID"] == first.pk
    assert (await client.post(f"{top}/clear")).status_code == 204
    assert await in_db(Message.objects.visible(await fresh(session)).count) == 2
    await client.post(f"{top}/stage", {"messageID": first.pk}, JSON)
    assert (await client.post(f"{top}/commit")).status_code == 204
    assert await in_db(Message.objects.filter(session=session).count) == 0
    assert (await fresh(session)).revert == {}
    assert (await client.post(f"{top}/commit")).status_code == 204


@pytest.mark.django_db(transaction=True)
async def test_a_rollback_can_leave_the_files(
    session: Session, alice: User, project: Project, connect_async: ConnectAsync
) -> None:
    client: AsyncClient = await in_db(connect_async, alice)
    calls = {"tool": "write", "input": {"filePath": "new.txt", "content": "made"}}
    project.config = {**project.config, "permission": "allow"}
    await in_db(project.save)
    await in_db(prompt, alice, session, script([calls]))
    await run_session(session.pk)
    file = Path(project.directory, "new.txt")
    assert file.read_text() == "made"
    first = await in_db(Message.objects.filter(session=session).order_by("seq").first)
    assert first is not None
    top = f"/api/session/{session.pk}/revert"
    staged = await client.post(f"{top}/stage", {"messageID": first.pk, "files": False}, JSON)
    assert staged.json()["data"] == {"messageID": first.pk, "files": []}
    assert await in_db(Message.objects.visible(await fresh(session)).count) == 0
    assert file.read_text() == "made"
    assert (await client.post(f"{top}/clear")).status_code == 204
    assert await in_db(Message.objects.visible(await fresh(session)).count) > 0
    assert file.read_text() == "made"


@pytest.mark.django_db(transaction=True)
async def test_a_staged_rollback_has_its_files(
    session: Session,
    alice: User,
    project: Project,
    connect_async: ConnectAsync,
    worker: None,
) -> None:
    client: AsyncClient = await in_db(connect_async, alice)
    call = {"tool": "write", "input": {"filePath": "new file.txt", "content": "made\n"}}
    project.config = {**project.config, "permission": "allow"}
    await in_db(project.save)
    await in_db(prompt, alice, session, script([call]))
    top = f"/api/session/{session.pk}"
    assert (await client.post(f"{top}/wait")).status_code == 204
    first = await in_db(Message.objects.filter(session=session).order_by("seq").first)
    assert first is not None
    staged = await client.post(f"{top}/revert/stage", {"messageID": first.pk}, JSON)
    assert staged.status_code == 200, staged.content
    revert = staged.json()["data"]
    check(revert, REVERT)
    (file,) = revert["files"]
    assert (file["path"], file["status"]) == ("new file.txt", "deleted")
    assert (file["additions"], file["deletions"]) == (0, 1)
    assert file["patch"] == revert["diff"]
    assert file["patch"].endswith("-made\n")
    assert (await client.get(top)).json()["data"]["revert"] == revert
    history = (await client.get(f"{top}/history")).json()["data"]
    assert revert in [event["data"].get("revert") for event in history]


async def fresh(session: Session) -> Session:
    return await in_db(Session.objects.get, pk=session.pk)


@pytest.mark.django_db(transaction=True)
async def test_a_wait_ends_with_the_turn(
    session: Session,
    alice: User,
    connect_async: ConnectAsync,
) -> None:
    client: AsyncClient = await in_db(connect_async, alice)
    await in_db(prompt, alice, session, script([{"text": "Hello."}]))
    address = f"/api/session/{session.pk}/wait"
    waiting = asyncio.create_task(client.post(address))
    await run_session(session.pk)
    assert (await asyncio.wait_for(waiting, 30)).status_code == 204
    await in_db(Story(await fresh(session), alice).ask, "more")
    late = await client.post(f"{address}?timeout=0.1")
    assert (late.status_code, late.json()["_tag"]) == (503, "ServiceUnavailableError")
    for wrong in ("0", "-1", "601", "x"):
        assert (await client.post(f"{address}?timeout={wrong}")).status_code == 400


@pytest.mark.django_db
def test_a_list_can_be_of_a_folder_and_those_below_it(
    client: Client, project: Project, here: str
) -> None:
    made = {}
    for path in ("", "/a", "/a/b", "/ab", "/a_b"):
        place = {"location": {"directory": project.directory + path}}
        row = client.post("/api/session", place, JSON).json()["data"]
        made[row["id"]] = row.get("subpath", "")
    assert sorted(made.values()) == ["", "a", "a/b", "a_b", "ab"]

    def listed(query: str) -> list[str]:
        return sorted(made[row["id"]] for row in client.get(f"/api/session?{query}").json()["data"])

    assert listed("") == ["", "a", "a/b", "a_b", "ab"]
    for place in ("", f"{here}&", f"project={project.pk}&"):
        for folder in ("a", "a/", "/a"):
            assert listed(f"{place}subpath={folder}") == ["a", "a/b"]
        assert listed(f"{place}subpath=a/b") == ["a/b"]
        assert listed(f"{place}subpath=a_b") == ["a_b"]
        assert listed(f"{place}subpath=A") == listed(f"{place}subpath=a/b/c") == []
