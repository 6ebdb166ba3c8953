from __future__ import annotations

from typing import Any

import pytest
from django.core.cache import caches
from django.core.cache.backends.redis import RedisCache
from django.test import AsyncClient, Client

from opencode_web.lib import counters
from opencode_web.lib.breaker import Breaker
from opencode_web.lib.counters import Count, count
from opencode_web.lib.db import in_db
from sessions.models import Session
from teams.actions.attempts import OF_ACCOUNT
from teams.models import Team, User
from tests.sessions.api.conftest import Connect, ConnectAsync
from tests.sessions.api.shapes import ERROR, check

JSON = "application/json"
# The twentieth second of a minute.
NOW = 1_000_040.0


@pytest.fixture(autouse=True)
def frozen_clock(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    monkeypatch.setattr("opencode_web.lib.counters.time.time", lambda: NOW)
    settings.API_REQUESTS_PER_MINUTE = 3


@pytest.mark.django_db
def test_a_token_has_so_many_requests_a_minute(
    alice: User, session: Session, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = connect(alice)
    answers = [client.get("/session") for _ in range(3)]
    assert [one.status_code for one in answers] == [200, 200, 200]
    assert [one["RateLimit-Remaining"] for one in answers] == ["2", "1", "0"]
    assert {(one["RateLimit-Limit"], one["RateLimit-Reset"]) for one in answers} == {("3", "40")}
    refused = client.get("/session")
    assert refused.status_code == 429
    assert (refused["Retry-After"], refused["RateLimit-Remaining"]) == ("40", "0")
    check(refused.json(), ERROR)
    assert refused.json()["name"] == "TooManyRequestsError"
    assert "Try again in 40 s" in refused.json()["data"]["message"]
    # Another token of the same person has its own.
    assert connect(alice).get("/session").status_code == 200
    monkeypatch.setattr("opencode_web.lib.counters.time.time", lambda: NOW + 40)
    assert client.get("/session").status_code == 200


@pytest.mark.django_db
def test_what_is_refused_changes_nothing_and_keeps_its_key_free(
    alice: User, session: Session, connect: Connect
) -> None:
    client, key = connect(alice), {"Idempotency-Key": "one"}
    for _ in range(3):
        client.get("/session")
    before = Session.objects.count()
    refused = client.post("/session", {}, JSON, headers=key)
    assert (refused.status_code, refused["Retry-After"]) == (429, "40")
    assert Session.objects.count() == before


@pytest.mark.django_db
def test_a_request_with_a_key_counts_once(alice: User, session: Session, connect: Connect) -> None:
    client, key = connect(alice), {"Idempotency-Key": "one"}
    answers = [client.post("/session", {}, JSON, headers=key) for _ in range(3)]
    assert [one.status_code for one in answers] == [200, 200, 200]
    assert [one["RateLimit-Remaining"] for one in answers] == ["2", "1", "0"]


@pytest.mark.django_db
def test_a_browser_counts_for_its_person(alice: User, session: Session) -> None:
    for left in ("2", "1", "0"):
        browser = Client()
        browser.force_login(alice)
        assert browser.get("/session")["RateLimit-Remaining"] == left
    assert browser.get("/session").status_code == 429
    # Pages are no API.
    assert browser.get("/t/acme/").status_code == 200


@pytest.mark.django_db
@pytest.mark.usefixtures("team")
@pytest.mark.parametrize(
    ("server", "wanted", "limit"), [(3, 2, "2"), (3, 9, "3"), (0, 2, "2"), (3, "many", "3")]
)
def test_a_team_can_allow_fewer(
    server: int,
    wanted: object,
    limit: str,
    alice: User,
    team: Team,
    connect: Connect,
    settings: Any,
) -> None:
    settings.API_REQUESTS_PER_MINUTE = server
    Team.objects.update(config={"limits": {"requests_per_minute": wanted}})
    assert connect(alice).get("/session")["RateLimit-Limit"] == limit


@pytest.mark.django_db
def test_without_a_limit_nothing_is_counted(
    alice: User, team: Team, connect: Connect, settings: Any
) -> None:
    settings.API_REQUESTS_PER_MINUTE = 0
    client = connect(alice)
    for _ in range(5):
        answer = client.get("/session")
        assert answer.status_code == 200
        assert "RateLimit-Limit" not in answer


@pytest.mark.django_db
def test_an_address_that_fails_too_often_is_told_how_long(team: Team) -> None:
    stranger = Client(headers={"Authorization": "Bearer ocw_wrong"})
    codes = [stranger.get("/session").status_code for _ in range(OF_ACCOUNT.free)]
    assert set(codes) == {401}
    refused = stranger.get("/session")
    assert refused.status_code == 429
    assert 0 < int(refused["Retry-After"]) <= OF_ACCOUNT.first_wait_s


@pytest.mark.django_db(transaction=True)
async def test_an_asynchronous_route_counts_and_says_so(
    alice: User, session: Session, connect_async: ConnectAsync
) -> None:
    client: AsyncClient = await in_db(connect_async, alice)
    for left in ("2", "1", "0"):
        answer = await client.post(f"/session/{session.pk}/abort")
        assert (answer.status_code, answer["RateLimit-Remaining"]) == (200, left)
    refused = await client.post(f"/session/{session.pk}/abort")
    assert (refused.status_code, refused["Retry-After"]) == (429, "40")


def test_nobody_is_refused_while_redis_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    # Nothing listens there.
    away = RedisCache("redis://127.0.0.1:1/0", {})
    monkeypatch.setattr(counters, "caches", {"counters": away})
    monkeypatch.setattr(counters, "_redis", Breaker(rest_s=60))
    assert count("x", window_s=60) == Count(1, 40)
    # Only the first one has waited for it.
    monkeypatch.setattr(counters, "caches", {})
    assert count("x", window_s=60) == Count(1, 40)


def test_windows_are_counted_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [count("x", window_s=60).number for _ in range(2)] == [1, 2]
    assert count("y", window_s=60).number == 1
    assert count("x", window_s=60).number == 3
    monkeypatch.setattr("opencode_web.lib.counters.time.time", lambda: NOW + 60)
    assert count("x", window_s=60) == Count(1, 40)
    assert caches["counters"] is not caches["default"]
