"""A push service on loopback and the browser that it serves, which refuse what real ones refuse.

Source: RFC 8030, 8188, 8291 and 8292.
"""

from __future__ import annotations

import ipaddress
import json
import os
import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import jwt
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from sessions.notifications.push_crypto import from_base64url, read_public, to_base64url
from tests.web_server import answer, serve_any


@dataclass
class PushBrowser:
    """The push manager of a browser: it has the private key of its subscription."""

    endpoint: str
    application_key: str
    private: ec.EllipticCurvePrivateKey = field(
        default_factory=lambda: ec.generate_private_key(ec.SECP256R1())
    )
    auth: bytes = field(default_factory=lambda: os.urandom(16))
    # What its service worker is given.
    got: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    @property
    def point(self) -> bytes:
        return self.private.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)

    def to_form(self) -> dict[str, str]:
        keys = {"p256dh": to_base64url(self.point), "auth": to_base64url(self.auth)}
        return {"endpoint": self.endpoint, **keys}

    def decrypt(self, body: bytes) -> bytes:
        salt, size, length = body[:16], int.from_bytes(body[16:20], "big"), body[20]
        theirs, sealed = body[21 : 21 + length], body[21 + length :]
        assert size >= 18
        assert len(sealed) <= size  # one record
        public = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), theirs)
        secret = self.private.exchange(ec.ECDH(), public)
        info = b"WebPush: info\0" + self.point + theirs
        shared = _derive(secret, self.auth, info, 32)
        key = _derive(shared, salt, b"Content-Encoding: aes128gcm\0", 16)
        nonce = _derive(shared, salt, b"Content-Encoding: nonce\0", 12)
        text, _, rest = AESGCM(key).decrypt(nonce, sealed, None).rpartition(b"\x02")
        assert not rest.strip(b"\0")
        return text


def _derive(secret: bytes, salt: bytes, info: bytes, length: int) -> bytes:
    return HKDF(hashes.SHA256(), length, salt=salt, info=info).derive(secret)


@dataclass
class PushService:
    origin: str = ""
    browsers: dict[str, PushBrowser] = field(default_factory=dict)
    # Statuses of the next answers, and the headers of those.
    refuses: list[tuple[int, dict[str, str]]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def subscribe(self, application_key: str) -> PushBrowser:
        path = f"/push/{len(self.browsers)}"
        browser = PushBrowser(f"{self.origin}{path}", application_key)
        self.browsers[path] = browser
        return browser

    def take(self, handler: BaseHTTPRequestHandler) -> None:
        body = handler.rfile.read(int(handler.headers["content-length"]))
        headers = {name.lower(): value for name, value in handler.headers.items()}
        if self.refuses:
            status, more = self.refuses.pop(0)
            answer(status=status, **more)(handler)
            return
        browser = self.browsers.get(handler.path)
        if handler.command != "POST" or browser is None:
            answer(status=404)(handler)
            return
        try:
            self._check(browser, headers, body)
        except Exception as exc:
            self.faults.append(repr(exc))
            answer(status=400)(handler)
            return
        browser.headers.append(headers)
        browser.got.append(json.loads(browser.decrypt(body)))
        answer(status=201, location=f"{self.origin}/message/1")(handler)

    def _check(self, browser: PushBrowser, headers: dict[str, str], body: bytes) -> None:
        assert len(body) <= 4096, "413"
        assert headers["content-encoding"] == "aes128gcm"
        assert headers["ttl"].isdecimal()
        assert headers["urgency"] in {"very-low", "low", "normal", "high"}
        assert 0 < len(headers["topic"]) <= 32
        from_base64url(headers["topic"])
        scheme, _, given = headers["authorization"].partition(" ")
        assert scheme == "vapid"
        parts = dict(one.strip().split("=", 1) for one in given.split(","))
        assert parts["k"] == browser.application_key
        claims = jwt.decode(
            parts["t"], read_public(parts["k"]), algorithms=["ES256"], audience=self.origin
        )
        assert claims["exp"] <= time.time() + 24 * 3600
        assert claims["sub"].startswith(("https:", "mailto:"))


@contextmanager
def run_push_service(folder: Path) -> Iterator[tuple[PushService, ssl.SSLContext]]:
    """Yields: the service, and what trusts its certificate."""
    path = certificate(folder)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    service = PushService()
    with serve_any(service.take, tls=context) as base:
        service.origin = base
        yield service, ssl.create_default_context(cafile=path)


def certificate(folder: Path) -> Path:
    """Makes a certificate of 127.0.0.1, with its private key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    here = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    now = datetime.now(UTC)
    built = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([here]), critical=False)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path = folder / "push.pem"
    path.write_bytes(private + built.public_bytes(Encoding.PEM))
    return path
