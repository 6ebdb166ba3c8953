from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone

from opencode_web.lib.db import in_db
from providers.grants import open_grant
from providers.llm.messages import ModelRef
from providers.models import Credential, ProviderConfig, SignInAttempt
from providers.resolve import resolve_model
from sessions.models import Project
from teams.models import AuditEntry, OwnAccounts, Scope, Team, User
from tests.providers.llm.sign_in.vendors import GitHubServer, OpenAIServer
from tests.sessions.api.conftest import Connect, ConnectAsync

JSON = "application/json"
KEY = "sk-test-0123456789abcdef"
API = {"type": "api", "key": KEY}
TOKENS = {"type": "oauth", "access": "access-0001", "refresh": "refresh-0001", "expires": 1}


def test_a_key_is_set_for_the_team_and_forgotten(
    alice: User, connect: Connect, team: Team, project: Project
) -> None:
    client = connect(alice)
    assert client.put("/auth/openai", API, JSON).json() is True
    row = ProviderConfig.objects.get(team=team, provider_id="openai")
    assert Credential.objects.get(provider=row).last4 == "cdef"
    assert "openai" in client.get("/provider").json()["connected"]
    methods = client.get("/provider/auth").json()
    assert [one["type"] for one in methods["openai"]] == ["oauth", "oauth", "api"]
    assert "demo" not in methods
    assert client.delete("/auth/openai").json() is True
    assert client.delete("/auth/openai").json() is True
    assert "openai" not in client.get("/provider").json()["connected"]
    said = [entry.data for entry in AuditEntry.objects.filter(target_type="providerconfig")]
    assert said[-1] == {"provider": "openai", "key": "removed"}
    assert KEY not in str(said)


def test_a_provider_of_the_settings_takes_a_key(
    alice: User, connect: Connect, team: Team, project: Project
) -> None:
    client = connect(alice)
    block = {"options": {"baseURL": "http://127.0.0.1:9/v1"}, "models": {"m": {}}}
    client.patch("/global/config", {"provider": {"own": block}}, JSON)
    assert client.put("/auth/own", API, JSON).status_code == 200
    assert ProviderConfig.objects.get(provider_id="own").base_url == "http://127.0.0.1:9/v1"


@pytest.mark.parametrize(
    ("provider", "body", "status"),
    [
        ("nobody-knows", API, 400),
        ("openai", {"type": "oauth", "expires": 1}, 400),
        ("openai", {**TOKENS, "expires": 1e300}, 400),
        ("openai", {**TOKENS, "access": "two\nlines"}, 400),
        ("openai", {**TOKENS, "accountId": "acct-é"}, 400),
        ("github-copilot", {**TOKENS, "enterpriseUrl": "not a host"}, 400),
        ("gitlab", {**TOKENS, "enterpriseUrl": "not a host"}, 400),
        ("snowflake-cortex", TOKENS, 400),
        ("snowflake-cortex", {**TOKENS, "accountId": "../evil.example/"}, 400),
        ("azure", TOKENS, 400),
        ("anthropic", {"type": "oauth", "refresh": "x", "access": "y", "expires": 1}, 400),
        ("openai", {"type": "wellknown", "key": "x", "token": "y"}, 400),
        ("openai", {"type": "api", "key": "two\nlines"}, 400),
        ("openai", {"type": "other"}, 400),
        ("demo", API, 400),
    ],
)
def test_what_is_no_key_of_a_team_is_refused(
    provider: str, body: Any, status: int, alice: User, connect: Connect, project: Project
) -> None:
    answer = connect(alice).put(f"/auth/{provider}", body, JSON)
    assert answer.status_code == status
    assert KEY not in answer.content.decode()
    assert not Credential.objects.exists()


def test_below_admin_a_key_is_ones_own(
    alice: User, bob: User, connect: Connect, team: Team, project: Project
) -> None:
    client = connect(bob)
    assert client.put("/auth/openai", API, JSON).status_code == 200
    row = ProviderConfig.objects.get(provider_id="openai")
    assert (row.owner, row.team) == (bob, None)
    assert client.get("/provider").json()["connected"] == ["openai", "demo"]
    assert "openai" not in connect(alice).get("/provider").json()["connected"]
    assert client.delete("/auth/openai").status_code == 200
    assert not Credential.objects.exists()
    assert client.delete("/auth/demo").status_code == 403


def test_keys_need_a_team_that_wants_them_and_the_right_token(
    alice: User, bob: User, connect: Connect, team: Team, project: Project
) -> None:
    team.own_accounts = OwnAccounts.NEVER
    team.save()
    for client in (connect(bob), connect(alice, Scope.WRITE), connect(bob, Scope.WRITE)):
        assert client.put("/auth/openai", API, JSON).status_code == 403
        assert client.delete("/auth/openai").status_code in {403, 404}
    assert not Credential.objects.exists()


def test_tokens_of_a_client_that_has_signed_in_are_kept_as_keys_are(
    alice: User, bob: User, connect: Connect, team: Team, project: Project
) -> None:
    body = {
        "type": "oauth",
        "access": "access-secret-0001",
        "refresh": "refresh-secret-01",
        "expires": 4_102_444_800_000,
        "accountId": "acct-1",
    }
    assert connect(bob).put("/auth/openai", body, JSON).status_code == 200
    model = resolve_model(team, ModelRef("openai", "gpt-5.5"), user=bob)
    assert model.api_key.reveal() == "access-secret-0001"
    assert model.connection["chatgpt_account"] == "acct-1"
    assert connect(alice).put("/auth/openai", body, JSON).status_code == 200
    holders = ProviderConfig.objects.filter(provider_id="openai").values_list("owner", "team")
    assert set(holders) == {(bob.pk, None), (None, team.pk)}


@pytest.mark.parametrize(
    ("provider", "more", "connection"),
    [
        ("snowflake-cortex", {"accountId": "org-one"}, {"account": "org-one"}),
        ("gitlab", {}, {"instanceUrl": "https://gitlab.com"}),
        ("gitlab", {"enterpriseUrl": "https://git.acme.example/"}, {"instanceUrl": "https://git.acme.example"}),
    ],
)  # fmt: skip
def test_tokens_are_kept_with_what_they_are_renewed_at(
    alice: User, connect: Connect, project: Project, provider: str, more: Any, connection: Any
) -> None:
    answer = connect(alice).put(f"/auth/{provider}", {**TOKENS, **more}, JSON)
    assert answer.status_code == 200, answer.content
    assert open_grant(Credential.objects.get().secret).connection == connection


def test_tokens_are_called_where_the_teams_settings_have_put_the_account(
    alice: User, connect: Connect, team: Team, project: Project
) -> None:
    client = connect(alice)
    options = {"baseURL": "http://127.0.0.1:9/copilot", "apiKey": "gho_0000000000"}
    block = {"github-copilot": {"options": options}}
    assert client.patch("/global/config", {"provider": block}, JSON).status_code == 200
    body = {"type": "oauth", "access": "gho_1", "refresh": "gho_1", "expires": 0}
    assert client.put("/auth/github-copilot", body, JSON).status_code == 200
    model = resolve_model(team, ModelRef("github-copilot", "gpt-5-mini"), user=alice)
    assert model.base_url == "http://127.0.0.1:9/copilot"
    assert model.api_key.reveal() == "gho_1"


def test_a_token_of_gitlab_is_exchanged_before_it_is_used(
    alice: User, connect: Connect, project: Project
) -> None:
    body = {"type": "api", "key": "glpat-0123456789abcdef", "metadata": {}}
    assert connect(alice).put("/auth/gitlab", body, JSON).status_code == 200
    credential = Credential.objects.get(provider__provider_id="gitlab")
    assert (credential.kind, credential.provider.team is not None) == ("oauth", True)
    body["metadata"] = {"instanceUrl": "http://127.0.0.1/"}
    assert connect(alice).put("/auth/gitlab", body, JSON).status_code == 400


@pytest.mark.parametrize(
    ("provider", "asked", "kept"),
    [
        ("azure", {"resourceName": "acme"}, {"resourceName": "acme"}),
        ("cloudflare-workers-ai", {"accountId": "0a1b"}, {"CLOUDFLARE_ACCOUNT_ID": "0a1b"}),
        (
            "cloudflare-ai-gateway",
            {"accountId": "0a1b", "gatewayId": "main"},
            {"accountId": "0a1b", "gatewayId": "main"},
        ),
        ("snowflake-cortex", {"account": "org-one"}, {"SNOWFLAKE_ACCOUNT": "org-one"}),
    ],
)
def test_what_a_client_asks_beside_the_key_says_where_the_account_is(
    alice: User, connect: Connect, project: Project, provider: str, asked: Any, kept: Any
) -> None:
    client = connect(alice)
    answer = client.put(f"/auth/{provider}", {**API, "metadata": asked}, JSON)
    assert answer.status_code == 200
    assert ProviderConfig.objects.get(provider_id=provider).connection == kept
    assert provider in client.get("/provider").json()["connected"]
    bad = {**API, "metadata": dict.fromkeys(asked, "../evil.example/")}
    assert client.put(f"/auth/{provider}", bad, JSON).status_code == 400


@pytest.mark.django_db(transaction=True)
async def test_a_key_is_no_page_to_sign_in_on(
    alice: User, connect_async: ConnectAsync, project: Project
) -> None:
    client = await in_db(connect_async, alice)
    address = "/provider/openai/oauth/authorize"
    answer = await client.post(address, {"method": 2}, content_type=JSON)
    assert answer.status_code == 400
    assert "does not support this way" in answer.json()["data"]["message"]


@pytest.mark.django_db(transaction=True)
async def test_a_client_waits_until_the_person_is_done(
    alice: User,
    connect_async: ConnectAsync,
    team: Team,
    project: Project,
    internet: dict[str, Any],
) -> None:
    server = GitHubServer()
    internet.update({"github.com": server, "api.github.com": server})
    client = await in_db(connect_async, alice)
    address = "/provider/github-copilot/oauth"
    early = await client.post(f"{address}/callback", {"method": 0}, content_type=JSON)
    assert (early.status_code, early.json()["name"]) == (400, "ProviderAuthOauthMissing")
    begun = await client.post(f"{address}/authorize", {"method": 0}, content_type=JSON)
    assert begun.json()["method"] == "auto"
    [code] = server.devices
    assert begun.json()["instructions"] == f"Enter code: {code}"
    await SignInAttempt.objects.aupdate(next_poll_at=timezone.now())
    server.clock += 9
    server.enter(code, is_allowed=True)
    ended = await client.post(f"{address}/callback", {"method": 0}, content_type=JSON)
    assert (ended.status_code, ended.json()) == (200, True)
    assert (await Credential.objects.aget()).account == "octocat"


@pytest.mark.django_db(transaction=True)
async def test_a_client_hands_over_the_address_of_the_page(
    alice: User,
    connect_async: ConnectAsync,
    team: Team,
    project: Project,
    internet: dict[str, Any],
) -> None:
    server = internet["auth.openai.com"] = OpenAIServer()
    client = await in_db(connect_async, alice)
    address = "/provider/openai/oauth"
    begun = await client.post(f"{address}/authorize", {"method": 0}, content_type=JSON)
    assert begun.json()["method"] == "code"
    without = await client.post(f"{address}/callback", {"method": 0}, content_type=JSON)
    assert (without.status_code, without.json()["name"]) == (400, "ProviderAuthOauthCodeMissing")
    denied = {"method": 0, "code": server.deny(begun.json()["url"])}
    ended = await client.post(f"{address}/callback", denied, content_type=JSON)
    assert (ended.status_code, ended.json()["name"]) == (400, "ProviderAuthOauthCallbackFailed")
    begun = await client.post(f"{address}/authorize", {"method": 0}, content_type=JSON)
    allowed = {"method": 0, "code": server.allow(begun.json()["url"])}
    ended = await client.post(f"{address}/callback", allowed, content_type=JSON)
    assert (ended.status_code, ended.json()) == (200, True)
