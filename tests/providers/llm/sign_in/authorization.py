"""An authorization server that refuses what real ones refuse, and the person in front of it."""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import re
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import httpx

Json = dict[str, Any]
VERIFIER = re.compile(r"[A-Za-z0-9._~-]{43,128}")
DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"


def jwt(**claims: Any) -> str:
    parts = ({"alg": "RS256"}, claims)
    head, body = (
        base64.urlsafe_b64encode(json.dumps(p).encode()).decode().rstrip("=") for p in parts
    )
    return f"{head}.{body}.c2lnbmF0dXJl"


def challenge_of(verifier: str) -> str:
    digest = hashlib.sha256(verifier.encode()).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


@dataclass
class Device:
    """A code that somebody may enter. `is_allowed`: None while nobody has."""

    interval_s: float
    asked_at: float
    is_allowed: bool | None = None
    is_expired: bool = False


@dataclass
class Facts:
    """What a vendor's server knows of its client."""

    host: str
    client_id: str
    redirect_uri: str
    scope: str
    authorize: str = "/oauth/authorize"
    token: str = "/oauth/token"
    device: str = ""
    revoke: str = ""
    token_host: str = ""
    params: Json = field(default_factory=dict)
    secret: str = ""
    takes_json: bool = False
    # GitHub says 200 and an error in the body.
    error_status: int = 400
    rotates: bool = True


class Authorization(httpx.AsyncBaseTransport):
    """`clock` is its time in seconds; `outage` what it answers instead of anything else."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.clock = 0.0
        self.outage: httpx.Response | Exception | None = None
        self.requests: list[httpx.Request] = []
        self.codes: dict[str, Json] = {}
        self.devices: dict[str, Device] = {}
        self.refresh_tokens: set[str] = set()
        self.used: set[str] = set()
        self.revoked: set[str] = set()
        self.numbers = itertools.count(1)

    # The person

    def visit(self, url: str) -> Json:
        """Look at the page: the server's own check of its address."""
        facts = self.facts
        at = urlsplit(url)
        assert (at.scheme, at.netloc, at.path) == ("https", facts.host, facts.authorize)
        query = dict(parse_qsl(at.query, strict_parsing=True))
        asked = {
            "response_type": "code",
            "client_id": facts.client_id,
            "redirect_uri": facts.redirect_uri,
            "scope": facts.scope,
            "code_challenge_method": "S256",
            **facts.params,
        }
        assert {name: query.get(name) for name in asked} == asked
        assert len(query["state"]) >= 32
        return query

    def allow(self, url: str) -> str:
        """Returns: the address that the browser is sent to."""
        query = self.visit(url)
        code = f"code-{next(self.numbers)}"
        self.codes[code] = query
        return f"{query['redirect_uri']}?{urlencode({'code': code, 'state': query['state']})}"

    def deny(self, url: str) -> str:
        query = self.visit(url)
        error = {"error": "access_denied", "state": query["state"]}
        return f"{query['redirect_uri']}?{urlencode(error)}"

    def enter(self, user_code: str, *, is_allowed: bool) -> None:
        self.devices[user_code].is_allowed = is_allowed

    # The server

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        await request.aread()
        self.requests.append(request)
        if isinstance(self.outage, Exception):
            raise self.outage
        if self.outage is not None:
            return self.outage
        # A redirect may not be followed, and nothing may be asked in the clear.
        assert request.url.scheme == "https"
        status, body = self.answer(request)
        return httpx.Response(status, content=_one(json.dumps(body).encode()))

    def answer(self, request: httpx.Request) -> tuple[int, Json]:
        facts = self.facts
        where = (request.url.host, request.url.path)
        if request.method != "POST":
            return 404, {}
        if facts.device and where == (facts.host, facts.device):
            return self.on_device(self.fields(request))
        if where == (facts.token_host or facts.host, facts.token):
            if facts.secret and request.headers.get("authorization") != self.basic():
                return 401, {"error": "invalid_client"}
            return self.on_token(self.fields(request))
        if facts.revoke and where == (facts.host, facts.revoke):
            return self.on_revoke(self.fields(request))
        return 404, {}

    def basic(self) -> str:
        pair = f"{self.facts.client_id}:{self.facts.secret}".encode()
        return f"Basic {base64.b64encode(pair).decode()}"

    def fields(self, request: httpx.Request) -> Json:
        is_json = request.headers["content-type"] == "application/json"
        assert is_json == self.facts.takes_json
        assert request.headers["accept"] == "application/json"
        text = request.content.decode()
        return json.loads(text) if is_json else dict(parse_qsl(text, strict_parsing=True))

    def refuse(self, code: str, **more: Any) -> tuple[int, Json]:
        return self.facts.error_status, {"error": code, "error_description": "secret words", **more}

    def on_token(self, form: Json) -> tuple[int, Json]:
        if form.get("client_id") != self.facts.client_id:
            return self.refuse("invalid_client")
        match form.get("grant_type"):
            case "authorization_code":
                return self.on_code(form)
            case "refresh_token":
                return self.on_refresh(form)
            case str(kind) if kind == DEVICE_GRANT and self.facts.device:
                return self.on_poll(form)
        return self.refuse("unsupported_grant_type")

    def on_code(self, form: Json) -> tuple[int, Json]:
        asked = self.codes.pop(form.get("code", ""), None)
        verifier = form.get("code_verifier", "")
        if asked is None or asked["code_challenge"] != challenge_of(verifier):
            return self.refuse("invalid_grant")
        if not VERIFIER.fullmatch(verifier) or form.get("redirect_uri") != asked["redirect_uri"]:
            return self.refuse("invalid_grant")
        return 200, self.tokens()

    def on_refresh(self, form: Json) -> tuple[int, Json]:
        token = form.get("refresh_token", "")
        if token not in self.refresh_tokens:
            return self.refuse("invalid_grant")
        answer = self.tokens()
        if self.facts.rotates:
            self.refresh_tokens.remove(token)
            self.used.add(token)
        else:
            del answer["refresh_token"]
        return 200, answer

    def on_device(self, form: Json) -> tuple[int, Json]:
        if form != {"client_id": self.facts.client_id, "scope": self.facts.scope}:
            return self.refuse("invalid_client")
        user_code = f"WDJB-{next(self.numbers):04}"
        self.devices[user_code] = Device(5, self.clock)
        return 200, {
            "device_code": f"device-{user_code}",
            "user_code": user_code,
            "verification_uri": f"https://{self.facts.host}/device",
            "expires_in": 900,
            "interval": 5,
        }

    def on_poll(self, form: Json) -> tuple[int, Json]:
        device = self.devices.get(form.get("device_code", "").removeprefix("device-"))
        if device is None:
            return self.refuse("invalid_grant")
        is_early = self.clock - device.asked_at < device.interval_s
        device.asked_at = self.clock
        if device.is_expired:
            return self.refuse("expired_token")
        if is_early:
            device.interval_s += 5
            return self.refuse("slow_down", **self.slower(device))
        if device.is_allowed is None:
            return self.refuse("authorization_pending")
        if not device.is_allowed:
            return self.refuse("access_denied")
        self.devices.clear()
        return 200, self.tokens()

    def slower(self, device: Device) -> Json:
        return {}

    def on_revoke(self, form: Json) -> tuple[int, Json]:
        if form.get("client_id") != self.facts.client_id:
            return self.refuse("invalid_client")
        self.revoked.add(form["token"])
        self.refresh_tokens.discard(form["token"])
        return 200, {}

    def tokens(self) -> Json:
        number = next(self.numbers)
        self.refresh_tokens.add(f"refresh-{number}")
        return {
            "access_token": f"access-{number}",
            "refresh_token": f"refresh-{number}",
            "token_type": "bearer",
            "expires_in": 7_200,
        }


async def _one(body: bytes) -> Any:
    yield body
