from __future__ import annotations

from typing import Any

import pytest
from django.test import AsyncClient, Client
from pytest_django import Settings

from opencode_web.lib.db import in_db
from teams.models import Scope, Team, User
from tests.sessions.api.conftest import bearer

HERE = "https://ide.example.com"
ASKS = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}
GRANTS = "Access-Control-Allow-Origin"


@pytest.fixture
def listed(settings: Settings) -> None:
    settings.CORS_ORIGINS = [HERE]


def grants_of(response: Any) -> dict[str, str]:
    return {
        key: value for key, value in response.headers.items() if key.startswith("Access-Control-")
    }


@pytest.mark.usefixtures("listed")
def test_a_preflight_is_answered_without_signing_in(client: Client) -> None:
    response = client.options("/session", headers={"Origin": HERE, **ASKS})
    assert response.status_code == 204
    grants = grants_of(response)
    assert grants[GRANTS] == HERE
    assert "POST" in grants["Access-Control-Allow-Methods"]
    assert "Authorization" in grants["Access-Control-Allow-Headers"]
    assert "Access-Control-Allow-Credentials" not in grants
    assert response.headers["Vary"] == "Origin"


@pytest.mark.usefixtures("listed")
def test_responses_and_errors_can_be_read_from_there(alice: User, team: Team) -> None:
    client = Client(headers={"Origin": HERE, **bearer(alice, team, Scope.READ)})
    for path, status in (("/session", 200), ("/session/ses_none", 404), ("/nothing", 404)):
        response = client.get(path)
        assert response.status_code == status
        assert grants_of(response).get(GRANTS) == (None if path == "/nothing" else HERE)
    assert grants_of(Client(headers={"Origin": HERE}).get("/session"))[GRANTS] == HERE


@pytest.mark.usefixtures("listed")
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("path", ["/event", "/global/event", "/api/event"])
async def test_so_can_streams(path: str, alice: User, team: Team) -> None:
    token = await in_db(bearer, alice, team, Scope.READ)
    response = await AsyncClient().get(path, headers={"Origin": HERE, **token})
    assert response.headers["Content-Type"] == "text/event-stream"
    assert grants_of(response)[GRANTS] == HERE
    assert "Access-Control-Allow-Credentials" not in response.headers


@pytest.mark.parametrize("origin", ["https://evil.example", "null", f"{HERE}.evil.example", ""])
@pytest.mark.usefixtures("listed", "db")
def test_other_origins_and_pages_are_granted_nothing(client: Client, origin: str) -> None:
    headers = {"Origin": origin, **ASKS}
    assert grants_of(client.options("/session", headers=headers)) == {}
    refused = client.get("/session", headers=headers)
    assert (refused.status_code, grants_of(refused)) == (401, {})
    assert "Origin" in refused.headers["Vary"]
    page = client.options("/accounts/login/", headers={"Origin": HERE, **ASKS})
    assert grants_of(page) == {}


@pytest.mark.django_db
def test_without_the_setting_nothing_is_granted(client: Client) -> None:
    assert grants_of(client.options("/session", headers={"Origin": HERE, **ASKS})) == {}
    assert grants_of(client.get("/session", headers={"Origin": HERE})) == {}
