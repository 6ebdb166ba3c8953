from __future__ import annotations

import errno
from contextlib import AbstractContextManager
from typing import Any, NoReturn

import pytest
from django.db import IntegrityError, InterfaceError, OperationalError, connection
from django.test import Client

from opencode_web.outage import find_outage
from teams.models import Team, User
from tests.sessions.api.conftest import bearer


@pytest.fixture(params=[OperationalError, InterfaceError])
def away(request: pytest.FixtureRequest) -> AbstractContextManager[None]:
    def refuse(*args: object) -> NoReturn:
        raise request.param("connection to 10.1.2.3 refused")

    return connection.execute_wrapper(refuse)


def test_the_api_says_that_the_database_is_away(
    alice: User,
    team: Team,
    client: Client,
    away: AbstractContextManager[None],
    caplog: pytest.LogCaptureFixture,
) -> None:
    headers = bearer(alice, team)
    with away:
        answer = client.get("/session", headers=headers)
    assert answer.status_code == 503
    assert answer.headers["Retry-After"] == "2"
    assert answer.json()["name"] == "ServiceUnavailableError"
    assert "10.1.2.3" not in answer.content.decode()
    assert "10.1.2.3" in caplog.text


def test_a_page_says_that_the_database_is_away(
    alice: User, client: Client, away: AbstractContextManager[None]
) -> None:
    client.force_login(alice)
    with away:
        answer = client.get("/")
    assert answer.status_code == 503
    assert answer.headers["Retry-After"] == "2"
    assert "The database does not answer at the moment" in answer.content.decode()
    assert "10.1.2.3" not in answer.content.decode()


@pytest.mark.parametrize(
    "error",
    [
        OperationalError("database or disk is full"),
        OperationalError('could not extend file "base/1": No space left on device'),
        OSError(errno.ENOSPC, "No space left on device", "/data/10.1.2.3"),
    ],
    ids=["sqlite", "postgresql", "a file"],
)
def test_a_full_disk_is_said_by_pages_and_the_api(
    alice: User, team: Team, client: Client, error: Exception
) -> None:
    def refuse(execute: Any, sql: str, *more: Any) -> Any:
        # Beyond who it is that asks.
        if "agent_sessions_" in sql:
            raise error
        return execute(sql, *more)

    client.force_login(alice)
    headers = bearer(alice, team)
    with connection.execute_wrapper(refuse):
        page, answer = client.get("/t/acme/"), client.get("/session", headers=headers)
    assert (page.status_code, answer.status_code) == (503, 503)
    assert answer.json()["data"]["message"].startswith("The server's disk is full. Nothing that")
    assert "The server&#x27;s disk is full." in page.content.decode()
    assert "10.1.2.3" not in answer.content.decode() + page.content.decode()


@pytest.mark.parametrize("kind", [IntegrityError, ValueError])
def test_a_fault_that_quotes_what_somebody_typed_is_no_outage(kind: type[Exception]) -> None:
    assert find_outage(kind("Key (name)=(the disk is full) already exists.")) is None
