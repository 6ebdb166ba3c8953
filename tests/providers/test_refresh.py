from __future__ import annotations

import asyncio
import json
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from opencode_web.lib.db import in_db
from opencode_web.lib.errors import Invalid
from providers import actions
from providers.account_model import AccountModel
from providers.actions.sign_ins import claim_refresh, keep_grant
from providers.grants import open_grant
from providers.key_tests import account_model
from providers.kinds import ProviderKind
from providers.llm.errors import AuthError, NetworkError
from providers.llm.messages import ModelRef, ProviderRequest, ResolvedModel, Text, UserMessage
from providers.llm.secret import Secret
from providers.llm.sign_in import Grant
from providers.models import Credential
from providers.refresh import SignInEnded, fresh_model
from providers.resolve import resolve_model
from providers.stream import call
from teams.models import AuditEntry, Team, User
from tests.providers.llm.sign_in.vendors import OpenAIServer

pytestmark = pytest.mark.django_db(transaction=True)
GPT = ModelRef("openai", "gpt-5.5")


@pytest.fixture
def openai() -> OpenAIServer:
    server = OpenAIServer()
    server.refresh_tokens.add("refresh-0")
    return server


def grant(ends_in: timedelta) -> Grant:
    return Grant(
        Secret("access-0"),
        Secret("refresh-0"),
        datetime.now(UTC) + ends_in,
        connection={"chatgpt_account": "acct-1"},
        base_url="https://chatgpt.com/backend-api/codex",
    )


def signed_in(team: Team, alice: User, ends_in: timedelta = timedelta(seconds=5)) -> ResolvedModel:
    keep_grant(team, "openai", grant(ends_in), actor=alice)
    return resolve_model(team, GPT)


async def test_a_token_that_ends_soon_is_renewed_and_kept(
    team: Team, alice: User, openai: OpenAIServer
) -> None:
    model = await in_db(signed_in, team, alice)
    fresh = await fresh_model(model, openai)
    assert fresh.api_key.reveal() == "access-1"
    kept = open_grant((await Credential.objects.aget()).secret)
    assert kept.refresh is not None
    assert (kept.access.reveal(), kept.refresh.reveal()) == ("access-1", "refresh-1")
    # Who has resolved the model before finds the new token and asks for none.
    again = await fresh_model(model, openai)
    assert (again.api_key.reveal(), len(openai.requests)) == ("access-1", 1)


async def test_a_token_that_holds_is_not_renewed(
    team: Team, alice: User, openai: OpenAIServer
) -> None:
    model = await in_db(signed_in, team, alice, timedelta(hours=1))
    assert await fresh_model(model, openai) is model
    assert openai.requests == []


async def test_of_many_calls_at_once_one_renews_the_token(
    team: Team, alice: User, openai: OpenAIServer
) -> None:
    model = await in_db(signed_in, team, alice)
    found = await asyncio.gather(*(fresh_model(model, openai) for _ in range(8)))
    assert {one.api_key.reveal() for one in found} == {"access-1"}
    assert (len(openai.requests), openai.used) == (1, {"refresh-0"})


async def test_a_renewed_token_is_kept_although_the_call_was_stopped(
    team: Team, alice: User, openai: OpenAIServer
) -> None:
    model = await in_db(signed_in, team, alice)
    asked, go_on = asyncio.Event(), asyncio.Event()

    class Slow(httpx.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            answer = await openai.handle_async_request(request)
            asked.set()
            await go_on.wait()
            return answer

    calling = asyncio.create_task(fresh_model(model, Slow()))
    await asked.wait()
    calling.cancel()
    go_on.set()
    await asyncio.gather(calling, return_exceptions=True)
    assert (await fresh_model(model, openai)).api_key.reveal() == "access-1"


async def test_who_is_signed_out_for_good_has_to_sign_in_again(
    team: Team, alice: User, openai: OpenAIServer
) -> None:
    model = await in_db(signed_in, team, alice)
    openai.refresh_tokens.clear()
    with pytest.raises(SignInEnded):
        await fresh_model(model, openai)
    assert (await Credential.objects.aget()).fault == "signed-out"
    with pytest.raises(Exception, match=r"The sign-in to OpenAI has ended\. An admin can sign in"):
        await in_db(resolve_model, team, GPT)
    # Calls that are under way are told as well, without another request.
    with pytest.raises(SignInEnded):
        await fresh_model(model, openai)
    assert len(openai.requests) == 1
    assert await AuditEntry.objects.filter(action="provider.signed_out").acount() == 1
    await in_db(keep_grant, team, "openai", grant(timedelta(hours=1)), actor=alice)
    assert (await in_db(resolve_model, team, GPT)).api_key.reveal() == "access-0"


async def test_an_outage_keeps_the_sign_in_and_uses_what_still_holds(
    team: Team, alice: User, openai: OpenAIServer
) -> None:
    model = await in_db(signed_in, team, alice)
    openai.outage = httpx.ConnectError("down")
    assert (await fresh_model(model, openai)).api_key.reveal() == "access-0"
    await in_db(keep_grant, team, "openai", grant(timedelta(seconds=-1)), actor=alice)
    ended = await in_db(resolve_model, team, GPT)
    with pytest.raises(NetworkError, match="did not renew"):
        await fresh_model(ended, openai)
    openai.outage = None
    assert (await fresh_model(ended, openai)).api_key.reveal() == "access-1"


async def test_a_call_says_that_nobody_is_signed_in(
    team: Team, alice: User, openai: OpenAIServer
) -> None:
    model = await in_db(signed_in, team, alice)
    openai.refresh_tokens.clear()
    asked = ProviderRequest(model, (), (UserMessage((Text("hi"),)),), (), "ses_1")
    async with aclosing(call(asked, openai)) as events:
        (failed,) = [event async for event in events]
    assert (type(failed.error).__name__, failed.is_free) == ("SignInEnded", True)  # type: ignore[union-attr]


class Entra(httpx.AsyncBaseTransport):
    """Gives tokens to one application."""

    def __init__(self) -> None:
        self.given = 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        await request.aread()
        assert (
            str(request.url) == "https://login.microsoftonline.com/acme.example/oauth2/v2.0/token"
        )
        if b"client_secret=right-secret-0123" not in request.content:
            body = json.dumps({"error": "invalid_client"}).encode()
            return httpx.Response(401, stream=httpx.ByteStream(body))
        self.given += 1
        body = json.dumps({"access_token": f"entra-{self.given}", "expires_in": 3600}).encode()
        return httpx.Response(200, stream=httpx.ByteStream(body))


def azure(team: Team, secret: str) -> AccountModel:
    actions.create_provider(
        team,
        actor=None,
        kind=ProviderKind.COMPATIBLE,
        name="Azure",
        provider_id="azure",
        connection={"resourceName": "acme", "tenantId": "acme.example", "clientId": "app"},
        secrets={"clientSecret": secret},
    )
    return resolve_model(team, ModelRef("azure", "gpt-5.1"))


async def test_an_application_of_entra_gets_tokens_that_are_kept_for_their_time(
    team: Team,
) -> None:
    model, entra = await in_db(azure, team, "right-secret-0123"), Entra()
    for _ in range(2):
        fresh = await fresh_model(model, entra)
        assert fresh.secrets["entraToken"].reveal() == "entra-1"
        assert "clientSecret" not in fresh.secrets
    assert entra.given == 1


async def test_an_application_that_is_refused_is_told(team: Team) -> None:
    model: Any = await in_db(azure, team, "wrong-secret-0123")
    with pytest.raises(AuthError, match="rejected the application"):
        await fresh_model(model, Entra())


async def test_a_key_file_of_google_is_kept_without_what_it_does_not_need(team: Team) -> None:
    file = json.dumps(
        {
            "type": "authorized_user",
            "client_id": "id-1",
            "client_secret": "secret-of-gcloud",
            "refresh_token": "refresh-of-gcloud",
            "token_uri": "https://evil.example/token",
        },
        indent=2,
    )

    def make() -> AccountModel:
        actions.create_provider(
            team,
            actor=None,
            kind=ProviderKind.COMPATIBLE,
            name="Vertex",
            provider_id="google-vertex",
            connection={"project": "acme-1", "location": "global"},
            secrets={"serviceAccount": file},
        )
        return resolve_model(team, ModelRef("google-vertex", "gemini-2.5-pro"))

    model = await in_db(make)
    asked: list[httpx.Request] = []

    class Google(httpx.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            asked.append(request)
            body = json.dumps({"access_token": "ya29.x", "expires_in": 3600}).encode()
            return httpx.Response(200, stream=httpx.ByteStream(body))

    fresh = await fresh_model(model, Google())
    assert {name: one.reveal() for name, one in fresh.secrets.items()} == {"accessToken": "ya29.x"}
    assert [str(one.url) for one in asked] == ["https://oauth2.googleapis.com/token"]


async def test_only_the_instance_acts_as_this_host(team: Team, alice: User) -> None:
    def make(holder: Team | User | None) -> None:
        actions.create_provider(
            holder,
            actor=None,
            kind=ProviderKind.COMPATIBLE,
            name="Bedrock",
            provider_id="amazon-bedrock",
            connection={"region": "us-east-1"},
            secrets={"profile": "default"},
        )

    for holder in (team, alice):
        with pytest.raises(Invalid, match="Only operators"):
            await in_db(make, holder)
    await in_db(make, None)


async def test_who_waits_for_another_process_looks_now_and_then_and_locks_nothing(
    team: Team, alice: User, openai: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = await in_db(signed_in, team, alice)
    until = datetime.now(UTC) + timedelta(seconds=2)
    await Credential.objects.aupdate(refreshing_until=until)
    queries: list[list[str]] = []

    def looked(credential_id: int, early: timedelta) -> Any:
        with CaptureQueriesContext(connection) as captured:
            found = claim_refresh(credential_id, early)
        queries.append([one["sql"] for one in captured.captured_queries])
        return found

    monkeypatch.setattr("providers.refresh.claim_refresh", looked)
    assert (await fresh_model(model, openai)).api_key.reveal() == "access-1"
    *waiting, taken = queries
    assert len(waiting) <= 8
    assert {len(one) for one in waiting} == {1}
    assert len(taken) > 1


@pytest.mark.parametrize("provider", ["snowflake-cortex", "gitlab"])
async def test_tokens_of_an_account_that_nobody_has_named_have_to_be_replaced(
    team: Team, alice: User, openai: OpenAIServer, provider: str
) -> None:
    nowhere = Grant(Secret("access-0"), Secret("refresh-0"), datetime.now(UTC))
    row = await in_db(keep_grant, team, provider, nowhere, actor=alice)
    with pytest.raises(SignInEnded):
        await fresh_model(await in_db(account_model, row), openai)
    assert (await Credential.objects.aget()).fault == "signed-out"
    assert not openai.requests
