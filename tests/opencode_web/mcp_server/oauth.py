"""An MCP client that is connected step by step, so that each step can go wrong."""

from __future__ import annotations

import base64
import hashlib
import html
import re
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from django.test import Client

from teams.models import User

BACK = "https://claude.example/callback"
LOCAL = "http://127.0.0.1/callback"
STATE = "the & state="
VERIFIER = "v" * 43
RESOURCE = "http://testserver/mcp"
# A program, not a browser.
PROGRAM = Client()
_LEADS = re.compile(r'http-equiv="refresh" content="0;url=([^"]*)"')


def challenge_of(verifier: str) -> str:
    digest = hashlib.sha256(verifier.encode()).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


def registered(*uris: str, **more: Any) -> Any:
    body = {"redirect_uris": list(uris), "client_name": "Claude", **more}
    return PROGRAM.post("/oauth/register", body, content_type="application/json")


def client_id_of(*uris: str, **more: Any) -> str:
    response = registered(*(uris or (BACK,)), **more)
    assert response.status_code == 201, response.content
    return str(response.json()["client_id"])


def address(client_id: str, *pairs: tuple[str, str], without: str = "", **changes: str) -> str:
    asked = {
        "response_type": "code",
        "client_id": client_id,
        "redirect_uri": BACK,
        "state": STATE,
        "code_challenge": challenge_of(VERIFIER),
        "code_challenge_method": "S256",
        "resource": RESOURCE,
        **changes,
    }
    asked.pop(without, None)
    return f"/oauth/authorize?{urlencode([*asked.items(), *pairs])}"


def browser_of(user: User, **more: Any) -> Client:
    browser = Client(**more)
    browser.force_login(user)
    return browser


def way_of(response: Any) -> str:
    """Returns: where a page leads on to by itself; nowhere is ""."""
    text = response.content.decode()
    assert "Location" not in response, response["Location"]
    found = _LEADS.search(text)
    assert found is None or f'href="{found[1]}"' in text
    return html.unescape(found[1]) if found else ""


def answer_of(response: Any) -> dict[str, str]:
    """Returns: what a browser is sent back to a client with."""
    assert response.status_code == 200, response.content.decode()
    query = parse_qs(urlsplit(way_of(response)).query, strict_parsing=True)
    return {key: value for key, (value,) in query.items()}


def code_of(user: User, client_id: str, *, scope: str = "write", **changes: str) -> str:
    form = {"team": "acme", "scope": scope}
    return answer_of(browser_of(user).post(address(client_id, **changes), form))["code"]


def redeemed(client_id: str, code: str, **changes: Any) -> Any:
    asked = {
        "grant_type": "authorization_code",
        "client_id": client_id,
        "code": code,
        "code_verifier": VERIFIER,
        "redirect_uri": BACK,
        "resource": RESOURCE,
        **changes,
    }
    return PROGRAM.post("/oauth/token", {key: value for key, value in asked.items() if value})


def token_of(user: User, *, client_id: str = "", scope: str = "write") -> str:
    client_id = client_id or client_id_of()
    response = redeemed(client_id, code_of(user, client_id, scope=scope))
    assert response.status_code == 200, response.content
    return str(response.json()["access_token"])
