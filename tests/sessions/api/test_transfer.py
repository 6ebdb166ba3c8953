from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

import pytest

from opencode_web.lib.db import in_db
from providers.models import ProviderConfig
from sessions.models import Project, Session
from teams.models import User
from tests.sessions.api.conftest import Connect, ConnectAsync
from tests.sessions.api.shapes import SESSION, check, check_message
from tests.sessions.story import tell_whole_turn

pytestmark = pytest.mark.django_db
JSON = "application/json"


@pytest.mark.django_db(transaction=True)
async def test_a_session_goes_out_and_comes_back(
    session: Session, alice: User, project: Project, connect_async: ConnectAsync
) -> None:
    await in_db(tell_whole_turn, session, alice)
    await in_db(ProviderConfig.objects.update, base_url="https://models.example.com/secret")
    client = await in_db(connect_async, alice)
    answer = await client.get(f"/session/{session.pk}/export")
    assert answer.headers["Content-Type"] == JSON
    assert answer.headers["Content-Disposition"] == f'attachment; filename="{session.slug}.json"'
    text = b"".join([piece async for piece in answer.streaming_content]).decode()
    assert "models.example.com" not in text
    document: dict[str, Any] = json.loads(text)
    assert set(document) == {"info", "messages"}
    check(document["info"], SESSION)
    assert [set(row) for row in document["messages"]] == [
        {"info", "parts", "author"},
        {"info", "parts"},
    ]
    for row in document["messages"]:
        check_message({"info": row["info"], "parts": row["parts"]})
    where = f"/session/import?directory={quote(project.directory)}"
    made = (await client.post(where, document, content_type=JSON)).json()
    check(made, SESSION)
    assert made["id"] != session.pk
    messages = (await client.get(f"/session/{made['id']}/message")).json()
    assert len(messages) == 2
    texts = [[part.get("text") for part in row["parts"]] for row in messages]
    assert texts == [[part.get("text") for part in row["parts"]] for row in document["messages"]]


def test_a_document_that_is_wrong_names_the_place(
    alice: User, project: Project, connect: Connect
) -> None:
    client = connect(alice)
    where = f"/session/import?directory={quote(project.directory)}"
    answer = client.post(where, {"info": {}, "messages": [{"info": {}, "parts": []}]}, JSON)
    assert answer.status_code == 400
    assert answer.json()["data"]["message"].startswith("messages.0.info: ")
    huge = '{"info": {}, "messages": [{"info": {"cost": 1e999}}]}'
    assert (
        client.post(where, huge, JSON).json()["data"]["message"]
        == "The body is not JSON: 1e999 is too large a number."
    )


def test_the_log_is_read_page_by_page(session: Session, alice: User, connect: Connect) -> None:
    tell_whole_turn(session, alice)
    client = connect(alice)
    path = f"/session/{session.pk}/log"
    whole = client.get(path).json()
    assert [row["seq"] for row in whole] == list(range(1, len(whole) + 1))
    assert set(whole[0]) == {"id", "seq", "type", "data", "time"}
    assert whole[0]["type"] == "session.created"
    page = client.get(path, {"after": 3, "limit": 2}).json()
    assert page == whole[3:5]
    assert client.get(path, {"limit": 0}).status_code == 400
