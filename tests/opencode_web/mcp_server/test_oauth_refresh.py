"""Refresh tokens of MCP clients: each renews once, and ends with its token."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from opencode_web.mcp_server.oauth.renewal import SECRET_S, TOKEN_DAYS
from teams.auth import authenticate_header
from teams.models import ApiToken, AuditEntry, Team, User
from tests.opencode_web.mcp_server.oauth import (
    PROGRAM,
    RESOURCE,
    client_id_of,
    code_of,
    redeemed,
    registered,
)
from tests.opencode_web.mcp_server.test_oauth_tokens import (
    _deactivate,
    _expire,
    _remove,
    _require_mfa,
    _require_sso,
)

pytestmark = pytest.mark.django_db
BOTH = ["authorization_code", "refresh_token"]


def connected(user: User, *, scope: str = "write") -> tuple[str, dict[str, Any]]:
    """Returns: the client, and what it was given."""
    client_id = client_id_of(grant_types=BOTH)
    response = redeemed(client_id, code_of(user, client_id, scope=scope))
    assert response.status_code == 200, response.content
    return client_id, response.json()


def renewed(client_id: str, refresh_token: str, **more: str) -> Any:
    asked = {"client_id": client_id, "refresh_token": refresh_token, "resource": RESOURCE, **more}
    return PROGRAM.post("/oauth/token", {"grant_type": "refresh_token", **asked})


def is_good(secret: str) -> bool:
    return authenticate_header(f"Bearer {secret}", for_mcp=True) is not None


def refused(response: Any, error: str = "invalid_grant") -> str:
    assert (response.status_code, response.json()["error"]) == (400, error)
    return str(response.json()["error_description"])


def test_a_client_that_wants_them_says_so_when_it_registers() -> None:
    assert registered("https://a.example/b", grant_types=BOTH).json()["grant_types"] == BOTH
    told = registered("https://a.example/b").json()
    assert told["grant_types"] == ["authorization_code"]
    server = PROGRAM.get("/.well-known/oauth-authorization-server").json()
    assert server["grant_types_supported"] == BOTH


def test_a_token_is_renewed_in_place(alice: User, team: Team) -> None:
    client_id, first = connected(alice, scope="read")
    assert SECRET_S - 60 < first["expires_in"] <= SECRET_S
    [before] = ApiToken.objects.all()
    ApiToken.objects.update(renew_by=timezone.now(), expires_at=timezone.now() + timedelta(days=1))
    assert not is_good(first["access_token"])
    response = renewed(client_id, first["refresh_token"])
    second = response.json()
    assert (response.status_code, response["Cache-Control"]) == (200, "no-store")
    assert SECRET_S - 60 < second["expires_in"] <= SECRET_S
    assert second["scope"] == "read"
    assert second["refresh_token"] != first["refresh_token"]
    assert is_good(second["access_token"])
    assert not is_good(first["access_token"])
    [after] = ApiToken.objects.all()
    assert (after.pk, after.scopes) == (before.pk, before.scopes)
    assert after.expires_at is not None
    assert after.expires_at > timezone.now() + timedelta(days=TOKEN_DAYS - 1)
    assert second["access_token"] not in json.dumps(list(ApiToken.objects.values()), default=str)
    third = renewed(client_id, second["refresh_token"]).json()
    assert is_good(third["access_token"])


def test_the_second_use_of_one_ends_the_token(alice: User, team: Team) -> None:
    client_id, first = connected(alice)
    second = renewed(client_id, first["refresh_token"]).json()
    assert "used before" in refused(renewed(client_id, first["refresh_token"]))
    assert not is_good(second["access_token"])
    refused(renewed(client_id, second["refresh_token"]))
    entry = AuditEntry.objects.get(action="token.revoked")
    assert entry.actor is None
    assert entry.data["reason"] == "A refresh token was used twice."


def _revoke(alice: User, bob: User) -> None:
    ApiToken.objects.update(revoked_at=timezone.now())


@pytest.mark.parametrize(
    "end", [_revoke, _deactivate, _remove, _require_mfa, _require_sso, _expire]
)
def test_nothing_renews_what_has_ended(end: Any, alice: User, bob: User, team: Team) -> None:
    client_id, told = connected(bob)
    digest = ApiToken.objects.get().digest
    end(alice, bob)
    refused(renewed(client_id, told["refresh_token"]))
    assert ApiToken.objects.get().digest == digest


def test_it_is_good_for_its_client_its_scopes_and_this_server_alone(
    alice: User, team: Team
) -> None:
    client_id, told = connected(alice, scope="read")
    mine, other = told["refresh_token"], client_id_of(grant_types=BOTH, client_name="Other")
    refused(renewed(other, mine))
    for forged in ("", mine[:-1], "x" * 600, "a\0b", told["access_token"]):
        refused(renewed(client_id, forged))
    refused(renewed(client_id, mine, scope="read write"), "invalid_scope")
    refused(renewed(client_id, mine, resource="https://else.example/mcp"), "invalid_target")
    assert renewed("forged", mine).status_code == 401
    # None of these has used it up.
    assert renewed(client_id, mine, scope="read").status_code == 200


def test_a_client_gives_up_its_token_by_either_secret(alice: User, team: Team) -> None:
    client_id, told = connected(alice)
    other = client_id_of(grant_types=BOTH, client_name="Other")
    ApiToken.objects.update(renew_by=timezone.now())
    for client in (other, client_id):
        assert is_revoked() is False
        given = {"client_id": client, "token": told["refresh_token"]}
        assert PROGRAM.post("/oauth/revoke", given).status_code == 200
    assert is_revoked() is True
    refused(renewed(client_id, told["refresh_token"]))


def is_revoked() -> bool:
    return ApiToken.objects.get().revoked_at is not None
