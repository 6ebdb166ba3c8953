"""Grants of sign-ins at rest: one encrypted text each."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from opencode_web.lib.crypto import decrypt, encrypt
from providers.llm.secret import Secret
from providers.llm.sign_in import Grant


def seal_grant(grant: Grant) -> str:
    """Returns: a grant, encrypted for storage."""
    data = {
        "access": grant.access.reveal(),
        "refresh": grant.refresh.reveal() if grant.refresh else None,
        "expires_at": grant.expires_at.isoformat() if grant.expires_at else None,
        "account": grant.account,
        "connection": dict(grant.connection),
        "base_url": grant.base_url,
        "extra": grant.extra,
        "secrets": {name: secret.reveal() for name, secret in grant.secrets.items()},
    }
    return encrypt(json.dumps(data))


def open_grant(sealed: str) -> Grant:
    """Returns: the grant that `seal_grant` was given. Raises: DecryptionError."""
    data: dict[str, Any] = json.loads(decrypt(sealed))
    return Grant(
        access=Secret(data["access"]),
        refresh=Secret(data["refresh"]) if data["refresh"] else None,
        expires_at=datetime.fromisoformat(data["expires_at"]) if data["expires_at"] else None,
        account=data["account"],
        connection=data["connection"],
        base_url=data["base_url"],
        extra=data["extra"],
        secrets={name: Secret(value) for name, value in data["secrets"].items()},
    )
