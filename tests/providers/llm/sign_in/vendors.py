"""The vendors as they are: what their servers know of our client, and what they do otherwise."""

from __future__ import annotations

import json
from typing import Any

import httpx

from tests.providers.llm.sign_in.authorization import (
    Authorization,
    Device,
    Facts,
    Json,
    challenge_of,
    jwt,
)

OPENAI = Facts(
    host="auth.openai.com",
    client_id="app_EMoamEEZ73f0CkXaXp7hrann",
    redirect_uri="http://localhost:1455/auth/callback",
    scope="openid profile email offline_access",
    revoke="/oauth/revoke",
    params={
        "id_token_add_organizations": "true",
        "codex_cli_simplified_flow": "true",
        "originator": "opencode",
    },
)
XAI = Facts(
    host="auth.x.ai",
    client_id="b1a00492-073a-47ea-816f-4c329264a828",
    redirect_uri="http://127.0.0.1:56121/callback",
    scope="openid profile email offline_access grok-cli:access api:access",
    authorize="/oauth2/authorize",
    token="/oauth2/token",
    device="/oauth2/device/code",
    revoke="/oauth2/revoke",
    params={"plan": "generic", "referrer": "opencode"},
)
GITLAB = Facts(
    host="git.acme.example",
    client_id="client-of-acme",
    redirect_uri="https://code.acme.example/back",
    scope="api",
    revoke="/oauth/revoke",
)
POE = Facts(
    host="poe.com",
    client_id="client_728290227fc048cc9262091a1ea197ea",
    redirect_uri="http://127.0.0.1:1457/callback",
    scope="apikey:create",
    token_host="api.poe.com",
    token="/token",
)
SNOWFLAKE = Facts(
    host="myorg-my_account.snowflakecomputing.com",
    client_id="LOCAL_APPLICATION",
    redirect_uri="http://127.0.0.1:1458/",
    scope="refresh_token",
    token="/oauth/token-request",
    secret="LOCAL_APPLICATION",
    rotates=False,
)


def github(host: str = "github.com") -> Facts:
    return Facts(
        host=host,
        client_id="Ov23li8tweQw6odWQebz",
        redirect_uri="",
        scope="read:user",
        token="/login/oauth/access_token",
        device="/login/device/code",
        takes_json=True,
        error_status=200,
    )


class OpenAIServer(Authorization):
    """With a device flow of its own, and tokens that say whose they are."""

    claims: Json = {"https://api.openai.com/auth": {"chatgpt_account_id": "acct-1"}}

    email = "alice@example.com"
    lifetime: Any = 7_200

    def __init__(self) -> None:
        super().__init__(OPENAI)

    def tokens(self) -> Json:
        claimed = {"id_token": jwt(email=self.email, **self.claims)}
        return {**super().tokens(), **claimed, "expires_in": self.lifetime}

    def refuse(self, code: str, **more: Any) -> tuple[int, Json]:
        if code == "invalid_grant" and self.used:
            error = {"message": "secret words", "code": "refresh_token_reused"}
            return 401, {"error": error}
        return super().refuse(code, **more)

    def answer(self, request: httpx.Request) -> tuple[int, Json]:
        match request.url.path.removeprefix("/api/accounts/deviceauth"):
            case "/usercode":
                asked = json.loads(request.content)
                assert asked == {"client_id": self.facts.client_id}
                user_code = f"ABCD-{next(self.numbers):04}"
                self.devices[user_code] = Device(5, self.clock)
                started = {"device_auth_id": f"auth-{user_code}", "user_code": user_code}
                return 200, {**started, "interval": "5"}
            case "/token":
                return self.on_device_token(json.loads(request.content))
        return super().answer(request)

    def on_device_token(self, asked: Json) -> tuple[int, Json]:
        device = self.devices.get(asked["user_code"])
        if device is None or asked["device_auth_id"] != f"auth-{asked['user_code']}":
            return 404, {}
        if device.is_allowed is None:
            return 403, {"error": "deviceauth_authorization_pending"}
        if not device.is_allowed:
            return 400, {"error": "access_denied"}
        verifier = "v" * 43
        self.codes["device-code"] = {
            "code_challenge": challenge_of(verifier),
            "redirect_uri": "https://auth.openai.com/deviceauth/callback",
        }
        return 200, {"authorization_code": "device-code", "code_verifier": verifier}


class XAIServer(Authorization):
    """Its tokens say themselves when they end."""

    def __init__(self) -> None:
        super().__init__(XAI)

    def tokens(self) -> Json:
        tokens = super().tokens()
        del tokens["expires_in"]
        access = jwt(exp=4_102_444_800, email="bob@example.com", n=next(self.numbers))
        return {**tokens, "access_token": access}


class GitLabServer(Authorization):
    """Gives tokens for its gateway to those whose own tokens count."""

    def __init__(self, lifetime_s: float = 7_200) -> None:
        super().__init__(GITLAB)
        self.lifetime_s = lifetime_s
        self.known = {"glpat-1"}
        # What its gateway's tokens are refused with.
        self.duo_status = 201
        self.duo_tokens = 0

    def tokens(self) -> Json:
        tokens = {**super().tokens(), "expires_in": self.lifetime_s}
        self.known.add(tokens["access_token"])
        return tokens

    def direct_access(self, request: httpx.Request) -> tuple[int, Json]:
        flags = {"feature_flags": {"DuoAgentPlatformNext": True}}
        assert json.loads(request.content) == flags
        if request.headers["authorization"].removeprefix("Bearer ") not in self.known:
            return 401, {"message": "401 Unauthorized"}
        if self.duo_status != 201:
            return self.duo_status, {"message": "secret words"}
        self.duo_tokens += 1
        headers = {
            "X-Gitlab-Realm": "saas",
            "x-gitlab-instance-id": "inst-1",
            "x-api-key": "another",
            "authorization": "Bearer another",
            "x-gitlab-odd": "a\r\nb",
            "x-gitlab-number": 7,
        }
        return 201, {"token": f"duo-{self.duo_tokens}", "headers": headers}

    def answer(self, request: httpx.Request) -> tuple[int, Json]:
        if request.url.path == "/api/v4/ai/third_party_agents/direct_access":
            return self.direct_access(request)
        if request.method == "GET" and request.url.path == "/api/v4/user":
            assert request.headers["authorization"].startswith("Bearer access-")
            return 200, {"id": 1, "username": "carol"}
        return super().answer(request)


class PoeServer(Authorization):
    def __init__(self, lifetime_s: float | None = 86_400) -> None:
        super().__init__(POE)
        self.lifetime_s = lifetime_s

    def tokens(self) -> Json:
        return {"api_key": f"poe-{next(self.numbers)}", "api_key_expires_in": self.lifetime_s}


class SnowflakeServer(Authorization):
    def __init__(self, scope: str = "refresh_token") -> None:
        super().__init__(Facts(**{**vars(SNOWFLAKE), "scope": scope}))

    def tokens(self) -> Json:
        tokens = super().tokens()
        del tokens["expires_in"]
        return {**tokens, "username": "DAVE"}


class GitHubServer(Authorization):
    """`api` is where its people are asked for."""

    def __init__(self, host: str = "github.com", api: str = "https://api.github.com/user") -> None:
        super().__init__(github(host))
        self.api = api

    def slower(self, device: Device) -> Json:
        return {"interval": device.interval_s}

    def tokens(self) -> Json:
        return {"access_token": "gho_1", "token_type": "bearer", "scope": "read:user"}

    def answer(self, request: httpx.Request) -> tuple[int, Json]:
        if request.method == "GET" and str(request.url) == self.api:
            assert request.headers["authorization"] == "Bearer gho_1"
            return 200, {"login": "octocat"}
        return super().answer(request)
