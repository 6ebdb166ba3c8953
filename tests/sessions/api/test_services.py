from __future__ import annotations

import pytest
from django.test import Client

from sessions.models import Project, Session
from teams.models import Scope, User
from tests.sessions.api.conftest import Connect

pytestmark = pytest.mark.django_db

JSON = "application/json"
KEY = {"Idempotency-Key": "one"}


def test_its_life(adam: User, project: Project, connect: Connect) -> None:
    admin = connect(adam)
    made = admin.post("/service-account", {"name": "Runner"}, JSON).json()
    assert (made["name"], made["role"], made["enabled"], made["tokens"]) == (
        "Runner",
        "member",
        True,
        [],
    )
    path = f"/service-account/{made['id']}"
    answer = admin.post(f"{path}/token", {"name": "CI", "days": 30}, JSON, headers=KEY)
    assert answer["Cache-Control"] == "no-store"
    token = answer.json()
    secret = token.pop("secret")
    assert token["madeBy"] == "adam@example.com"
    assert (
        admin.post(f"{path}/token", {"name": "CI", "days": 30}, JSON, headers=KEY).status_code
        == 409
    )
    assert admin.get(path).json()["tokens"] == [token]
    runner = Client(headers={"Authorization": f"Bearer {secret}"})
    started = runner.post("/session", {"title": "Nightly"}, JSON)
    assert started.status_code == 200
    session = Session.objects.get(pk=started.json()["id"])
    assert session.owner is not None
    assert session.owner.display_name == "Runner"
    assert runner.get("/service-account").status_code == 403
    assert admin.patch(path, {"role": "viewer"}, JSON).json()["role"] == "viewer"
    assert runner.post("/session", {}, JSON).status_code == 403
    assert not admin.patch(path, {"enabled": False}, JSON).json()["enabled"]
    assert runner.get("/session").status_code == 401
    admin.patch(path, {"enabled": True}, JSON)
    assert runner.get("/session").status_code == 200
    assert admin.delete(f"{path}/token/{token['id']}").json() is True
    assert runner.get("/session").status_code == 401
    assert [one["name"] for one in admin.get("/service-account").json()] == ["Runner"]
    assert admin.delete(path).json() is True
    assert admin.get(path).status_code == 404
    assert admin.get("/service-account").json() == []


@pytest.mark.parametrize("body", [{"name": ""}, {"name": "x", "role": "owner"}, {"role": "member"}])
def test_a_wrong_one_is_refused(
    body: dict[str, str], adam: User, project: Project, connect: Connect
) -> None:
    assert connect(adam).post("/service-account", body, JSON).status_code == 400


def test_it_takes_the_admin_scope_and_a_number(
    adam: User, project: Project, connect: Connect
) -> None:
    assert connect(adam, Scope.WRITE).get("/service-account").status_code == 403
    admin = connect(adam)
    assert admin.get(f"/service-account/{adam.pk}").status_code == 404
    assert admin.get("/service-account/99999999999999999999999").status_code == 404
    assert admin.get("/service-account/x").status_code == 400
