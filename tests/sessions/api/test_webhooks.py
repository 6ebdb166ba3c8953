from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from sessions.actions.webhooks import create_webhook
from sessions.models import Project, Webhook
from teams.access import access_team
from teams.models import Scope, User
from tests.sessions.api.conftest import Connect
from tests.sessions.api.shapes import ERROR, check

pytestmark = pytest.mark.django_db

JSON = "application/json"
GIVEN = {"url": "https://example.com/hook", "events": ["session.error", "session.idle"]}
KEY = {"Idempotency-Key": "one"}


@pytest.fixture
def client(adam: User, project: Project, connect: Connect) -> Client:
    return connect(adam)


def test_its_life(client: Client, project: Project) -> None:
    made = client.post("/webhook", {**GIVEN, "projectID": project.pk}, JSON)
    assert made.status_code == 200
    assert made["Cache-Control"] == "no-store"
    first = made.json()
    assert first.pop("secret").startswith("whsec_")
    assert first["events"] == ["session.idle", "session.error"]
    assert first["projectID"] == project.pk
    assert client.get("/webhook").json() == [first]
    path = f"/webhook/{first['id']}"
    changed = client.patch(path, {"events": ["question.asked"], "projectID": ""}, JSON).json()
    assert changed["events"] == ["question.asked"]
    assert "projectID" not in changed
    assert client.get(path).json() == changed
    sent = client.post(f"{path}/ping").json()
    assert (sent["event"], sent["state"], sent["payload"]["id"]) == ("ping", "pending", sent["id"])
    assert client.get(f"{path}/delivery").json() == [sent]
    assert client.get(f"{path}/delivery?before={sent['id']}").json() == []
    again = client.post(f"{path}/delivery/{sent['id']}/redeliver")
    assert again.status_code == 409
    off = client.patch(path, {"enabled": False}, JSON).json()
    assert (off["enabled"], off["disabledReason"]) == (False, "Adam switched it off.")
    assert client.post(f"{path}/delivery/{sent['id']}/redeliver").status_code == 409
    assert client.patch(path, {"enabled": True}, JSON).json()["enabled"]
    again = client.post(f"{path}/delivery/{sent['id']}/redeliver").json()
    assert (again["id"], again["state"]) == (sent["id"], "pending")
    assert client.delete(path).json() is True
    assert client.get(path).status_code == 404


def test_a_secret_is_not_repeated_by_its_key(client: Client) -> None:
    assert client.post("/webhook", GIVEN, JSON, headers=KEY).status_code == 200
    again = client.post("/webhook", GIVEN, JSON, headers=KEY)
    assert again.status_code == 409
    assert "shown once" in again.json()["data"]["message"]
    assert Webhook.objects.count() == 1


def test_a_new_secret_is_shown_once(client: Client) -> None:
    first = client.post("/webhook", GIVEN, JSON).json()
    second = client.post(f"/webhook/{first['id']}/secret")
    assert second["Cache-Control"] == "no-store"
    assert second.json()["secret"] != first["secret"]
    assert "secret" not in client.get(f"/webhook/{first['id']}").json()


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({**GIVEN, "url": "http://example.com"}, "https"),
        ({**GIVEN, "events": ["x"]}, "session.idle"),
        ({**GIVEN, "events": "session.idle"}, "list"),
        ({"events": ["session.idle"]}, "url"),
    ],
)
def test_a_wrong_one_is_refused(client: Client, body: dict[str, Any], said: str) -> None:
    refused = client.post("/webhook", body, JSON)
    assert refused.status_code == 400
    check(refused.json(), ERROR)
    assert said in refused.json()["data"]["message"]


def test_another_teams_are_not_found(
    client: Client, charlie: User, adam: User, connect: Connect
) -> None:
    foreign, _ = create_webhook(access_team(charlie, "globex"), **GIVEN)  # type: ignore[arg-type]
    assert client.get(f"/webhook/{foreign.pk}").status_code == 404
    assert client.get("/webhook?team=globex").status_code == 404
    assert client.post("/webhook", {**GIVEN, "projectID": "prj_x"}, JSON).status_code == 404
    writer = connect(adam, Scope.WRITE)
    assert writer.get("/webhook").status_code == 403
