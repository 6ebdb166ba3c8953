from __future__ import annotations

from contextlib import AbstractContextManager
from typing import NoReturn

import pytest
from django.db import InterfaceError, OperationalError, connection
from django.test import Client

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
