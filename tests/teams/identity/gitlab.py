"""GitLab on loopback, as strict as the real one about codes, secrets, addresses and verifiers.

Source: config/initializers/doorkeeper_openid_connect.rb of GitLab, and the answers of Doorkeeper,
with which it is an OpenID Connect provider.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import httpx
import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from django.test import Client
from jwt.algorithms import RSAAlgorithm

from tests.web_server import answer, serve_any

_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
_REFUSED = "The provided authorization grant is invalid, expired or revoked."


@dataclass
class Person:
    """`number` never changes there; all else may."""

    number: int
    email: str
    confirmed: bool = True
    groups: list[str] = field(default_factory=list)

    def claims(self) -> dict[str, Any]:
        said = {"name": "Eve Example", "nickname": "eve", "preferred_username": "eve"}
        address = {"email": self.email, "email_verified": self.confirmed}
        return {"sub": str(self.number), "sub_legacy": "5d41402abc", **said, **address}


@dataclass
class Grant:
    """What a code was given for."""

    person: Person
    redirect_uri: str
    scope: str
    challenge: str
    nonce: str


@dataclass
class GitLab:
    """An instance with one application, and somebody who is signed in to it in the browser."""

    # Of an instance below a path, such as `/gitlab`.
    path: str = ""
    base: str = ""
    client_id: str = "0f0dd9"
    secret: str = "gloas-4b1d"
    redirect_uri: str = ""
    scopes: tuple[str, ...] = ("openid", "profile", "email")
    person: Person = field(default_factory=lambda: Person(7, "Eve@Corp.Example"))
    denies: bool = False
    codes: dict[str, Grant] = field(default_factory=dict)
    tokens: dict[str, Person] = field(default_factory=dict)

    def take(self, handler: BaseHTTPRequestHandler) -> None:
        parts = urlsplit(handler.path)
        length = int(handler.headers.get("content-length", 0))
        asked = dict(parse_qsl(parts.query or handler.rfile.read(length).decode()))
        match handler.command, parts.path.removeprefix(self.path):
            case "GET", "/.well-known/openid-configuration":
                self._say(handler, self._discovery())
            case "GET", "/oauth/discovery/keys":
                key = RSAAlgorithm.to_jwk(_KEY.public_key(), as_dict=True)
                row = {**key, "kid": "kewiQ", "use": "sig", "alg": "RS256"}
                self._say(handler, {"keys": [row]})
            case "GET", "/oauth/authorize":
                self._authorize(handler, asked)
            case "POST", "/oauth/token":
                self._exchange(handler, asked)
            case "GET", "/oauth/userinfo":
                token = handler.headers.get("authorization", "").removeprefix("Bearer ")
                person = self.tokens.get(token)
                body = {**person.claims(), "groups": person.groups} if person else {}
                self._say(handler, body, status=200 if person else 401)
            case _:
                self._say(handler, {"error": "404 Not Found"}, status=404)

    def _say(self, handler: BaseHTTPRequestHandler, body: Any, *, status: int = 200) -> None:
        kind = "application/json; charset=utf-8"
        answer(json.dumps(body).encode(), status=status, content_type=kind)(handler)

    def _discovery(self) -> dict[str, Any]:
        names = ("authorization", "authorize"), ("token", "token"), ("userinfo", "userinfo")
        return {
            "issuer": self.base,
            **{f"{name}_endpoint": f"{self.base}/oauth/{path}" for name, path in names},
            "jwks_uri": f"{self.base}/oauth/discovery/keys",
            "response_types_supported": ["code"],
            "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post"],
            "id_token_signing_alg_values_supported": ["RS256"],
            "code_challenge_methods_supported": ["plain", "S256"],
        }

    def _authorize(self, handler: BaseHTTPRequestHandler, asked: dict[str, str]) -> None:
        known = asked.get("client_id") == self.client_id
        if not known or asked.get("redirect_uri") != self.redirect_uri:
            # Nobody is sent to an address that the application does not have.
            self._say(handler, {"error": "invalid_redirect_uri"}, status=400)
            return
        scope = asked.get("scope", "")
        if self.denies:
            said = {"error": "access_denied"}
        elif asked.get("response_type") != "code":
            said = {"error": "unsupported_response_type"}
        elif not {"openid"} <= {*scope.split()} <= {*self.scopes}:
            said = {"error": "invalid_scope"}
        elif asked.get("code_challenge_method") != "S256":
            said = {"error": "invalid_code_challenge_method"}
        else:
            said = {"code": secrets.token_hex(32)}
            challenge, nonce = asked["code_challenge"], asked.get("nonce", "")
            grant = Grant(self.person, self.redirect_uri, scope, challenge, nonce)
            self.codes[said["code"]] = grant
        said["state"] = asked.get("state", "")
        answer(status=302, location=f"{self.redirect_uri}?{urlencode(said)}")(handler)

    def _exchange(self, handler: BaseHTTPRequestHandler, asked: dict[str, str]) -> None:
        if (asked.get("client_id"), asked.get("client_secret")) != (self.client_id, self.secret):
            self._say(handler, {"error": "invalid_client"}, status=401)
            return
        grant = self.codes.get(asked.get("code", ""))
        digest = hashlib.sha256(asked.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        if (
            grant is None
            or asked.get("grant_type") != "authorization_code"
            or (grant.redirect_uri, grant.challenge) != (asked.get("redirect_uri"), challenge)
        ):
            body = {"error": "invalid_grant", "error_description": _REFUSED}
            self._say(handler, body, status=400)
            return
        del self.codes[asked["code"]]
        token = secrets.token_hex(32)
        self.tokens[token] = grant.person
        body = {"access_token": token, "token_type": "Bearer", "expires_in": 7200}
        self._say(handler, {**body, "scope": grant.scope, "id_token": self._id_token(grant)})

    def _id_token(self, grant: Grant) -> str:
        now = int(time.time())
        own = {"iss": self.base, "aud": self.client_id, "iat": now, "exp": now + 120}
        groups = [one for one in grant.person.groups if "/" not in one]
        claims = {**own, "nonce": grant.nonce, **grant.person.claims(), "groups_direct": groups}
        return jwt.encode(claims, _KEY, algorithm="RS256", headers={"kid": "kewiQ"})

    def visit(self, client: Client) -> httpx.Response:
        """Press the button here, and follow it. Returns: what GitLab answers the browser."""
        page = client.post("/login/with/gitlab")
        assert page.status_code == 200, page["Location"]
        found = re.search(r'url=([^"]+)"', page.content.decode())
        assert found is not None
        return httpx.get(found[1].replace("&amp;", "&"), trust_env=False)

    def sign_in(self, client: Client) -> Any:
        """Returns: where this server sends a browser that GitLab has sent back."""
        visited = self.visit(client)
        assert visited.status_code == 302, visited.text
        back = urlsplit(visited.headers["location"])
        return client.get(back.path, dict(parse_qsl(back.query)))


@contextmanager
def running_gitlab(path: str = "") -> Iterator[GitLab]:
    gitlab = GitLab(path)
    with serve_any(gitlab.take) as base:
        gitlab.base = f"{base}{path}"
        yield gitlab
