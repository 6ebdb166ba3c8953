"""The token of an MCP client: what it opens, and what ends it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from teams.access import access_team
from teams.actions.accounts import deactivate_account
from teams.actions.members import remove_member
from teams.auth import authenticate_header
from teams.models import ApiToken, AuditEntry, Membership, Scope, Team, User
from teams.policy import PolicyUnmet
from tests.factories import make_token, make_user
from tests.opencode_web.mcp_server.oauth import PROGRAM, browser_of, client_id_of, token_of

pytestmark = pytest.mark.django_db


def test_a_token_opens_nothing_but_mcp(alice: User, team: Team) -> None:
    secret = token_of(alice)
    bearer = {"Authorization": f"Bearer {secret}"}
    for path in ("/session", "/token", "/project", "/api/session", "/global/config"):
        response = PROGRAM.get(path, headers=bearer)
        assert response.status_code == 401, path
        assert "/mcp alone" in response.content.decode(), path
    made = PROGRAM.post("/token", {"name": "x"}, content_type="application/json", headers=bearer)
    assert made.status_code == 401
    assert PROGRAM.get("/me/tokens", headers=bearer).status_code == 302
    assert AuditEntry.objects.filter(action="token.refused").count() == 0
    assert PROGRAM.get("/scim/v2/Users", headers=bearer).status_code == 401
    principal = authenticate_header(f"Bearer {secret}", for_mcp=True)
    assert principal is not None
    assert principal.scopes == {Scope.READ, Scope.WRITE}


def test_a_client_gives_up_its_own_token_alone(alice: User, team: Team) -> None:
    mine, other = client_id_of(), client_id_of(client_name="Other")
    secret = token_of(alice, client_id=mine)
    _, api = make_token(alice, team)
    for client_id, token, status in (
        (other, secret, 200),
        (mine, "ocw_unknown", 200),
        (mine, api, 200),
        (mine, "ocw_\0" + "x" * 40, 200),
        ("forged", secret, 401),
    ):
        response = PROGRAM.post("/oauth/revoke", {"client_id": client_id, "token": token})
        assert response.status_code == status
    assert ApiToken.objects.filter(revoked_at=None).count() == 2
    assert PROGRAM.post("/oauth/revoke", {"client_id": mine, "token": secret}).status_code == 200
    assert authenticate_header(f"Bearer {secret}", for_mcp=True) is None
    assert authenticate_header(f"Bearer {api}") is not None
    entry = AuditEntry.objects.get(action="token.revoked")
    assert (entry.actor, entry.data["name"]) == (alice, "Claude")


def _deactivate(alice: User, bob: User) -> None:
    deactivate_account(bob, actor=make_user("op@example.com", operator=True), reason="x")


def _remove(alice: User, bob: User) -> None:
    remove_member(Membership.objects.get(user=bob), access=access_team(alice, "acme"))


def _require_mfa(alice: User, bob: User) -> None:
    Team.objects.update(requires_mfa=True)


def _require_sso(alice: User, bob: User) -> None:
    Team.objects.update(requires_sso=True)


def _expire(alice: User, bob: User) -> None:
    ApiToken.objects.update(expires_at=timezone.now() - timedelta(seconds=1))


@pytest.mark.parametrize("end", [_deactivate, _remove, _require_mfa, _require_sso, _expire])
def test_it_ends_with_what_other_tokens_end_with(
    end: Any, alice: User, bob: User, team: Team
) -> None:
    secret = token_of(bob)
    assert authenticate_header(f"Bearer {secret}", for_mcp=True) is not None
    end(alice, bob)
    if end in (_require_mfa, _require_sso):
        with pytest.raises(PolicyUnmet, match="requires"):
            authenticate_header(f"Bearer {secret}", for_mcp=True)
    else:
        assert authenticate_header(f"Bearer {secret}", for_mcp=True) is None


def test_admins_see_and_revoke_it(alice: User, bob: User, team: Team) -> None:
    secret = token_of(bob)
    browser = browser_of(alice)
    page = browser.get("/t/acme/settings/members").content.decode()
    assert "Bob: Claude" in page
    assert "MCP client" in page
    row = ApiToken.objects.get()
    browser.post(f"/t/acme/settings/members/tokens/{row.pk}/revoke")
    assert authenticate_header(f"Bearer {secret}", for_mcp=True) is None
