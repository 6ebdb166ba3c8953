from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test import AsyncClient
from django.utils import timezone

from opencode_web.lib.db import in_db
from providers import sign_ins
from providers.models import ProviderConfig, SignInAttempt
from sessions.models import Project
from teams.models import User
from tests.providers.llm.sign_in.vendors import GitHubServer, OpenAIServer
from tests.sessions.api.conftest import ConnectAsync

JSON = "application/json"
KEY = {"Idempotency-Key": "8e03978e-40d5-43e8-bc93-6894a57f9324"}
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def caller(alice: User, project: Project, connect_async: ConnectAsync) -> AsyncClient:
    return connect_async(alice)


@pytest.fixture
def github(internet: dict[str, Any]) -> GitHubServer:
    server = GitHubServer()
    internet.update({"github.com": server, "api.github.com": server})
    return server


@pytest.fixture
def openai(internet: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> OpenAIServer:
    """Where no question is asked within a transaction."""
    server = internet["auth.openai.com"] = OpenAIServer()
    ask = sign_ins._ask

    # The loop of the question itself sees no connection of its thread.
    def apart(work: Any) -> Any:
        assert not connection.in_atomic_block
        return ask(work)

    monkeypatch.setattr(sign_ins, "_ask", apart)
    return server


async def begin(caller: AsyncClient, here: str, provider: str, method: str) -> dict[str, Any]:
    address = f"/api/integration/{provider}/connect/oauth?{here}"
    body = {"methodID": method, "inputs": {}}
    begun = await caller.post(address, body, content_type=JSON)
    found: dict[str, Any] = begun.json()["data"]
    return found


@pytest.mark.parametrize(("method", "below"), [("get", ""), ("delete", ""), ("post", "/complete")])
async def test_an_attempt_that_nobody_made_is_not_found(
    caller: AsyncClient, here: str, method: str, below: str
) -> None:
    address = f"/api/integration/attempt/a{below}?{here}"
    more = {"data": {"code": "x"}, "content_type": JSON} if below else {}
    answer = await getattr(caller, method)(address, **more)
    assert (answer.status_code, answer.json()["_tag"]) == (404, "NotFoundError")


async def test_a_sign_in_begins_is_asked_after_and_is_complete(
    caller: AsyncClient, here: str, alice: User, github: GitHubServer
) -> None:
    begun = await begin(caller, here, "github-copilot", "device")
    assert (begun["mode"], begun["url"]) == ("auto", "https://github.com/device")
    [code] = github.devices
    assert code in begun["instructions"]
    status = f"/api/integration/attempt/{begun['attemptID']}?{here}"
    assert (await caller.get(status)).json()["data"]["status"] == "pending"
    github.enter(code, is_allowed=True)
    github.clock += 9
    await SignInAttempt.objects.aupdate(next_poll_at=timezone.now())
    assert (await caller.get(status)).json()["data"]["status"] == "complete"
    row = await ProviderConfig.objects.aget(provider_id="github-copilot")
    assert row.owner_id == alice.pk


async def test_a_sign_in_that_failed_or_was_given_up_says_so(
    caller: AsyncClient, here: str, github: GitHubServer
) -> None:
    begun = await begin(caller, here, "github-copilot", "device")
    status = f"/api/integration/attempt/{begun['attemptID']}?{here}"
    [code] = github.devices
    github.enter(code, is_allowed=False)
    github.clock += 9
    await SignInAttempt.objects.aupdate(next_poll_at=timezone.now())
    ended = (await caller.get(status)).json()["data"]
    assert (ended["status"], "denied" in ended["message"]) == ("failed", True)
    begun = await begin(caller, here, "github-copilot", "device")
    status = f"/api/integration/attempt/{begun['attemptID']}?{here}"
    assert (await caller.delete(status)).status_code == 204
    assert (await caller.get(status)).json()["data"]["status"] == "expired"


async def test_no_transaction_waits_for_a_vendor_although_a_key_is_sent(
    caller: AsyncClient, here: str, openai: OpenAIServer
) -> None:
    body = {"method": 1, "inputs": {}}
    address = "/provider/openai/oauth/authorize"
    for _ in range(2):
        begun = await caller.post(address, body, content_type=JSON, headers=KEY)
        assert begun.status_code == 200, begun.content
    assert len(openai.devices) == 1


async def test_a_sign_in_that_fails_stays_failed_although_a_key_was_sent(
    caller: AsyncClient, here: str, openai: OpenAIServer
) -> None:
    begun = await begin(caller, here, "openai", "browser")
    address = f"/api/integration/attempt/{begun['attemptID']}/complete?{here}"
    body = {"code": openai.deny(begun["url"])}
    ended = await caller.post(address, body, content_type=JSON, headers=KEY)
    assert ended.status_code == 400
    attempt = await SignInAttempt.objects.aget(pk=begun["attemptID"])
    assert (attempt.status, attempt.fault, attempt.state) == ("failed", "Denied", "")
    begun = await begin(caller, here, "openai", "browser")
    address = f"/api/integration/attempt/{begun['attemptID']}/complete?{here}"
    body = {"code": await in_db(openai.allow, begun["url"])}
    for _ in range(2):
        ended = await caller.post(
            address, body, content_type=JSON, headers={"Idempotency-Key": "another"}
        )
        assert ended.status_code == 204
