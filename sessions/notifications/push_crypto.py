"""The cryptography of Web Push. Pure but for random keys and the clock.

Source: RFC 8188 (aes128gcm), RFC 8291 (its keys) and RFC 8292 (the token).
"""

from __future__ import annotations

import base64
import binascii
import os
import time
from dataclasses import dataclass

import jwt
from cryptography.hazmat.primitives.asymmetric.ec import (
    ECDH,
    SECP256R1,
    EllipticCurvePrivateKey,
    EllipticCurvePublicKey,
    derive_private_key,
    generate_private_key,
)
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

PRIVATE_BYTES, PUBLIC_BYTES, AUTH_BYTES = 32, 65, 16
# Services refuse more than a day.
_TOKEN_S = 12 * 3600
_RECORD_BYTES = 4096


@dataclass(frozen=True)
class VapidKey:
    """The key that signs. `public` is what browsers are given."""

    private: EllipticCurvePrivateKey

    def __repr__(self) -> str:
        return "VapidKey(…)"

    @property
    def public(self) -> str:
        return to_base64url(_point(self.private.public_key()))


def new_private() -> str:
    """Returns: a key for VAPID, base64url of its 32 bytes."""
    number = generate_private_key(SECP256R1()).private_numbers().private_value
    return to_base64url(number.to_bytes(PRIVATE_BYTES, "big"))


def read_private(text: str) -> VapidKey:
    """Raises: ValueError for what is no base64url of 32 bytes of P-256."""
    raw = from_base64url(text)
    if len(raw) != PRIVATE_BYTES:
        raise ValueError("a VAPID key has 32 bytes")
    return VapidKey(derive_private_key(int.from_bytes(raw, "big"), SECP256R1()))


def read_public(text: str) -> EllipticCurvePublicKey:
    """Raises: ValueError for what is no base64url of a point of P-256."""
    return EllipticCurvePublicKey.from_encoded_point(SECP256R1(), from_base64url(text))


def encrypt_for(
    text: bytes,
    *,
    public: str,
    auth: str,
    private: EllipticCurvePrivateKey | None = None,
    salt: bytes = b"",
) -> bytes:
    """Encrypt for one browser, by its public key and its secret, both base64url.

    `private` and `salt` are new for each message, but for the RFC's example.

    Raises: ValueError for a key that is none.
    """
    theirs = read_public(public)
    private = private or generate_private_key(SECP256R1())
    salt = salt or os.urandom(16)
    own = _point(private.public_key())
    info = b"WebPush: info\0" + _point(theirs) + own
    shared = _hkdf(private.exchange(ECDH(), theirs), from_base64url(auth), info, 32)
    key = _hkdf(shared, salt, b"Content-Encoding: aes128gcm\0", 16)
    nonce = _hkdf(shared, salt, b"Content-Encoding: nonce\0", 12)
    head = salt + _RECORD_BYTES.to_bytes(4, "big") + bytes([len(own)]) + own
    # 2 ends the last record.
    return head + AESGCM(key).encrypt(nonce, text + b"\x02", None)


def sign_for(origin: str, *, key: VapidKey, subject: str) -> str:
    """Returns: the token that tells the push service at `origin` who sends."""
    claims = {"aud": origin, "exp": int(time.time()) + _TOKEN_S, "sub": subject}
    return jwt.encode(claims, key.private, algorithm="ES256")


def to_base64url(raw: bytes) -> str:
    """Without padding."""
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def from_base64url(text: str) -> bytes:
    """Raises: ValueError."""
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except binascii.Error as exc:
        raise ValueError("this is no base64url") from exc


def _point(key: EllipticCurvePublicKey) -> bytes:
    return key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def _hkdf(secret: bytes, salt: bytes, info: bytes, length: int) -> bytes:
    return HKDF(SHA256(), length, salt=salt, info=info).derive(secret)
