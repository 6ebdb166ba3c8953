"""The genuine client of the MCP package, connected to a server by OAuth."""

from __future__ import annotations

import html
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit

import httpx
import httpx2
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthToken,
)
from pydantic import AnyUrl

from tests.e2e.installation import Installation

# Nothing listens there unless a test does.
BACK = "http://127.0.0.1:53127/callback"
_CSRF = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')
_LEADS = re.compile(r'http-equiv="refresh" content="0;url=([^"]*)"')
_TEAM = re.compile(r'<option value="([^"]+)"')
# From the address that a person is sent to, to the one that they are sent back to.
Decide = Callable[[str], str]


@dataclass
class Storage:
    """What a client keeps."""

    tokens: OAuthToken | None = None
    client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


@dataclass
class Connection:
    """One client. `decide` plays the person and their browser."""

    server: Installation
    decide: Decide
    back: str = BACK
    storage: Storage = field(default_factory=Storage)
    sent_to: list[str] = field(default_factory=list)
    requested: list[str] = field(default_factory=list)
    provider: OAuthClientProvider | None = None

    @property
    def secret(self) -> str:
        assert self.storage.tokens is not None
        return self.storage.tokens.access_token

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[Client]:
        async def note(request: httpx2.Request) -> None:
            self.requested.append(request.url.path)

        async def redirect(url: str) -> None:
            self.sent_to.append(url)

        async def callback() -> AuthorizationCodeResult:
            query = parse_qs(urlsplit(self.decide(self.sent_to[-1])).query)
            found = {key: values[0] for key, values in query.items()}
            return AuthorizationCodeResult(
                code=found.get("code", ""), state=found.get("state"), iss=found.get("iss")
            )

        wanted = OAuthClientMetadata(redirect_uris=[AnyUrl(self.back)], client_name="Genuine")
        provider = OAuthClientProvider(
            f"{self.server.url}/mcp", wanted, self.storage, redirect, callback
        )
        self.provider = provider
        async with httpx2.AsyncClient(
            auth=provider, timeout=60, event_hooks={"request": [note]}
        ) as http:
            transport = streamable_http_client(f"{self.server.url}/mcp", http_client=http)
            async with Client(transport) as client:
                yield client


def deciding(server: Installation, email: str = "", **form: str) -> Decide:
    """Returns: a person, by default of the fixture, who sends this form for their first team."""

    def decide(url: str) -> str:
        with httpx.Client(timeout=60, verify=False) as browser:
            browser.cookies.set("sessionid", server.sign_in(email or server.email))
            page = browser.get(url)
            assert page.status_code == 200, page.text
            token, team = _CSRF.search(page.text), _TEAM.search(page.text)
            assert token
            assert team
            sent = {"csrfmiddlewaretoken": token[1], "team": team[1], **form}
            answer = browser.post(url, data=sent, headers={"Referer": url})
            found = _LEADS.search(answer.text)
            assert found, answer.text
            return html.unescape(found[1])

    return decide
