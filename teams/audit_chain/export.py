"""Entries and signed heads as JSON, for exports, the API and streams.

All that is hashed is in it, so that whoever has the lines can check the chain, see `hashes.py`.
"""

from __future__ import annotations

from opencode_web.lib.json import JsonObject
from teams.audit_chain.hashes import chain_of, hashed_fields
from teams.models import AuditEntry, SignedHead


def entry_to_line(entry: AuditEntry) -> JsonObject:
    """Returns: the hashed fields, the personal ones with their salt, and the link."""
    return {
        "type": "entry",
        "chain": chain_of(entry),
        "seq": entry.seq,
        "id": entry.pk,
        **hashed_fields(entry),
        "actor_email": entry.actor_email,
        "names": entry.names,
        "ip": entry.ip,
        "client": entry.client,
        "salt": entry.salt,
        "digest": entry.digest,
        "prev_hash": entry.prev_hash,
        "hash": entry.hash,
    }


def head_to_line(head: SignedHead) -> JsonObject:
    """Returns: what is signed, by which key, and the signature."""
    return {
        "type": "head",
        "chain": head.chain,
        "seq": head.seq,
        "hash": head.hash,
        "time": head.time.isoformat(timespec="microseconds"),
        "checkpoint": head.is_checkpoint,
        "public_key": head.public_key,
        "signature": head.signature,
    }
