"""Signatures of heads: Ed25519, with a key of its own that is derived from SECRET_KEY.

What is signed is `audit-head:<chain>:<seq>:<hash>:<time>:<0 or 1>`, the last one for a checkpoint.
"""

from __future__ import annotations

from datetime import UTC, datetime

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from django.core.signing import BadSignature, Signer

from opencode_web.lib.crypto import names_of_keys, signing_keys
from teams.models import FormerKey, SignedHead

PURPOSE = b"audit heads"


def sign_head(
    *, chain: str, seq: int, hash: str, time: datetime, is_checkpoint: bool = False
) -> SignedHead:
    """Returns: a row to be inserted, signed with the newest key."""
    head = SignedHead(chain=chain, seq=seq, hash=hash, time=time, is_checkpoint=is_checkpoint)
    key = _private_keys()[0]
    head.public_key = _public_key_of(key)
    head.signature = key.sign(_signed_text(head)).hex()
    return head


def is_signed_by(head: SignedHead, public_keys: set[str]) -> bool:
    """Whether the signature is good, and of one of these keys."""
    if head.public_key not in public_keys:
        return False
    try:
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(head.public_key))
        key.verify(bytes.fromhex(head.signature), _signed_text(head))
    except (InvalidSignature, ValueError):
        return False
    return True


def own_public_keys() -> list[str]:
    """Returns: the server's keys in hexadecimal digits, the one it signs with first."""
    return [_public_key_of(key) for key in _private_keys()]


def known_public_keys() -> list[str]:
    """Returns: the server's own keys, then those of a former SECRET_KEY that are vouched for."""
    former = map(_vouched_key, FormerKey.objects.order_by("name"))
    return list(dict.fromkeys([*own_public_keys(), *filter(None, former)]))


def vouch_for_former_keys() -> None:
    """Sign what verifies the heads of former keys with the newest one: a row alone proves nothing.

    Each former key of the settings must have a row.
    """
    given = dict(zip(names_of_keys(), own_public_keys(), strict=True))
    for row in FormerKey.objects.all():
        if key := given.get(row.name) or _vouched_key(row):
            FormerKey.objects.filter(pk=row.pk).update(audit_key=_signer().sign(key))


def _vouched_key(row: FormerKey) -> str:
    """Returns: empty without one, and for one that this server has not signed."""
    try:
        return _signer().unsign(row.audit_key)
    except BadSignature:
        return ""


def _signer() -> Signer:
    return Signer(salt="former audit key")


def _public_key_of(key: Ed25519PrivateKey) -> str:
    return key.public_key().public_bytes_raw().hex()


def _private_keys() -> list[Ed25519PrivateKey]:
    return [Ed25519PrivateKey.from_private_bytes(key) for key in signing_keys(PURPOSE)]


def _signed_text(head: SignedHead) -> bytes:
    moment = head.time.astimezone(UTC).isoformat(timespec="microseconds")
    parts = ("audit-head", head.chain, head.seq, head.hash, moment, int(head.is_checkpoint))
    return ":".join(map(str, parts)).encode()
