"""What the chain has hashes of. Others can check an export by this page alone.

`personal_hash` = SHA-256(salt + canonical JSON of the personal fields)
`digest` = SHA-256(canonical JSON of the other fields with `personal_hash`)
`hash` = SHA-256(chain ":" seq ":" prev_hash ":" digest), in ASCII; the database does this one, too
"""

from __future__ import annotations

import hashlib
import json
import re
from datetime import UTC
from ipaddress import ip_address

from opencode_web.lib.json import JsonObject, JsonValue
from teams.models import SERVER_CHAIN, AuditEntry

# What is left of the address of an erased person.
_PSEUDONYM = re.compile(r"(person-\w+)?")


def chain_of(entry: AuditEntry) -> str:
    """Returns: the name of the chain that the entry is in."""
    return entry.team_id or SERVER_CHAIN


def hash_personal(entry: AuditEntry) -> str:
    """Returns: the salted hash of what is replaced when a person is erased."""
    personal: JsonObject = {
        "actor_email": entry.actor_email,
        "client": entry.client,
        # Databases spell some addresses in their own way.
        "ip": str(ip_address(entry.ip)) if entry.ip else None,
        "names": entry.names,
    }
    return _sha256(entry.salt + canonical(personal))


def is_erased(entry: AuditEntry) -> bool:
    """Whether nothing personal is left but a pseudonym. Anything else was put in its place."""
    left = entry.salt or entry.client or entry.ip or entry.names
    return not left and _PSEUDONYM.fullmatch(entry.actor_email) is not None


def digest_of(entry: AuditEntry) -> str:
    """Returns: the hash of what never changes."""
    return _sha256(canonical(hashed_fields(entry)))


def hashed_fields(entry: AuditEntry) -> JsonObject:
    """Returns: what `digest` is of."""
    return {
        "version": 1,
        "time": entry.time.astimezone(UTC).isoformat(timespec="microseconds"),
        "actor": entry.actor_id,
        "actor_kind": entry.actor_kind,
        "token": entry.token,
        "team": entry.team_id,
        "action": entry.action,
        "target": [entry.target_type, entry.target_id],
        "data": entry.data,
        "personal": entry.personal_hash,
    }


def link_hash(chain: str, seq: int, prev_hash: str, digest: str) -> str:
    """Returns: the hash that the next entry has as its `prev_hash`."""
    return _sha256(f"{chain}:{seq}:{prev_hash}:{digest}")


def canonical(value: JsonObject) -> str:
    """Returns: JSON in ASCII with sorted keys and no blanks; whole numbers have no fraction."""
    return json.dumps(_plain(value), sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def _plain(value: JsonValue) -> JsonValue:
    # PostgreSQL gives 10000000000000000 for what was stored as 1e16.
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
