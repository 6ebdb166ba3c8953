"""An OpenID Connect provider on loopback that also does what a hostile one would."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jwt
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from django.test import Client
from jwt.algorithms import ECAlgorithm

from teams.models import IdentityProvider
from tests.web_server import answer, serve_any

_KEY = ec.generate_private_key(ec.SECP256R1())
_OTHER_KEY = ec.generate_private_key(ec.SECP256R1())


@dataclass
class Idp:
    base: str = ""
    # What it says about the person who signs in there.
    claims: dict[str, Any] = field(default_factory=dict)
    # What it puts into the ID token instead of the truth.
    lies: dict[str, Any] = field(default_factory=dict)
    signs_with_other_key: bool = False
    asked: dict[str, list[str]] = field(default_factory=dict)
    exchanged: dict[str, list[str]] = field(default_factory=dict)
    paths: list[str] = field(default_factory=list)
    # What it answers on other paths.
    bodies: dict[str, Any] = field(default_factory=dict)

    def take(self, handler: BaseHTTPRequestHandler) -> None:
        path = urlsplit(handler.path).path
        self.paths.append(path)
        body: Any = self.bodies.get(path, {})
        if path == "/.well-known/openid-configuration":
            body = {
                "issuer": self.base,
                "authorization_endpoint": f"{self.base}/authorize",
                "token_endpoint": f"{self.base}/token",
                "userinfo_endpoint": f"{self.base}/userinfo",
                "jwks_uri": f"{self.base}/keys",
                "token_endpoint_auth_methods_supported": ["client_secret_post"],
            }
        elif path == "/keys":
            key = json.loads(ECAlgorithm.to_jwk(_KEY.public_key()))
            body = {"keys": [{**key, "kid": "one", "alg": "ES256", "use": "sig"}]}
        elif path == "/token":
            length = int(handler.headers["content-length"])
            self.exchanged = parse_qs(handler.rfile.read(length).decode())
            body = {"access_token": "at", "token_type": "Bearer", "id_token": self._id_token()}
        elif path == "/userinfo":
            body = self.claims
        send = answer(json.dumps(body).encode(), content_type="application/json")
        send(handler)

    def _id_token(self) -> str:
        now = int(time.time())
        token = {
            "iss": self.base,
            "aud": "web",
            "exp": now + 60,
            "iat": now,
            "nonce": self.asked.get("nonce", [""])[0],
            **self.claims,
            **self.lies,
        }
        key = _OTHER_KEY if self.signs_with_other_key else _KEY
        return jwt.encode(token, key, algorithm="ES256", headers={"kid": "one"})

    def begin(self, client: Client, slug: str = "corp", **data: str) -> dict[str, list[str]]:
        """Press the button, and be sent there. Returns: what the provider is asked."""
        page = client.post(f"/login/with/{slug}", data)
        assert page.status_code == 200, page["Location"]
        found = re.search(r'url=([^"]+)"', page.content.decode())
        assert found is not None
        self.asked = parse_qs(urlsplit(found[1].replace("&amp;", "&")).query)
        return self.asked

    def come_back(self, client: Client, slug: str = "corp", **changed: str) -> Any:
        query = {"code": "c", "state": self.asked["state"][0], **changed}
        return client.get(f"/sso/{slug}/return", query)

    def sign_in(self, client: Client, slug: str = "corp", **data: str) -> Any:
        self.begin(client, slug, **data)
        return self.come_back(client, slug)


@contextmanager
def running_idp() -> Iterator[Idp]:
    idp = Idp()
    with serve_any(idp.take) as base:
        idp.base = base
        yield idp


def make_provider(idp: Idp, **more: Any) -> IdentityProvider:
    fields = {"slug": "corp", "name": "Corp", "kind": "oidc", "domains": ["corp.example"], **more}
    return IdentityProvider.objects.create(server_url=idp.base, client_id="web", **fields)


def is_signed_in(client: Client) -> bool:
    return "_auth_user_id" in client.session


def make_key() -> tuple[str, str]:
    """A private key and its certificate, both in PEM."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "idp")])
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name)
    builder = builder.public_key(key.public_key()).serial_number(1)
    builder = builder.not_valid_before(now).not_valid_after(now + timedelta(days=1))
    pem = serialization.Encoding.PEM
    private = key.private_bytes(
        pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return private.decode(), builder.sign(key, hashes.SHA256()).public_bytes(pem).decode()
