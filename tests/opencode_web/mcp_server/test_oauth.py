"""From a client's request to its token, and everything that somebody else may try on the way."""

from __future__ import annotations

import json

import pytest
from django.test import Client
from django.utils import timezone

from opencode_web.mcp_server.oauth.codes import CODE_S
from teams.actions.accounts import sign_out_account
from teams.auth import authenticate_header
from teams.models import ApiToken, AuditEntry, Membership, Scope, Team, User
from tests.factories import make_user
from tests.opencode_web.mcp_server.oauth import (
    BACK,
    LOCAL,
    PROGRAM,
    RESOURCE,
    STATE,
    VERIFIER,
    address,
    answer_of,
    browser_of,
    challenge_of,
    client_id_of,
    code_of,
    redeemed,
    way_of,
)

pytestmark = pytest.mark.django_db


def test_the_documents_lead_from_the_resource_to_everything() -> None:
    for path in ("", "/mcp"):
        told = PROGRAM.get(f"/.well-known/oauth-protected-resource{path}").json()
        assert told["resource"] == RESOURCE
        assert told["authorization_servers"] == ["http://testserver"]
        assert told["scopes_supported"] == ["read", "write"]
        assert told["bearer_methods_supported"] == ["header"]
    server = PROGRAM.get("/.well-known/oauth-authorization-server").json()
    assert server["issuer"] == "http://testserver"
    assert server["code_challenge_methods_supported"] == ["S256"]
    assert server["token_endpoint_auth_methods_supported"] == ["none"]
    for name in ("authorization", "token", "registration", "revocation"):
        assert server[f"{name}_endpoint"].startswith("http://testserver/oauth/")
    assert PROGRAM.post("/.well-known/oauth-authorization-server").status_code == 405


def test_a_person_connects_a_client(alice: User, team: Team) -> None:
    client_id = client_id_of()
    browser = browser_of(alice)
    page = browser.get(address(client_id))
    text = page.content.decode()
    assert page.status_code == 200
    assert "<b>Claude</b> asks" in text
    assert "not verified" in text
    assert "claude.example" in text
    assert "no-store" in page["Cache-Control"]
    assert page["X-Frame-Options"] == "DENY"
    policy = page["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in policy
    assert "form-action 'self'" in policy
    # Neither a button nor a choice is made for them.
    assert " checked" not in text
    assert ApiToken.objects.count() == 0

    response = browser.post(address(client_id), {"team": "acme", "scope": "read"})
    assert way_of(response).startswith(f"{BACK}?code=")
    assert "no-store" in response["Cache-Control"]
    answer = answer_of(response)
    assert (answer["state"], answer["iss"]) == (STATE, "http://testserver")
    assert ApiToken.objects.count() == 0

    given = redeemed(client_id, answer["code"])
    assert given.status_code == 200
    assert given["Cache-Control"] == "no-store"
    told = given.json()
    assert (told["token_type"], told["scope"]) == ("Bearer", "read")
    assert 30 * 86_400 - 60 < told["expires_in"] <= 30 * 86_400
    assert "refresh_token" not in told
    row = ApiToken.objects.get()
    assert (row.user, row.team, row.name, row.scope) == (alice, team, "Claude", Scope.READ)
    assert told["access_token"] not in json.dumps(list(ApiToken.objects.values()), default=str)
    entry = AuditEntry.objects.get(action="token.created")
    assert (entry.actor, entry.team, entry.target_id) == (alice, team, row.pk)
    assert entry.data["mcp_client"] is True

    listed = browser.get("/me/tokens").content.decode()
    assert "Claude" in listed
    assert "MCP client" in listed
    browser.post(f"/me/tokens/{row.pk}/revoke")
    assert authenticate_header(f"Bearer {told['access_token']}", for_mcp=True) is None


def test_a_person_denies(alice: User, team: Team) -> None:
    response = browser_of(alice).post(address(client_id_of()), {"deny": "1", "scope": "write"})
    assert answer_of(response) == {
        "error": "access_denied",
        "state": STATE,
        "iss": "http://testserver",
    }


def test_who_is_not_signed_in_signs_in_and_comes_back(team: Team) -> None:
    response = Client().get(address(client_id_of()))
    assert response["Location"].startswith("/login?next=/oauth/authorize%3F")
    assert (
        Client().post(address(client_id_of()), {"team": "acme", "scope": "read"}).status_code == 302
    )


def test_a_form_of_another_site_connects_nothing(alice: User, team: Team) -> None:
    browser = browser_of(alice, enforce_csrf_checks=True)
    for form in ({"team": "acme", "scope": "write"}, {"deny": "1"}):
        response = browser.post(address(client_id_of()), form)
        assert (response.status_code, way_of(response)) == (403, "")


@pytest.mark.parametrize(
    "form",
    [
        {},
        {"team": "acme"},
        {"team": "acme", "scope": "admin"},
        {"team": "acme", "scope": "x"},
        {"scope": "read"},
        {"team": "globex", "scope": "read"},
    ],
)
def test_what_the_form_does_not_offer_is_not_given(
    form: dict[str, str], alice: User, team: Team, charlie: User
) -> None:
    response = browser_of(alice).post(address(client_id_of()), form)
    assert (response.status_code, way_of(response)) == (422, "")


def test_a_client_that_asks_to_read_is_offered_no_more(alice: User, team: Team) -> None:
    client_id = client_id_of()
    browser = browser_of(alice)
    asked = address(client_id, scope="read openid")
    assert 'value="write"' not in browser.get(asked).content.decode()
    assert browser.post(asked, {"team": "acme", "scope": "write"}).status_code == 422
    for scope in ("read write", "offline_access", "write", ""):
        assert 'value="write"' in browser.get(address(client_id, scope=scope)).content.decode()


def test_who_is_in_no_team_can_only_go_back(alice: User) -> None:
    browser = browser_of(make_user("nora@example.com"))
    text = browser.get(address(client_id_of())).content.decode()
    assert "not a member" in text
    assert ">Connect<" not in text
    assert answer_of(browser.post(address(client_id_of()), {"deny": "1"}))["error"]


def test_a_name_is_text(alice: User, team: Team) -> None:
    client_id = client_id_of(client_name="<script>alert(1)</script>\u202e{{ 7|add:7 }}")
    text = browser_of(alice).get(address(client_id)).content.decode()
    assert "<script>alert" not in text
    assert "{{ 7|add:7 }}" in text
    assert "\u202e" not in text
    unnamed = client_id_of(client_name="\u200b")
    assert "without a name" in browser_of(alice).get(address(unnamed)).content.decode()
    redeemed(unnamed, code_of(alice, unnamed))
    assert ApiToken.objects.get().name == "claude.example"


FAULTY: dict[str, dict[str, str]] = {
    "another address": {"redirect_uri": "https://evil.example/"},
    "an address below": {"redirect_uri": f"{BACK}/x"},
    "a script": {"redirect_uri": "javascript:alert(1)"},
    "an empty address": {"redirect_uri": ""},
    "a forged client": {"client_id": "eyJuIjoieCJ9:1x:abc"},
    "no client": {"without": "client_id"},
    "a token at once": {"response_type": "token"},
    "no response type": {"without": "response_type"},
    "no challenge": {"without": "code_challenge"},
    "a short challenge": {"code_challenge": "x"},
    "a plain challenge": {"code_challenge_method": "plain"},
    "no method": {"without": "code_challenge_method"},
    "another resource": {"resource": "https://other.example/mcp"},
    "all of the server": {"resource": "http://testserver/"},
    "no resource's address": {"resource": "mcp"},
    "a long state": {"state": "x" * 2_001},
}


@pytest.mark.parametrize("changes", FAULTY.values(), ids=FAULTY)
def test_a_faulty_request_leads_nowhere(changes: dict[str, str], alice: User, team: Team) -> None:
    given = {"client_id": client_id_of(), **changes}
    asked = address(given.pop("client_id"), **given)
    browser = browser_of(alice)
    for response in (
        browser.get(asked),
        browser.post(asked, {"team": "acme", "scope": "write"}),
        browser.post(asked, {"deny": "1"}),
    ):
        assert (response.status_code, way_of(response)) == (400, "")
        assert "cannot be connected" in response.content.decode()
        assert "evil.example" not in response.content.decode()


def test_what_is_there_twice_is_refused(alice: User, team: Team) -> None:
    client_id = client_id_of()
    for pair in (
        ("redirect_uri", "https://evil.example/"),
        ("client_id", client_id),
        ("scope", "x"),
    ):
        assert browser_of(alice).get(address(client_id, pair, scope="read")).status_code == 400


def test_the_only_address_needs_not_be_named_and_a_program_has_any_port(
    alice: User, team: Team
) -> None:
    form = {"team": "acme", "scope": "read"}
    client_id = client_id_of()
    response = browser_of(alice).post(address(client_id, without="redirect_uri"), form)
    assert way_of(response).startswith(BACK)
    both = client_id_of(BACK, LOCAL)
    assert browser_of(alice).get(address(both, without="redirect_uri")).status_code == 400
    port = "http://127.0.0.1:53127/callback"
    page = browser_of(alice).get(address(both, redirect_uri=port))
    assert "a program on your computer" in page.content.decode()
    response = browser_of(alice).post(address(both, redirect_uri=port), form)
    assert way_of(response).startswith(f"{port}?code=")
    code = answer_of(response)["code"]
    assert redeemed(both, code, redirect_uri=LOCAL).status_code == 400
    assert redeemed(both, code, redirect_uri=port).status_code == 200


def test_an_address_keeps_its_own_query(alice: User, team: Team) -> None:
    uri = "https://claude.example/callback?tenant=a%20b&empty="
    response = browser_of(alice).post(
        address(client_id_of(uri), redirect_uri=uri), {"team": "acme", "scope": "read"}
    )
    assert way_of(response).startswith(f"{uri}&code=")


def test_a_code_is_good_once_and_its_second_use_ends_the_token(alice: User, team: Team) -> None:
    client_id = client_id_of()
    code = code_of(alice, client_id)
    secret = redeemed(client_id, code).json()["access_token"]
    assert authenticate_header(f"Bearer {secret}", for_mcp=True) is not None
    again = redeemed(client_id, code)
    assert (again.status_code, again.json()["error"]) == (400, "invalid_grant")
    assert authenticate_header(f"Bearer {secret}", for_mcp=True) is None
    assert ApiToken.objects.count() == 1
    assert AuditEntry.objects.get(action="token.revoked").actor is None


@pytest.mark.parametrize("way", ["operator", "devices", "sign-out", "password"])
def test_a_code_dies_with_the_sign_in_of_its_browser(alice: User, team: Team, way: str) -> None:
    client_id, browser = client_id_of(), browser_of(alice)
    form = {"team": "acme", "scope": "write"}
    code = answer_of(browser.post(address(client_id), form))["code"]
    other = answer_of(browser.post(address(client_id), form))["code"]
    assert redeemed(client_id, other).status_code == 200
    if way == "operator":
        root = make_user("root@example.com", operator=True)
        sign_out_account(alice, actor=root, reason="Lost laptop")
    elif way == "devices":
        browser_of(alice).post("/me/devices/others")
    elif way == "sign-out":
        browser.post("/logout")
    else:
        alice.set_password("another-password-77")
        alice.save()
    response = redeemed(client_id, code)
    assert (response.status_code, response.json()["error"]) == (400, "invalid_grant")
    assert "signed out" in response.json()["error_description"]
    assert ApiToken.objects.count() == 1


def test_a_code_is_good_for_a_minute(
    alice: User, team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    client_id = client_id_of()
    code = code_of(alice, client_id)
    assert CODE_S == 60
    later = timezone.now().timestamp() + CODE_S + 1
    monkeypatch.setattr("django.core.signing.time.time", lambda: later)
    response = redeemed(client_id, code)
    assert (response.status_code, response.json()["error"]) == (400, "invalid_grant")


WRONG: dict[str, tuple[dict[str, str], int, str]] = {
    "no verifier": ({"code_verifier": ""}, 400, "invalid_grant"),
    "another verifier": ({"code_verifier": "w" * 43}, 400, "invalid_grant"),
    "the challenge": ({"code_verifier": challenge_of(VERIFIER)}, 400, "invalid_grant"),
    "another address": ({"redirect_uri": "https://evil.example/"}, 400, "invalid_grant"),
    "another resource": ({"resource": "https://other.example/mcp"}, 400, "invalid_target"),
    "no code": ({"code": ""}, 400, "invalid_grant"),
    "a forged code": ({"code": "eyJ0b2tlbiI6ICJ4In0:1x:abc"}, 400, "invalid_grant"),
    "no client": ({"client_id": ""}, 401, "invalid_client"),
    "a forged client": ({"client_id": "x"}, 401, "invalid_client"),
    "a refresh without a token": ({"grant_type": "refresh_token"}, 400, "invalid_grant"),
    "a password": ({"grant_type": "password"}, 400, "unsupported_grant_type"),
}


@pytest.mark.parametrize(("changes", "status", "error"), WRONG.values(), ids=WRONG)
def test_a_wrong_exchange_gives_nothing(
    changes: dict[str, str], status: int, error: str, alice: User, team: Team
) -> None:
    client_id = client_id_of()
    code = code_of(alice, client_id)
    given = {"client_id": client_id, "code": code, **changes}
    response = redeemed(given.pop("client_id"), given.pop("code"), **given)
    assert (response.status_code, response.json()["error"]) == (status, error)
    assert response["Cache-Control"] == "no-store"
    assert ApiToken.objects.count() == 0
    # Nor does it use up the code of whoever it belongs to.
    assert redeemed(client_id, code).status_code == 200


def test_a_code_is_of_no_use_to_another_client(alice: User, team: Team) -> None:
    mine, other = client_id_of(), client_id_of(client_name="Other")
    code = code_of(alice, mine)
    assert redeemed(other, code).json()["error"] == "invalid_grant"
    assert redeemed(mine, code).status_code == 200


def test_an_id_is_no_code_and_a_code_is_no_id(alice: User, team: Team) -> None:
    client_id = client_id_of()
    assert redeemed(client_id, client_id).json()["error"] == "invalid_grant"
    assert redeemed(code_of(alice, client_id), "x").json()["error"] == "invalid_client"


def test_what_happened_since_the_person_agreed_counts(alice: User, bob: User, team: Team) -> None:
    client_id = client_id_of()
    left, gone = code_of(bob, client_id), code_of(bob, client_id)
    Membership.objects.filter(user=bob).delete()
    assert redeemed(client_id, left).json()["error"] == "invalid_grant"
    User.objects.filter(pk=bob.pk).update(is_active=False)
    assert redeemed(client_id, gone).json()["error"] == "invalid_grant"
    strict = code_of(alice, client_id)
    Team.objects.update(requires_mfa=True)
    response = redeemed(client_id, strict)
    assert response.json()["error"] == "invalid_grant"
    assert "multi-factor" in response.json()["error_description"]
    assert ApiToken.objects.count() == 0


@pytest.mark.parametrize("policy", ["requires_mfa", "requires_sso"])
def test_a_policy_that_the_browser_does_not_meet_is_told(
    policy: str, alice: User, team: Team
) -> None:
    Team.objects.filter(pk=team.pk).update(**{policy: True})
    response = browser_of(alice).post(address(client_id_of()), {"team": "acme", "scope": "read"})
    assert response.status_code == 422
    assert "requires" in response.content.decode()


def test_the_endpoints_take_forms_of_programs_and_no_queries(alice: User, team: Team) -> None:
    client_id = client_id_of()
    code = code_of(alice, client_id)
    asked = f"?client_id={client_id}&code={code}&grant_type=authorization_code"
    assert PROGRAM.post(f"/oauth/token{asked}").status_code == 400
    for path in ("register", "token", "revoke"):
        assert PROGRAM.get(f"/oauth/{path}").status_code == 405
    large = PROGRAM.post("/oauth/token", {"code": "x" * 20_000})
    assert large.status_code == 413
