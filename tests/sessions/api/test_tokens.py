from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from teams.models import ApiToken, IdempotencyKey, Scope, Team, User
from tests.factories import make_team
from tests.sessions.api.conftest import Connect

JSON = "application/json"


def test_a_token_is_made_used_and_revoked(alice: User, team: Team, connect: Connect) -> None:
    client = connect(alice)
    made = client.post("/token", {"name": "ci", "scope": "write", "expires_days": 7}, JSON).json()
    assert made["scopes"] == ["read", "write"]
    assert made["team"] == team.slug
    assert made["prefix"] == made["token"][:12]
    fresh = Client(headers={"Authorization": f"Bearer {made['token']}"})
    listed = {row["name"]: row for row in fresh.get("/token").json()}
    assert listed["ci"]["current"] is True
    assert "token" not in listed["ci"]
    assert client.delete(f"/token/{made['id']}").json() is True
    assert fresh.get("/token").status_code == 401
    assert made["id"] not in [row["id"] for row in client.get("/token").json()]


@pytest.mark.parametrize("scope", [Scope.READ, Scope.WRITE])
def test_a_lesser_token_makes_none_and_ends_only_itself(
    alice: User, connect: Connect, scope: Scope
) -> None:
    other = connect(alice).post("/token", {"name": "other"}, JSON).json()["id"]
    client = connect(alice, scope)
    refused = client.post("/token", {"name": "more"}, JSON)
    assert refused.status_code == 403
    assert "admin" in refused.json()["data"]["message"]
    assert client.delete(f"/token/{other}").status_code == 403
    own = next(row["id"] for row in client.get("/token").json() if row["current"])
    assert client.delete(f"/token/{own}").json() is True
    assert client.get("/token").status_code == 401


def test_no_answer_with_a_secret_is_kept(alice: User, connect: Connect) -> None:
    client, key = connect(alice), {"Idempotency-Key": "4f0c4a1e"}
    made, again = (client.post("/token", {"name": "ci"}, JSON, headers=key) for _ in range(2))
    assert made["Cache-Control"] == "no-store"
    assert again.status_code == 409
    assert made.json()["token"] not in again.content.decode()
    assert "secret" in again.json()["data"]["message"]
    assert IdempotencyKey.objects.get().answer == ""
    assert ApiToken.objects.filter(name="ci").count() == 1


def test_none_outlives_the_one_that_makes_it(alice: User, connect: Connect) -> None:
    client = connect(alice)
    ApiToken.objects.update(expires_at=timezone.now() + timedelta(days=3))
    for days in (None, 4):
        answer = client.post("/token", {"name": "x", "expires_days": days}, JSON)
        assert answer.status_code == 403, days
    assert client.post("/token", {"name": "x", "expires_days": 2}, JSON).status_code == 200


def test_tokens_of_others_and_of_other_teams_do_not_exist(
    alice: User, bob: User, team: Team, connect: Connect
) -> None:
    theirs = connect(bob).post("/token", {"name": "bob's"}, JSON).json()["id"]
    elsewhere = make_team(alice, name="Elsewhere")
    there = connect(alice, of=elsewhere).post("/token", {"name": "there"}, JSON).json()["id"]
    client = connect(alice)
    assert not {theirs, there} & {row["id"] for row in client.get("/token").json()}
    for token in (theirs, there):
        assert client.delete(f"/token/{token}").status_code == 404
    refused = client.post("/token", {"name": "x", "team": elsewhere.slug}, JSON)
    assert refused.status_code == 404


def test_a_browser_with_several_teams_names_one(alice: User, team: Team) -> None:
    make_team(alice, name="Elsewhere")
    browser = Client()
    browser.force_login(alice)
    answer = browser.post("/token", {"name": "x"}, JSON)
    assert answer.status_code == 400
    assert team.slug in answer.json()["data"]["message"]
    made = browser.post("/token", {"name": "x", "team": team.slug}, JSON)
    assert made.json()["team"] == team.slug


@pytest.mark.parametrize(
    "body", [{}, {"name": ""}, {"name": "x", "scope": "root"}, {"name": "x", "expires_days": 0}]
)
def test_bad_wishes_are_told(alice: User, connect: Connect, body: dict[str, object]) -> None:
    answer = connect(alice).post("/token", body, JSON)
    assert answer.status_code == 400
    assert answer.json()["data"]["message"]
