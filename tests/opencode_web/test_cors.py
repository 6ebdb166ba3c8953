from __future__ import annotations

from typing import Any

import pytest
from asgiref.testing import ApplicationCommunicator
from django.test import AsyncClient, Client
from pytest_django import Settings

from opencode_web.cors import grants_of as granted_to
from opencode_web.lib.body_limit import SMALL_BYTES, BodyLimit
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


@pytest.mark.usefixtures("listed", "db")
@pytest.mark.parametrize("path", ["/mcp", "/oauth/register", "/oauth/token", "/oauth/revoke"])
def test_an_mcp_client_in_a_browser_may_send_and_read_its_headers(
    client: Client, path: str
) -> None:
    allowed = grants_of(client.options(path, headers={"Origin": HERE, **ASKS}))
    names = allowed["Access-Control-Allow-Headers"].lower().split(", ")
    assert {"authorization", "mcp-protocol-version", "mcp-session-id", "mcp-method"} <= {*names}
    where = "/.well-known/oauth-protected-resource/mcp"
    shown = grants_of(client.get(where, headers={"Origin": HERE}))
    assert shown[GRANTS] == HERE
    names = shown["Access-Control-Expose-Headers"].lower().split(", ")
    assert {"www-authenticate", "mcp-session-id"} <= {*names}
    page = client.options("/oauth/authorize", headers={"Origin": HERE, **ASKS})
    assert grants_of(page) == {}


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


@pytest.mark.usefixtures("listed")
@pytest.mark.parametrize("stated", [True, False])
@pytest.mark.parametrize(
    ("origin", "path", "granted"),
    [(HERE, "/session", True), ("https://evil.example", "/session", False), (HERE, "/x", False)],
)
async def test_that_a_body_is_too_large_can_be_read_from_there(
    origin: str, path: str, granted: bool, stated: bool
) -> None:
    async def read_all(_scope: Any, receive: Any, _send: Any) -> None:
        await receive()

    length = str(SMALL_BYTES + 1).encode()
    headers = [(b"origin", origin.encode()), *([(b"content-length", length)] if stated else [])]
    scope = {"type": "http", "method": "POST", "path": path, "headers": headers}
    app = ApplicationCommunicator(BodyLimit(read_all, granted_to), scope)
    await app.send_input({"type": "http.request", "body": b"x" * (SMALL_BYTES + 1)})
    start = await app.receive_output(5)
    told = dict(start["headers"])
    assert start["status"] == 413
    assert told.get(GRANTS.lower().encode()) == (origin.encode() if granted else None)
    assert (b"retry-after" in told.get(b"access-control-expose-headers", b"").lower()) is granted
    assert told.get(b"vary") == (None if path == "/x" else b"Origin")
    await app.receive_output(5)
    await app.wait(5)
