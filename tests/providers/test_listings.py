from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import httpx
import pytest
from django.utils import timezone

from providers.actions.sign_ins import keep_grant
from providers.llm.secret import Secret
from providers.llm.sign_in import Grant
from providers.models import ProviderConfig, SignInAttempt
from providers.tasks import refresh_listings
from teams.models import Team, User
from tests.factories import make_team
from tests.providers.test_sign_ins import LISTED
from tests.providers.vendors import JsonVendor

PRICES = '{"batch_size": 1, "default": {"input_price": 1e999, "output_price": 1}}'
pytestmark = pytest.mark.django_db


class Enterprise(httpx.AsyncBaseTransport):
    """A host of somebody's choice, with a list that no database stores as it is."""

    def __init__(self, old: str, new: str) -> None:
        self.body = json.dumps(LISTED).replace(old, new).encode()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, stream=httpx.ByteStream(self.body), request=request)


def sign_in(team: Team, user: User, **fields: Any) -> ProviderConfig:
    grant = Grant(Secret("gho_1"), **fields)
    return keep_grant(team, "github-copilot", grant, actor=user)


@pytest.fixture
def enterprise(team: Team, alice: User) -> ProviderConfig:
    connection = {"enterpriseUrl": "git.acme.example"}
    base_url = "https://copilot-api.git.acme.example"
    return sign_in(team, alice, connection=connection, base_url=base_url)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"id"', f'"billing": {{"token_prices": {PRICES}}}, "id"'),
        ('"gpt-5.4"', '"gpt-5.4\\u0000"'),
        ('"GPT-5.4"', '"GPT-5.4\\ud800\\u0000"'),
        ('"gpt-5.4-2026-05-01"', "[" * 500 + "]" * 500),
    ],
)
def test_one_accounts_list_does_not_end_the_round_for_the_others(
    alice: User, bob: User, enterprise: ProviderConfig, internet: Any, old: str, new: str
) -> None:
    internet["copilot-api.git.acme.example"] = Enterprise(old, new)
    internet["api.githubcopilot.com"] = JsonVendor(models=LISTED)
    other = sign_in(make_team(bob, name="Others"), bob)
    refresh_listings()
    other.refresh_from_db()
    assert [*other.listed] == ["gpt-5.4"]


def test_a_fault_of_ours_does_not_end_the_round_either(
    bob: User, enterprise: ProviderConfig, internet: Any, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken(httpx.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            raise AssertionError

    internet["copilot-api.git.acme.example"] = Broken()
    internet["api.githubcopilot.com"] = JsonVendor(models=LISTED)
    other = sign_in(make_team(bob, name="Others"), bob)
    old = timezone.now() - timedelta(days=2)
    late = timezone.now() + timedelta(days=3_650)
    fields = {"provider_id": "openai", "method": "browser", "state": "", "url": "x"}
    SignInAttempt.objects.create(started_by=bob, created_at=old, expires_at=late, **fields)
    refresh_listings()
    other.refresh_from_db()
    assert [*other.listed] == ["gpt-5.4"]
    assert f"account={enterprise.pk}" in caplog.text
    assert not SignInAttempt.objects.exists()
