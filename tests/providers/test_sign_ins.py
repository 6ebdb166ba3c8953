from __future__ import annotations

from datetime import timedelta
from typing import Any

import httpx
import pytest
from django.utils import timezone

from opencode_web.lib.errors import Invalid, NotFound
from providers import actions
from providers.access import access_attempt, newest_attempt
from providers.actions.sign_ins import keep_grant
from providers.grants import open_grant
from providers.llm.messages import ModelRef
from providers.llm.secret import Secret
from providers.llm.sign_in import Grant
from providers.models import Credential, ProviderConfig, SignInAttempt
from providers.resolve import resolve_model
from providers.sign_ins import (
    advance_sign_in,
    begin_sign_in,
    cancel_sign_in,
    finish_sign_in,
    instructions_of,
    key_grant,
    sign_out,
)
from teams.models import AuditEntry, Role, Team, User
from tests.factories import add_member
from tests.providers.llm.sign_in.vendors import GitHubServer, OpenAIServer
from tests.providers.vendors import JsonVendor

pytestmark = pytest.mark.django_db
Vendors = dict[str, httpx.AsyncBaseTransport]

LISTED = {
    "data": [
        {
            "id": "gpt-5.4",
            "name": "GPT-5.4",
            "version": "gpt-5.4-2026-05-01",
            "model_picker_enabled": True,
            "supported_endpoints": ["/responses"],
            "capabilities": {
                "family": "gpt",
                "type": "chat",
                "limits": {"max_output_tokens": 64_000, "max_prompt_tokens": 200_000},
                "supports": {"tool_calls": True, "reasoning_effort": ["low", "high"]},
            },
        }
    ]
}


@pytest.fixture
def github(internet: Vendors) -> GitHubServer:
    server = GitHubServer()
    internet.update({"github.com": server, "api.github.com": server})
    internet["api.githubcopilot.com"] = JsonVendor(models=LISTED)
    return server


@pytest.fixture
def openai(internet: Vendors) -> OpenAIServer:
    server = OpenAIServer()
    internet["auth.openai.com"] = server
    return server


def due(attempt: SignInAttempt) -> SignInAttempt:
    """The attempt once the time between two questions has passed."""
    attempt.next_poll_at = timezone.now()
    attempt.save()
    return attempt


def begin(holder: Team | User | None, actor: User, provider: str, method: str) -> SignInAttempt:
    return begin_sign_in(holder, provider, method, {}, actor=actor)


def signed_in(alice: User, openai: OpenAIServer, holder: Any = None) -> Credential:
    attempt = begin(holder or alice, alice, "openai", "browser")
    finish_sign_in(attempt, openai.allow(attempt.url))
    return Credential.objects.get(kind=Credential.Kind.OAUTH)


def test_a_code_that_is_entered_at_the_provider_ends_as_an_account(
    alice: User, team: Team, github: GitHubServer
) -> None:
    attempt = begin(alice, alice, "github-copilot", "device")
    assert instructions_of(attempt) == f"Enter code: {attempt.user_code}"
    assert advance_sign_in(attempt).status == "pending"
    assert (
        github.requests[-1].url.path == "/login/device/code"
    )  # it is not due, so nothing is asked
    github.clock += 9
    assert advance_sign_in(due(attempt)).status == "pending"
    github.enter(attempt.user_code, is_allowed=True)
    github.clock += 9
    ended = advance_sign_in(due(attempt))
    assert (ended.status, ended.state) == ("complete", "")
    row = ProviderConfig.objects.get(owner=alice, provider_id="github-copilot")
    credential = row.credentials.get()
    assert (credential.account, credential.kind) == ("octocat", "oauth")
    assert "gho_1" not in credential.secret
    assert [*row.listed] == ["gpt-5.4"]
    model = resolve_model(team, ModelRef("github-copilot", "gpt-5.4"), user=alice)
    assert model.api_key.reveal() == "gho_1"
    assert model.connection["supported_endpoints"] == "/responses"
    with pytest.raises(NotFound):
        resolve_model(team, ModelRef("github-copilot", "gpt-5.4"))
    entry = AuditEntry.objects.get(action="provider.signed_in")
    assert entry.told == {"provider": "github-copilot", "account": "octocat"}


def test_an_address_that_is_brought_back_ends_as_the_plan_of_a_team(
    alice: User, team: Team, openai: OpenAIServer
) -> None:
    attempt = begin(team, alice, "openai", "browser")
    assert "Copy the complete address" in instructions_of(attempt)
    assert finish_sign_in(attempt, openai.allow(attempt.url)).status == "complete"
    model = resolve_model(team, ModelRef("openai", "gpt-5.5"))
    assert model.connection["chatgpt_account"] == "acct-1"
    assert model.base_url == "https://chatgpt.com/backend-api/codex"
    assert (model.cost.base.input, model.limit.context) == (0, 400_000)
    with pytest.raises(NotFound):
        resolve_model(team, ModelRef("openai", "gpt-4.1"))


def test_what_is_no_address_of_the_attempt_can_be_pasted_again(
    alice: User, openai: OpenAIServer
) -> None:
    attempt = begin(alice, alice, "openai", "browser")
    other = begin(alice, alice, "openai", "browser")
    assert SignInAttempt.objects.get(pk=attempt.pk).status == "cancelled"
    for pasted in ("not an address", openai.allow(attempt.url), "code-unknown"):
        with pytest.raises(Invalid):
            finish_sign_in(other, pasted)
    assert finish_sign_in(other, openai.allow(other.url)).status == "complete"


def test_who_is_denied_or_too_late_reads_why(alice: User, github: GitHubServer) -> None:
    attempt = begin(alice, alice, "github-copilot", "device")
    github.enter(attempt.user_code, is_allowed=False)
    github.clock += 9
    ended = advance_sign_in(due(attempt))
    assert (ended.status, ended.fault) == ("failed", "Denied")
    late = begin(alice, alice, "github-copilot", "device")
    SignInAttempt.objects.filter(pk=late.pk).update(expires_at=timezone.now())
    late.refresh_from_db()
    assert advance_sign_in(late).fault == "Expired"
    assert not ProviderConfig.objects.exists()


def test_an_outage_does_not_end_a_sign_in(alice: User, github: GitHubServer) -> None:
    attempt = begin(alice, alice, "github-copilot", "device")
    github.outage = httpx.Response(502, stream=httpx.ByteStream(b"<html>"))
    assert advance_sign_in(due(attempt)).status == "pending"
    github.outage = None
    github.enter(attempt.user_code, is_allowed=True)
    github.clock += 9
    assert advance_sign_in(due(attempt)).status == "complete"


def test_a_cancelled_sign_in_comes_to_nothing(alice: User, openai: OpenAIServer) -> None:
    attempt = begin(alice, alice, "openai", "browser")
    address = openai.allow(attempt.url)
    cancel_sign_in(attempt)
    attempt.refresh_from_db()
    assert finish_sign_in(attempt, address).status == "cancelled"
    assert not Credential.objects.exists()


def test_nobody_but_who_began_may_end_it_and_only_while_an_admin(
    alice: User, bob: User, team: Team, openai: OpenAIServer
) -> None:
    attempt = begin(team, alice, "openai", "browser")
    assert access_attempt(alice, attempt.pk) == attempt
    with pytest.raises(NotFound):
        access_attempt(bob, attempt.pk)
    of_bob = add_member(team, User.objects.create(email="carol@example.com"), Role.ADMIN)
    theirs = begin(team, of_bob.user, "openai", "browser")
    of_bob.role = Role.MEMBER
    of_bob.save()
    with pytest.raises(NotFound):
        access_attempt(of_bob.user, theirs.pk)
    assert newest_attempt(of_bob.user, "openai") is None


def test_what_no_provider_offers_is_refused(alice: User, internet: Vendors) -> None:
    with pytest.raises(NotFound):
        begin(alice, alice, "nobody-knows", "browser")
    with pytest.raises(Invalid, match="does not support this way"):
        begin(alice, alice, "anthropic", "browser")
    with pytest.raises(Invalid, match="does not support this way"):
        begin(alice, alice, "openai", "telepathy")
    with pytest.raises(Invalid, match="cannot be reached"):
        begin(alice, alice, "github-copilot", "device")
    answers = {"deploymentType": "enterprise", "enterpriseUrl": "127.0.0.1/x?"}
    with pytest.raises(Invalid):
        begin_sign_in(alice, "github-copilot", "device", answers, actor=alice)


def test_signing_out_has_the_provider_forget_it(alice: User, openai: OpenAIServer) -> None:
    credential = signed_in(alice, openai)
    refresh = open_grant(credential.secret).refresh
    assert refresh is not None
    assert sign_out(credential, actor=alice)
    assert openai.revoked == {refresh.reveal()}
    assert not Credential.objects.exists()
    kept = signed_in(alice, openai)
    openai.outage = httpx.ConnectError("down")
    assert not sign_out(kept, actor=alice)
    assert not Credential.objects.exists()


def test_a_pasted_key_takes_the_place_of_a_sign_in(alice: User, openai: OpenAIServer) -> None:
    credential = signed_in(alice, openai)
    actions.set_own_key(alice, "openai", key="sk-test-abcdefghijklmnop")
    credential.refresh_from_db()
    assert (credential.kind, credential.account, credential.expires_at) == ("key", "", None)


@pytest.mark.parametrize("domain", ["evil.example", "ghe.com.evil.example", "notghe.com"])
def test_an_account_of_ones_own_is_at_the_vendor_and_nowhere_else(
    alice: User, team: Team, internet: Vendors, domain: str
) -> None:
    internet[domain] = server = GitHubServer(domain, f"https://{domain}/api/v3/user")
    inputs = {"deploymentType": "enterprise", "enterpriseUrl": f"https://{domain}/"}
    with pytest.raises(Invalid, match=r"must be at github\.com"):
        begin_sign_in(alice, "github-copilot", "device", inputs, actor=alice)
    assert server.requests == []
    grant = Grant(Secret("gho_1"), connection={"enterpriseUrl": domain})
    with pytest.raises(Invalid, match=r"must be at github\.com"):
        keep_grant(alice, "github-copilot", grant, actor=alice)
    assert not Credential.objects.exists()
    # Admins decide where the code of their team goes.
    assert begin_sign_in(team, "github-copilot", "device", inputs, actor=alice).user_code


def test_a_gitlab_of_ones_own_choice_is_for_admins_to_connect(
    alice: User, team: Team, settings: Any
) -> None:
    settings.GITLAB_INSTANCE_URL = "https://git.acme.example"

    def connect(holder: Team | User, address: str) -> ProviderConfig:
        grant = key_grant("gitlab", "glpat-0123456789abcdef", {"instanceUrl": address})
        assert grant is not None
        return keep_grant(holder, "gitlab", grant, actor=alice)

    for address in ("https://evil.example:8443", "https://gitlab.com.evil.example"):
        with pytest.raises(Invalid, match="Ask an admin"):
            connect(alice, address)
        assert connect(team, address).team == team
    for address in ("https://gitlab.com/", "https://git.acme.example"):
        assert connect(alice, address).owner == alice


def test_a_code_that_is_good_for_years_ends_within_the_hour(
    alice: User, github: GitHubServer
) -> None:
    usual = github.answer

    def answer(request: httpx.Request) -> tuple[int, Any]:
        status, body = usual(request)
        return status, {**body, "expires_in": 10**9}

    github.answer = answer  # type: ignore[method-assign]
    attempt = begin(alice, alice, "github-copilot", "device")
    assert attempt.expires_at <= timezone.now() + timedelta(hours=1)


def test_what_an_attempt_remembers_is_gone_once_another_takes_its_place(
    alice: User, openai: OpenAIServer
) -> None:
    attempt = begin(alice, alice, "openai", "browser")
    assert attempt.state
    begin(alice, alice, "openai", "browser")
    attempt.refresh_from_db()
    assert (attempt.status, attempt.state) == ("cancelled", "")
