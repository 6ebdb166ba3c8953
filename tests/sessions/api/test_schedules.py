from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client

from sessions.models import Project, Session
from teams.models import Scope, User
from tests.sessions.api.conftest import Connect
from tests.sessions.api.shapes import ERROR, check

pytestmark = pytest.mark.django_db

JSON = "application/json"
GIVEN = {"name": "Nightly", "prompt": "look", "cron": "30 6 * * *", "model": "demo/inline"}


@pytest.fixture
def client(bob: User, project: Project, connect: Connect) -> Client:
    return connect(bob, Scope.WRITE)


def test_its_life(client: Client, project: Project, bob: User) -> None:
    made = client.post(f"/schedule?project={project.pk}", GIVEN, JSON)
    assert made.status_code == 200
    first = made.json()
    assert (first["author"], first["timezone"], first["projectID"]) == (
        bob.email,
        "UTC",
        project.pk,
    )
    due = datetime.fromtimestamp(first["time"]["next"] / 1000, tz=UTC)
    assert (due.hour, due.minute) == (6, 30)
    assert due - datetime.now(UTC) <= timedelta(days=1)
    assert client.get(f"/schedule?project={project.pk}").json() == [first]
    assert client.get("/schedule").json() == [first]
    path = f"/schedule/{first['id']}"
    changed = client.patch(path, {"cron": "0 9 * * 1", "timezone": "Asia/Tokyo"}, JSON).json()
    assert (changed["cron"], changed["timezone"], changed["name"]) == (
        "0 9 * * 1",
        "Asia/Tokyo",
        "Nightly",
    )
    paused = client.patch(path, {"paused": True}, JSON).json()
    assert (paused["paused"], paused["pausedReason"]) == (True, "Bob paused it.")
    assert "next" not in paused["time"]
    run = client.post(f"{path}/run").json()
    assert run["state"] == "running"
    assert Session.objects.get(pk=run["sessionID"]).title == "Nightly"
    assert client.get(f"{path}/run").json() == [run]
    assert client.get(f"{path}/run?before={run['id']}").json() == []
    assert client.post(f"{path}/run").status_code == 409
    assert client.patch(path, {"paused": False}, JSON).json()["time"]["next"]
    assert client.delete(path).json() is True
    assert client.get(path).status_code == 404
    assert client.get(f"/session/{run['sessionID']}").status_code == 200


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"cron": "* * * * *"}, "5 minutes"),
        ({"cron": None}, "cron"),
        ({"timezone": "Mars"}, "time zone"),
        ({"prompt": ""}, "prompt"),
    ],
)
def test_a_wrong_one_is_refused(
    client: Client, project: Project, change: dict[str, str | None], said: str
) -> None:
    refused = client.post(f"/schedule?project={project.pk}", {**GIVEN, **change}, JSON)
    assert refused.status_code == 400
    check(refused.json(), ERROR)
    assert said in refused.json()["data"]["message"]


def test_others_see_nothing_of_it(
    client: Client, project: Project, charlie: User, connect: Connect
) -> None:
    made = client.post(f"/schedule?project={project.pk}", GIVEN, JSON).json()
    stranger = Client()
    stranger.force_login(charlie)
    assert stranger.get(f"/schedule/{made['id']}").status_code == 404
    assert stranger.get("/schedule").json() == []
