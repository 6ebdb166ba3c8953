"""How requests prove who asks."""

from __future__ import annotations

import httpx

from .route import Auth
from .secret import Secret


def bearer(key: Secret) -> Auth:
    """Send the key as a bearer token; a server that wants none gets none."""
    return header("authorization", key, prefix="Bearer ")


def header(name: str, key: Secret, *, prefix: str = "") -> Auth:
    """Send the key in a header of the vendor's own."""

    def sign(request: httpx.Request) -> None:
        if key:
            request.headers[name] = prefix + key.reveal()

    return sign
