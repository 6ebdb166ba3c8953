from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import httpx
import pytest
from django.test import Client
from django.utils import timezone

from providers.models import Credential, ProviderConfig, SignInAttempt
from teams.models import Team, User
from tests.providers.llm.sign_in.vendors import GitHubServer, OpenAIServer
from tests.providers.test_sign_ins import LISTED
from tests.providers.vendors import JsonVendor
from tests.providers.views.test_connect import mine
from tests.providers.views.test_pages import url

ClientFor = Callable[[User | None], Client]
Vendors = dict[str, httpx.AsyncBaseTransport]
HTMX = {"HX-Request": "true"}


@pytest.fixture
def admin(client_for: ClientFor, adam: User) -> Client:
    return client_for(adam)


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


def begin(browser: Client, place: str, method: str) -> SignInAttempt:
    answer = browser.post(place, {"method": method})
    attempt = SignInAttempt.objects.latest("created_at")
    assert answer.headers["location"].endswith(f"/models/sign-ins/{attempt.pk}")
    return attempt


def make_due(attempt: SignInAttempt) -> None:
    SignInAttempt.objects.filter(pk=attempt.pk).update(next_poll_at=timezone.now())


def test_a_code_is_shown_until_it_was_entered_at_the_provider(
    team: Team, admin: Client, github: GitHubServer
) -> None:
    page = admin.get(url("account_new", "github-copilot")).content.decode()
    assert 'name="enterpriseUrl"' in page
    attempt = begin(admin, url("sign_in_begin", "github-copilot"), "device")
    place = url("sign_in", attempt=attempt.pk)
    page = admin.get(place).content.decode()
    assert f">{attempt.user_code}</code>" in page
    assert f'href="{attempt.url}" target="_blank" rel="noopener noreferrer"' in page
    assert f'hx-trigger="every {int(attempt.interval_s)}s"' in page
    assert admin.get(place, headers=HTMX).status_code == 204
    github.enter(attempt.user_code, is_allowed=True)
    github.clock += 9
    make_due(attempt)
    page = admin.get(place, headers=HTMX).content.decode()
    assert "Signed in as octocat." in page
    assert "every " not in page
    assert f'href="{url("check", "github-copilot")}"' in page
    assert ProviderConfig.objects.get(team=team).provider_id == "github-copilot"
    for shown in (url("keys"), url("models"), url("provider", "github-copilot")):
        page = admin.get(shown).content.decode()
        assert "octocat" in page
        assert "gho_1" not in page


def test_a_refusal_at_the_provider_is_told(team: Team, admin: Client, github: GitHubServer) -> None:
    attempt = begin(admin, url("sign_in_begin", "github-copilot"), "device")
    github.enter(attempt.user_code, is_allowed=False)
    github.clock += 9
    make_due(attempt)
    page = admin.get(url("sign_in", attempt=attempt.pk), headers=HTMX).content.decode()
    assert "The provider denied the sign-in." in page
    assert "Try again" in page


def test_the_address_of_the_browser_is_pasted(
    client_for: ClientFor, bob: User, openai: OpenAIServer
) -> None:
    browser = client_for(bob)
    attempt = begin(browser, mine("sign_in_begin", provider="openai"), "browser")
    page = browser.get(mine("sign_in", attempt=attempt.pk)).content.decode()
    assert "page on localhost that does not load" in page
    place = mine("sign_in_finish", attempt=attempt.pk)
    wrong = browser.post(place, {"pasted": "http://localhost:1455/?code=x"}, headers=HTMX)
    assert wrong.status_code == 422
    assert 'role="alert"' in wrong.content.decode()
    assert browser.post(place, {"pasted": " "}).status_code == 422
    done = browser.post(place, {"pasted": openai.allow(attempt.url)}, headers=HTMX)
    assert "Signed in as" in done.content.decode()
    assert "It is renewed before that." in done.content.decode()
    assert ProviderConfig.objects.get(owner=bob).provider_id == "openai"


def test_a_sign_in_is_given_up(team: Team, admin: Client, openai: OpenAIServer) -> None:
    attempt = begin(admin, url("sign_in_begin", "openai"), "browser")
    answer = admin.post(url("sign_in_cancel", attempt=attempt.pk))
    assert answer.headers["location"] == url("account_new", "openai")
    page = admin.get(url("sign_in", attempt=attempt.pk)).content.decode()
    assert "Sign-in canceled." in page


def test_a_sign_in_runs_out(team: Team, admin: Client, github: GitHubServer) -> None:
    attempt = begin(admin, url("sign_in_begin", "github-copilot"), "device")
    past = timezone.now() - timedelta(seconds=1)
    SignInAttempt.objects.filter(pk=attempt.pk).update(expires_at=past)
    page = admin.get(url("sign_in", attempt=attempt.pk), headers=HTMX).content.decode()
    assert "took too long and expired" in page


def test_an_answer_that_cannot_be_used_comes_back_with_the_form(
    team: Team, admin: Client, github: GitHubServer
) -> None:
    sent = {"method": "device", "deploymentType": "enterprise", "enterpriseUrl": "no host"}
    answer = admin.post(url("sign_in_begin", "github-copilot"), sent)
    assert answer.status_code == 422
    assert 'value="no host"' in answer.content.decode()
    assert not SignInAttempt.objects.exists()
    assert admin.post(url("sign_in_begin", "openai"), {"method": "key"}).status_code == 404


def test_nobody_goes_on_with_the_sign_in_of_somebody_else(
    team: Team, admin: Client, client_for: ClientFor, alice: User, openai: OpenAIServer
) -> None:
    attempt = begin(admin, url("sign_in_begin", "openai"), "browser")
    assert client_for(alice).get(url("sign_in", attempt=attempt.pk)).status_code == 404
    # Nor with one of a team as if it were the person's own.
    assert admin.get(mine("sign_in", attempt=attempt.pk)).status_code == 404


def test_signing_out_forgets_the_sign_in(team: Team, admin: Client, openai: OpenAIServer) -> None:
    attempt = begin(admin, url("sign_in_begin", "openai"), "browser")
    admin.post(url("sign_in_finish", attempt=attempt.pk), {"pasted": openai.allow(attempt.url)})
    credential = Credential.objects.get()
    place = url("credential_remove", "openai", credential=credential.pk)
    assert "Sign out of OpenAI?" in admin.get(place).content.decode()
    page = admin.post(place, follow=True).content.decode()
    assert "OpenAI" in page
    assert not Credential.objects.exists()


def test_a_sign_in_that_has_ended_is_said_with_the_way_to_another(
    team: Team, admin: Client, openai: OpenAIServer
) -> None:
    attempt = begin(admin, url("sign_in_begin", "openai"), "browser")
    admin.post(url("sign_in_finish", attempt=attempt.pk), {"pasted": openai.allow(attempt.url)})
    Credential.objects.update(fault=Credential.Fault.SIGNED_OUT)
    page = admin.get(url("keys")).content.decode()
    assert "Signed out" in page
    assert f'href="{url("account_new", "openai")}">Sign in again</a>' in page
    assert "Signed out" in admin.get(url("models")).content.decode()
    assert "The sign-in has expired." in admin.get(url("provider", "openai")).content.decode()
