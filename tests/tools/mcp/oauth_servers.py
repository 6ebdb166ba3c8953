"""A genuine MCP server with a genuine sign-in on loopback, where everybody is let in at once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import httpx

from tests.tools.mcp.remote_servers import running

# argv: seconds that a token counts, and `open` where clients register themselves.
SCRIPT = """
import secrets, socket, sys, time
import uvicorn
from mcp.server.auth.provider import (
    AccessToken, AuthorizationCode, RefreshToken, construct_redirect_uri
)
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions, RevocationOptions
from mcp.server.mcpserver import Context, MCPServer
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from starlette.responses import JSONResponse

listening = socket.create_server(("127.0.0.1", 0))
base = f"http://127.0.0.1:{listening.getsockname()[1]}"
life_s, is_open = int(sys.argv[1]), sys.argv[2] == "open"
clients, codes, access, refresh = {}, {}, {}, {}
counts = {"registered": 0, "renewed": 0, "revoked": 0}
clients["by-hand"] = OAuthClientInformationFull(
    client_id="by-hand", client_secret="hand-secret", redirect_uris=["http://testserver/oauth/mcp"],
    token_endpoint_auth_method="client_secret_basic", scope="stock",
)

class Provider:
    async def get_client(self, client_id):
        return clients.get(client_id)

    async def register_client(self, client):
        counts["registered"] += 1
        clients[client.client_id] = client

    async def authorize(self, client, params):
        code = secrets.token_hex(16)
        codes[code] = AuthorizationCode(
            code=code, scopes=params.scopes or ["stock"], expires_at=time.time() + 60,
            client_id=client.client_id, code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri, resource=params.resource,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
        )
        return construct_redirect_uri(str(params.redirect_uri), code=code, state=params.state)

    async def load_authorization_code(self, client, code):
        return codes.get(code)

    def _give(self, of):
        token, again = "at-" + secrets.token_hex(16), "rt-" + secrets.token_hex(16)
        common = dict(client_id=of.client_id, scopes=of.scopes, resource=of.resource)
        access[token] = AccessToken(token=token, expires_at=int(time.time()) + life_s, **common)
        refresh[again] = RefreshToken(token=again, **common)
        return OAuthToken(
            access_token=token, refresh_token=again, expires_in=life_s, scope=" ".join(of.scopes)
        )

    async def exchange_authorization_code(self, client, code):
        del codes[code.code]
        return self._give(code)

    async def load_refresh_token(self, client, token):
        return refresh.get(token)

    async def exchange_refresh_token(self, client, token, scopes):
        counts["renewed"] += 1
        del refresh[token.token]
        return self._give(token)

    async def load_access_token(self, token):
        return access.get(token)

    async def revoke_token(self, token):
        counts["revoked"] += 1
        access.pop(token.token, None)
        refresh.pop(token.token, None)

server = MCPServer(
    "shop", instructions="Ask for stock first.", log_level="CRITICAL",
    auth_server_provider=Provider(),
    auth=AuthSettings(
        issuer_url=base, resource_server_url=base + "/mcp", required_scopes=["stock"],
        validate_token_resource=True, revocation_options=RevocationOptions(enabled=True),
        client_registration_options=ClientRegistrationOptions(
            enabled=is_open, valid_scopes=["stock"], default_scopes=["stock"]
        ),
    ),
)

@server.resource("shop://opening-hours")
def hours() -> str:
    return "9 to 5"

@server.tool()
def stock(item: str, ctx: Context) -> str:
    return f"1 of {item} for {ctx.request_context.request.headers['authorization']}"

@server.custom_route("/test/{what}", methods=["GET"])
async def test(request):
    what = request.path_params["what"]
    if what in ("forget-access", "forget-all"):
        access.clear()
    if what == "forget-all":
        refresh.clear()
    return JSONResponse(counts)

app = server.streamable_http_app()
print(listening.getsockname()[1], flush=True)
uvicorn.Server(uvicorn.Config(app, log_level="critical")).run(sockets=[listening])
"""


@dataclass(frozen=True)
class GuardedShop:
    """`url` is the server's own address."""

    base: str

    @property
    def url(self) -> str:
        return self.base + "/mcp"

    def tell(self, what: str) -> dict[str, int]:
        """Have it `forget-access` or `forget-all`, or nothing. Returns: what it counted."""
        counts: dict[str, int] = json.loads(httpx.get(f"{self.base}/test/{what}").text)
        return counts

    def visit(self, authorization_url: str) -> httpx.URL:
        """Go there as a browser does. Returns: where it is sent back to."""
        answer = httpx.get(authorization_url)
        assert answer.status_code == 302, answer.text
        return httpx.URL(answer.headers["location"])


@contextmanager
def guarded_shop(*, life_s: int = 3600, registers: bool = True) -> Iterator[GuardedShop]:
    with running(SCRIPT, str(life_s), "open" if registers else "closed") as base:
        yield GuardedShop(base)
