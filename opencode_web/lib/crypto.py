"""Secrets at rest and hashes of tokens.

Keys are derived from SECRET_KEY. What was encrypted under a key derived from SECRET_KEY_FALLBACKS
can still be read, so that the secret can be changed.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Iterable
from functools import lru_cache

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings


class DecryptionError(Exception):
    """The stored secret was encrypted under a key that this server no longer has."""


def _derive(secret: str, purpose: bytes) -> bytes:
    return HKDF(SHA256(), 32, salt=None, info=purpose).derive(secret.encode())


@lru_cache
def _fernet(secrets: tuple[str, ...]) -> MultiFernet:
    keys = (base64.urlsafe_b64encode(_derive(secret, b"secrets at rest")) for secret in secrets)
    return MultiFernet([Fernet(key) for key in keys])


def _box() -> MultiFernet:
    return _fernet((settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS))


def encrypt(text: str) -> str:
    """Encrypt for storage. Two calls give two different results."""
    return _box().encrypt(text.encode()).decode()


def decrypt(token: str) -> str:
    """Raises: DecryptionError when no key of this server fits."""
    try:
        return _box().decrypt(token.encode()).decode()
    except InvalidToken as exc:
        message = "a stored secret cannot be decrypted with this server's SECRET_KEY; set it again"
        raise DecryptionError(message) from exc


def reencrypt(token: str) -> str | None:
    """Returns: the same secret under the newest key, None if it is already.

    Raises: DecryptionError.
    """
    newest = _fernet((settings.SECRET_KEY,))
    try:
        newest.decrypt(token.encode())
    except InvalidToken:
        try:
            return _box().rotate(token.encode()).decode()
        except InvalidToken as exc:
            raise DecryptionError("no key of this server fits") from exc
    return None


def names_of_keys() -> list[str]:
    """Returns: what tells each SECRET_KEY from others without giving it away, the newest first."""
    keys = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    return [_derive(key, b"name of the key").hex()[:16] for key in keys]


def fingerprint(secret: str) -> str:
    """Keyed hash of a token for storage (64 hex digits)."""
    return _digest(settings.SECRET_KEY, secret)


def fingerprints(secret: str) -> list[str]:
    """Returns: the hash under the newest key, then under each former one, to look a token up."""
    return [_digest(key, secret) for key in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)]


def sealed_token_keys() -> dict[str, str]:
    """Returns: for each former key, by its name, what is needed to look up what was hashed with it.

    Nothing else can be done with it, and it is encrypted under the newest key.
    """
    former = zip(names_of_keys()[1:], settings.SECRET_KEY_FALLBACKS, strict=True)
    return {name: encrypt(_token_key(key).hex()) for name, key in former}


def fingerprints_with(sealed_keys: Iterable[str], secret: str) -> list[str]:
    """Returns: the hash under each of the keys that `sealed_token_keys` has made."""
    keys = [bytes.fromhex(decrypt(sealed)) for sealed in sealed_keys]
    return [_hash(key, secret) for key in keys]


def matches(secret: str, digest: str) -> bool:
    """Whether a stored hash is that of the secret, under any key; compares in constant time."""
    return any(is_same(digest, known) for known in fingerprints(secret))


def signing_keys(purpose: bytes) -> list[bytes]:
    """Returns: 32 bytes for each key of the server, the newest first. Each purpose has its own."""
    secrets = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    return [_derive(secret, b"signatures: " + purpose) for secret in secrets]


def _digest(key: str, secret: str) -> str:
    return _hash(_token_key(key), secret)


def _hash(key: bytes, secret: str) -> str:
    return hmac.new(key, secret.encode(errors="replace"), hashlib.sha256).hexdigest()


@lru_cache
def _token_key(key: str) -> bytes:
    return _derive(key, b"token digest")


def is_same(left: str, right: str) -> bool:
    """Compare two digests in constant time."""
    return hmac.compare_digest(left, right)
