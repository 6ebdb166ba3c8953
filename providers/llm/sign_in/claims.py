"""What signed tokens say of the person and the account.

Their signatures are not checked: they have come from who signs them, over TLS.
"""

from __future__ import annotations

import base64
from datetime import UTC, datetime

from ..json import JsonObject, JsonValue, read_object
from .http import Reply

_MAX_NAME_CHARS = 200


def shown(name: JsonValue) -> str:
    """Returns: what a provider calls a person, fit to be shown; "" for anything else."""
    return name[:_MAX_NAME_CHARS] if isinstance(name, str) and name.isprintable() else ""


def read_claims(token: JsonValue) -> JsonObject:
    """Returns: what a signed token says; nothing for what is none."""
    parts = token.split(".") if isinstance(token, str) else []
    if len(parts) != 3:
        return {}
    try:
        raw = base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4))
        return read_object(raw.decode()) or {}
    except ValueError:
        return {}


def email_in(reply: Reply) -> str:
    """Returns: the address of the person, from the tokens of an answer; "" if unknown."""
    for name in ("id_token", "access_token"):
        if email := shown(read_claims(reply.body.get(name)).get("email")):
            return email
    return ""


def expiry_in(token: JsonValue) -> datetime | None:
    """Returns: when a signed token ends."""
    moment = read_claims(token).get("exp")
    try:
        return datetime.fromtimestamp(moment, UTC) if isinstance(moment, int | float) else None
    except (ValueError, OverflowError, OSError):
        return None
