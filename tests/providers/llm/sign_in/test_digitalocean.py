from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import httpx
import pytest

from providers.llm.sign_in import Grant, Http
from providers.llm.sign_in.digitalocean import list_routers
from providers.llm.sign_in.errors import BadCode, Denied, SignedOut, SignInError, Unavailable
from tests.providers.llm.sign_in.test_pages import known

API = "https://api.digitalocean.com/v2"


class DigitalOceanServer(httpx.AsyncBaseTransport):
    """Gives a token in the fragment, and keys to whoever has it."""

    def __init__(self) -> None:
        self.token = "doo_v1_token"
        self.keys: dict[str, str] = {}
        self.is_down = False
        self.requests: list[httpx.Request] = []

    def visit(self, url: str, **answer: str) -> str:
        at = urlsplit(url)
        assert at[:3] == ("https", "cloud.digitalocean.com", "/v1/oauth/authorize")
        query = dict(parse_qsl(at.query, strict_parsing=True))
        state = query.pop("state")
        assert len(state) >= 32
        assert query == {
            "response_type": "token",
            "client_id": "b1a6c5158156caac821fd1b30253ca8acb52454a48fa744420e41889cb589f82",
            "redirect_uri": "http://localhost:1456/auth/callback",
            "scope": "read write",
        }
        given = answer or {"access_token": self.token, "expires_in": "2592000"}
        return f"{query['redirect_uri']}#{urlencode({**given, 'state': state})}"

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        await request.aread()
        self.requests.append(request)
        if self.is_down:
            return httpx.Response(503)
        if request.headers["authorization"] != f"Bearer {self.token}":
            return httpx.Response(401, json={"id": "unauthorized", "message": "no"})
        status, body = self.answer(request)
        return httpx.Response(status, json=body)

    def answer(self, request: httpx.Request) -> tuple[int, Any]:
        path = str(request.url).removeprefix(API)
        match request.method, path.rpartition("/"):
            case "POST", _ if path == "/gen-ai/models/api_keys":
                name = json.loads(request.content)["name"]
                assert name.startswith("opencode-oauth-")
                self.keys["uuid-1"] = name
                made = {"uuid": "uuid-1", "name": name, "secret_key": "sk-do-1"}
                return 201, {"api_key_info": made}
            case "DELETE", ("/gen-ai/models/api_keys", _, key):
                return (204, None) if self.keys.pop(key, None) else (404, {"id": "not_found"})
            case "GET", _ if path == "/account":
                return 200, {"account": {"email": "erin@example.com"}}
            case "GET", _ if path == "/gen-ai/models/routers":
                routers = [{"name": "fast", "uuid": "u", "description": "Quick"}, {"uuid": "bad"}]
                return 200, {"model_routers": routers}
        return 404, {}


@pytest.fixture
def server() -> DigitalOceanServer:
    return DigitalOceanServer()


async def granted(server: DigitalOceanServer) -> Grant:
    sign_in, http = known("digitalocean"), Http(server)
    begun = await sign_in.begin("browser", {}, http)
    return await sign_in.finish(begun.state, server.visit(begun.url), http)


async def test_a_token_in_the_fragment_becomes_a_key(server: DigitalOceanServer) -> None:
    grant = await granted(server)
    assert grant.access.reveal() == "sk-do-1"
    assert grant.account == "erin@example.com"
    assert grant.expires_at is None
    assert server.token not in repr(grant)


async def test_signing_out_deletes_the_key(server: DigitalOceanServer) -> None:
    grant = await granted(server)
    await known("digitalocean").revoke(grant, Http(server))
    assert not server.keys
    # Somebody may have been quicker.
    await known("digitalocean").revoke(grant, Http(server))


async def test_a_key_that_stays_because_the_token_has_ended_is_said(
    server: DigitalOceanServer,
) -> None:
    grant = await granted(server)
    server.token = "another"
    with pytest.raises(SignedOut, match="Delete it at DigitalOcean"):
        await known("digitalocean").revoke(grant, Http(server))


async def test_a_pasted_key_is_not_deleted(server: DigitalOceanServer) -> None:
    grant = known("digitalocean").with_key("key", {}, "sk-do-2")
    await known("digitalocean").revoke(grant, Http(server))
    assert await list_routers(grant, Http(server)) == {}
    assert not server.requests


async def test_routers_are_models(server: DigitalOceanServer) -> None:
    grant = await granted(server)
    assert await list_routers(grant, Http(server)) == {
        "router:fast": {"name": "fast", "tool_call": True}
    }
    server.token = "another"
    with pytest.raises(SignedOut):
        await list_routers(grant, Http(server))


@pytest.mark.parametrize("pasted", ["doo_v1_token", "http://localhost:1456/auth/callback", ""])
async def test_a_token_without_its_address_is_never_taken(
    server: DigitalOceanServer, pasted: str
) -> None:
    sign_in, http = known("digitalocean"), Http(server)
    begun = await sign_in.begin("browser", {}, http)
    with pytest.raises(BadCode):
        await sign_in.finish(begun.state, pasted, http)
    assert not server.requests


async def test_an_address_of_another_attempt_is_refused(server: DigitalOceanServer) -> None:
    sign_in, http = known("digitalocean"), Http(server)
    first, second = [await sign_in.begin("browser", {}, http) for _ in range(2)]
    with pytest.raises(BadCode):
        await sign_in.finish(second.state, server.visit(first.url), http)
    assert not server.requests


async def test_a_person_may_say_no(server: DigitalOceanServer) -> None:
    sign_in, http = known("digitalocean"), Http(server)
    begun = await sign_in.begin("browser", {}, http)
    with pytest.raises(Denied):
        await sign_in.finish(begun.state, server.visit(begun.url, error="access_denied"), http)


async def test_a_vendor_that_is_down_or_refuses_gives_no_key(server: DigitalOceanServer) -> None:
    server.is_down = True
    with pytest.raises(Unavailable):
        await granted(server)
    server.is_down, address_token = False, server.token
    sign_in, http = known("digitalocean"), Http(server)
    begun = await sign_in.begin("browser", {}, http)
    address = server.visit(begun.url)
    server.token = "another"
    with pytest.raises(SignInError) as caught:
        await sign_in.finish(begun.state, address, http)
    assert address_token not in str(caught.value)
