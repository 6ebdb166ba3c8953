from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from providers.llm.secret import Secret
from providers.llm.sign_in import Http
from providers.llm.sign_in.clouds import (
    Application,
    entra_grant,
    entra_scope,
    google_grant,
    profile_grant,
    read_key_file,
)
from providers.llm.sign_in.errors import BadInput, SignedOut, Unavailable

KEY = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
TENANT = "0a1b2c3d-0000-1111-2222-333344445555"


def pem(key: Any = KEY) -> str:
    form = serialization.PrivateFormat.PKCS8
    nothing = serialization.NoEncryption()
    return key.private_bytes(serialization.Encoding.PEM, form, nothing).decode()


def key_file(**fields: Any) -> str:
    known = {
        "type": "service_account",
        "project_id": "acme-1",
        "private_key_id": "key-1",
        "private_key": pem(),
        "client_email": "bot@acme-1.iam.gserviceaccount.com",
        "client_id": "1",
        "token_uri": "https://evil.example/token",
    }
    return json.dumps({**known, **fields})


USER_FILE = json.dumps(
    {
        "type": "authorized_user",
        "client_id": "id.apps.example",
        "client_secret": "shh",
        "refresh_token": "1//refresh",
        "quota_project_id": "acme-2",
    }
)


class GoogleServer(httpx.AsyncBaseTransport):
    """Google's token endpoint and nothing else; it verifies what it is given."""

    def __init__(self) -> None:
        self.requests: list[httpx.Request] = []
        self.is_disabled = self.is_down = False

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        assert str(request.url) == "https://oauth2.googleapis.com/token"
        if self.is_down:
            return httpx.Response(503)
        form = dict(parse_qsl((await request.aread()).decode(), strict_parsing=True))
        if self.is_disabled or not self.is_valid(form):
            error = {"error": "invalid_grant", "error_description": "Account not found: secret"}
            return httpx.Response(400, json=error)
        return httpx.Response(
            200, json={"access_token": "ya29.1", "expires_in": 3599, "token_type": "Bearer"}
        )

    def is_valid(self, form: dict[str, str]) -> bool:
        if form["grant_type"] == "refresh_token":
            wanted = ("id.apps.example", "shh", "1//refresh")
            return (form["client_id"], form["client_secret"], form["refresh_token"]) == wanted
        assert form["grant_type"] == "urn:ietf:params:oauth:grant-type:jwt-bearer"
        assertion = form["assertion"]
        assert jwt.get_unverified_header(assertion) == {
            "alg": "RS256",
            "typ": "JWT",
            "kid": "key-1",
        }
        claims = jwt.decode(
            assertion,
            KEY.public_key(),
            algorithms=["RS256"],
            audience="https://oauth2.googleapis.com/token",
        )
        assert claims["iss"] == "bot@acme-1.iam.gserviceaccount.com"
        assert claims["scope"] == "https://www.googleapis.com/auth/cloud-platform"
        return bool(claims["exp"] - claims["iat"] == 3_600)


async def test_a_service_account_signs_for_a_token() -> None:
    grant = await google_grant(read_key_file(key_file()), Http(GoogleServer()))
    assert {name: one.reveal() for name, one in grant.secrets.items()} == {"accessToken": "ya29.1"}
    assert not grant.api_key
    assert grant.account == "bot@acme-1.iam.gserviceaccount.com"
    assert grant.connection == {"project": "acme-1"}
    assert grant.is_due(datetime.now(UTC) + timedelta(seconds=3_600), 0)
    assert not grant.is_due(datetime.now(UTC), 3_500)


async def test_the_credentials_of_a_person_are_refreshed() -> None:
    grant = await google_grant(read_key_file(USER_FILE), Http(GoogleServer()))
    assert grant.secrets["accessToken"].reveal() == "ya29.1"
    assert grant.connection == {"project": "acme-2"}


async def test_a_key_that_google_takes_no_more_ends_it() -> None:
    server = GoogleServer()
    server.is_disabled = True
    with pytest.raises(SignedOut) as caught:
        await google_grant(read_key_file(key_file()), Http(server))
    assert "secret" not in str(caught.value)


async def test_google_may_be_down() -> None:
    server = GoogleServer()
    server.is_down = True
    with pytest.raises(Unavailable):
        await google_grant(read_key_file(USER_FILE), Http(server))


def test_what_is_no_key_file_is_refused(subtests: pytest.Subtests) -> None:
    cases = [
        "",
        "no json",
        "[]",
        key_file(type="external_account"),
        key_file(client_email=""),
        key_file(private_key="-----BEGIN nothing"),
        key_file(private_key=pem(ec.generate_private_key(ec.SECP256R1()))),
        USER_FILE.replace("refresh_token", "x"),
    ]
    for text in cases:
        with subtests.test(text=text):
            with pytest.raises(BadInput) as caught:
                read_key_file(text)
            assert set(caught.value.faults) == {"key"}


def test_of_a_key_file_only_what_is_needed_is_kept() -> None:
    assert "token_uri" not in read_key_file(key_file())


class EntraServer(httpx.AsyncBaseTransport):
    def __init__(self, *, is_down: bool = False) -> None:
        self.is_down = is_down
        self.requests: list[httpx.Request] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        if self.is_down:
            return httpx.Response(503)
        url = f"https://login.microsoftonline.com/{TENANT}/oauth2/v2.0/token"
        assert str(request.url) == url
        form = dict(parse_qsl((await request.aread()).decode(), strict_parsing=True))
        if form["client_secret"] != "right":
            error = {"error": "invalid_client", "error_description": "AADSTS7000215: secret"}
            return httpx.Response(401, json=error)
        assert form == {
            "grant_type": "client_credentials",
            "client_id": "app-1",
            "client_secret": "right",
            "scope": "https://cognitiveservices.azure.com/.default",
        }
        return httpx.Response(200, json={"access_token": "eyJ.1", "expires_in": 3599})


async def test_an_application_gets_a_token_for_the_models_of_azure() -> None:
    scope = entra_scope("@ai-sdk/azure", "https://res-1.openai.azure.com/openai/v1")
    app = Application(TENANT, "app-1", Secret("right"))
    grant = await entra_grant(app, scope, Http(EntraServer()))
    assert grant.secrets == {"entraToken": Secret("eyJ.1")}
    assert grant.expires_at is not None
    assert grant.expires_at > datetime.now(UTC) + timedelta(seconds=3_500)
    assert "right" not in repr(app)


async def test_an_application_with_a_wrong_secret_is_refused() -> None:
    app = Application(TENANT, "app-1", Secret("wrong"))
    with pytest.raises(SignedOut) as caught:
        await entra_grant(app, entra_scope("@ai-sdk/azure", None), Http(EntraServer()))
    assert "AADSTS" not in str(caught.value)


async def test_entra_may_be_down() -> None:
    app = Application(TENANT, "app-1", Secret("right"))
    with pytest.raises(Unavailable):
        await entra_grant(app, "scope", Http(EntraServer(is_down=True)))


async def test_what_is_no_tenant_is_not_asked(subtests: pytest.Subtests) -> None:
    for tenant in ["", "common", "a/b", "../x", f"{TENANT}/..", "a.b?c", "contoso"]:
        with subtests.test(tenant=tenant):
            server = EntraServer()
            with pytest.raises(BadInput) as caught:
                await entra_grant(
                    Application(tenant, "app-1", Secret("right")), "scope", Http(server)
                )
            assert set(caught.value.faults) == {"tenant"}
            assert not server.requests


def test_a_tenant_may_be_named_by_its_domain() -> None:
    Application("contoso.onmicrosoft.com", "app-1", Secret("s")).check()


@pytest.mark.parametrize(
    ("npm", "base_url", "host"),
    [
        ("@ai-sdk/azure", None, "cognitiveservices.azure.com"),
        ("@ai-sdk/azure", "https://r.services.ai.azure.com/openai/v1", "ai.azure.com"),
        ("@ai-sdk/anthropic", None, "ai.azure.com"),
    ],
)
def test_claude_is_another_service_than_gpt(npm: str, base_url: str | None, host: str) -> None:
    assert entra_scope(npm, base_url) == f"https://{host}/.default"


@pytest.fixture
def aws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The AWS configuration of a machine."""
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAOFTHEMACHINE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "of-the-machine")
    (tmp_path / "config").write_text(
        "[profile models]\nregion = eu-central-1\n[profile empty]\nregion = eu-west-1\n"
        f"[profile made]\ncredential_process = /bin/cat {tmp_path / 'made.json'}\n"
        "[profile broken]\ncredential_process = /bin/echo nothing\n"
        f"[profile missing]\ncredential_process = {tmp_path / 'missing'}\n"
    )
    made = {"Version": 1, "AccessKeyId": "AKIAMADE", "SecretAccessKey": "made"}
    ends = {"SessionToken": "t", "Expiration": "2100-01-01T00:00:00Z"}
    (tmp_path / "made.json").write_text(json.dumps(made | ends))
    (tmp_path / "credentials").write_text(
        "[models]\naws_access_key_id = AKIAMODELS\naws_secret_access_key = shh\n"
    )
    return tmp_path


@pytest.mark.usefixtures("aws")
async def test_a_profile_of_the_machine_has_keys_and_a_region() -> None:
    grant = await profile_grant("models")
    assert {name: one.reveal() for name, one in grant.secrets.items()} == {
        "accessKeyId": "AKIAMODELS",
        "secretAccessKey": "shh",
    }
    assert grant.connection == {"region": "eu-central-1"}
    assert not grant.api_key
    assert "shh" not in repr(grant)


@pytest.mark.usefixtures("aws")
async def test_keys_of_a_profile_are_read_again_soon() -> None:
    grant = await profile_grant("models")
    assert grant.expires_at is not None
    assert grant.expires_at <= datetime.now(UTC) + timedelta(seconds=900)


async def test_a_profile_that_changes_is_read_anew(aws: Path) -> None:
    await profile_grant("models")
    file = aws / "credentials"
    file.write_text(file.read_text().replace("AKIAMODELS", "AKIANEW"))
    assert (await profile_grant("models")).secrets["accessKeyId"].reveal() == "AKIANEW"


@pytest.mark.usefixtures("aws")
async def test_temporary_keys_have_a_token() -> None:
    grant = await profile_grant("made")
    assert grant.secrets["sessionToken"].reveal() == "t"


@pytest.mark.usefixtures("aws")
@pytest.mark.parametrize("profile", ["empty", "broken", "missing"])
async def test_a_profile_without_keys_does_not_get_those_of_the_machine(profile: str) -> None:
    with pytest.raises(SignedOut):
        await profile_grant(profile)


@pytest.mark.usefixtures("aws")
async def test_a_profile_that_is_none_is_named() -> None:
    with pytest.raises(BadInput) as caught:
        await profile_grant("nobody")
    assert set(caught.value.faults) == {"profile"}
