from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from opencode_web.lib.outbound import NO_ANSWER
from tests.web_server import answer, serve_any
from tools.errors import ToolError
from tools.mcp.remote import oauth
from tools.mcp.sign_in import Attempt, Client, NeedsRegistration, Wish

BACK = "http://127.0.0.1:8000/oauth/mcp"


@contextmanager
def authority(**other: Any) -> Iterator[str]:
    """A server that describes its sign-in, and registers clients. `other` is what differs, by path;
    BASE in it is the server's own address."""

    def take(handler: BaseHTTPRequestHandler) -> None:
        base = f"http://{handler.headers['host']}"
        known: dict[str, Any] = {
            "resource": {"resource": f"{base}/mcp", "authorization_servers": [base]},
            "server": {
                "issuer": base,
                "authorization_endpoint": f"{base}/authorize?tenant=1",
                "token_endpoint": f"{base}/token",
                "registration_endpoint": f"{base}/register",
                "code_challenge_methods_supported": ["S256"],
            },
            "register": {"client_id": "c"},
        }
        path = handler.path.split("?")[0]
        names = {"oauth-protected-resource": "resource", "oauth-authorization-server": "server"}
        name = next((one for part, one in names.items() if part in path), path.strip("/"))
        if isinstance(other.get(name), int) or name not in known:
            answer(b"", status=other.get(name, 404))(handler)
            return
        handler.rfile.read(int(handler.headers.get("content-length") or 0))
        changed = json.loads(json.dumps(other.get(name, {})).replace("BASE", base))
        body = {key: one for key, one in {**known[name], **changed}.items() if one is not None}
        answer(json.dumps(body).encode(), content_type="application/json")(handler)

    with serve_any(take) as base:
        yield base


def wish(base: str, **more: Any) -> Wish:
    return Wish(url=f"{base}/mcp", challenge="", redirect_uri=BACK, **more)


async def test_the_browser_is_sent_where_the_server_says() -> None:
    with authority(resource={"scopes_supported": ["a", "b"]}) as base:
        begun = await (await oauth()).begin(wish(base))
    url = begun.authorization_url
    assert url.startswith(f"{base}/authorize?tenant=1&response_type=code&client_id=c&")
    assert "&scope=a+b" in url
    assert f"&state={begun.state}&" in url
    assert begun.attempt.verifier not in url


async def test_what_is_not_safe_is_not_begun(subtests: pytest.Subtests) -> None:
    """FEAT-0008 NFR-02."""
    cases = [
        (
            {"resource": {"resource": "https://other.example/mcp"}},
            "metadata is for another",
        ),
        ({"server": {"issuer": "https://other.example"}}, "authorization server is for another"),
        ({"server": {"code_challenge_methods_supported": ["plain"]}}, "PKCE with S256"),
        ({"server": {"code_challenge_methods_supported": None}}, "PKCE with S256"),
        ({"server": {"registration_endpoint": None}}, "registers no clients by itself"),
        ({"register": 403}, "refused to register a client: 403"),
        ({"register": {"client_id": ""}}, "cannot be used"),
        ({"register": {"token_endpoint_auth_method": "private_key_jwt"}}, "cannot be used"),
        ({"resource": 503}, "responded with status 503"),
        ({"resource": 404, "server": 404}, "does not say where to sign in"),
        ({"server": {"authorization_endpoint": "http://u:p@h/"}}, "cannot be used"),
        ({"server": {"token_endpoint": "https://[::1/"}}, "does not say where to sign in"),
        ({"server": {"scopes_supported": ["x" * 300_000]}}, "too large"),
    ]
    for other, why in cases:
        with (
            subtests.test(other=other),
            authority(**other) as base,
            pytest.raises(ToolError, match=why),
        ):
            await (await oauth()).begin(wish(base))


async def test_a_registration_that_is_needed_is_told_from_other_errors() -> None:
    with authority(server={"registration_endpoint": None}) as base:
        url = f"{base}/mcp"
        with pytest.raises(NeedsRegistration):
            await (await oauth()).survey(url, "", has_client=False)
        await (await oauth()).survey(url, "", has_client=True)


@pytest.mark.usefixtures("private_closed")
async def test_secrets_go_over_tls_and_to_public_addresses_only() -> None:
    with pytest.raises(ToolError, match="not use https"):
        await (await oauth()).begin(wish("http://mcp.example.com"))
    with pytest.raises(ToolError, match=NO_ANSWER):
        await (await oauth()).begin(wish("https://127.0.0.1:9"))


@pytest.mark.parametrize(
    ("issuer", "names_itself"), [("https://other.example", False), (None, True)]
)
async def test_an_answer_from_elsewhere_is_not_exchanged(
    issuer: str | None, names_itself: bool
) -> None:
    """FEAT-0008 NFR-02."""
    client = Client(
        issuer="https://a.example",
        token_url="https://a.example/token",
        resource="r",
        redirect_uri=BACK,
        client_id="c",
        names_itself=names_itself,
    )
    attempt = Attempt(client=client, verifier="v")
    with pytest.raises(ToolError, match="not come from the server where"):
        await (await oauth()).finish(attempt, "code", issuer)


async def test_what_a_refusal_says_beside_its_code_is_not_shown() -> None:
    def refuse(handler: BaseHTTPRequestHandler) -> None:
        given = handler.rfile.read(int(handler.headers["content-length"])).decode()
        body = {"error": "invalid_grant", "error_description": given}
        answer(json.dumps(body).encode(), status=400)(handler)

    with serve_any(refuse) as base:
        client = Client(
            issuer=base,
            token_url=f"{base}/token",
            resource="r",
            redirect_uri=BACK,
            client_id="c",
            client_secret="s3cret",
            method="client_secret_post",
        )
        with pytest.raises(ToolError) as raised:
            await (await oauth()).finish(Attempt(client=client, verifier="v"), "code", None)
    assert raised.value.message == "The sign-in was rejected with status 400 (invalid_grant)."


@pytest.mark.parametrize("life", [10**400, -(10**400), 10**18])
async def test_a_life_that_no_clock_can_show_is_cut(life: int) -> None:
    def give(handler: BaseHTTPRequestHandler) -> None:
        handler.rfile.read(int(handler.headers["content-length"]))
        given = {"access_token": "a", "token_type": "Bearer", "refresh_token": "r"}
        lives = {"expires_in": life, "refresh_expires_in": life}
        answer(json.dumps({**given, **lives}).encode(), content_type="application/json")(handler)

    with serve_any(give) as base:
        to = {"issuer": base, "token_url": f"{base}/token", "resource": "r", "client_id": "c"}
        attempt = Attempt(client=Client(**to, redirect_uri=BACK), verifier="v")
        grant = await (await oauth()).finish(attempt, "code", None)
    for ends in (grant.expires_at, grant.ends_at):
        assert ends is not None
        assert datetime.now(UTC) <= datetime.fromtimestamp(ends + 60, UTC)
