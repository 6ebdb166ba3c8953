"""Clients that have registered themselves: the ID of one is its registration, signed.

Anybody can register any name, so nothing that a client says of itself is true for sure but where it
has codes sent to.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from django.core import signing

MAX_NAME_CHARS = 60
MAX_URIS = 10
MAX_URI_CHARS = 300
# An ID goes through addresses, twice encoded on the way to the sign-in page.
MAX_ID_CHARS = 2_000
_SALT = "opencode_web.mcp_server.client"
_LOOPBACK = ("127.0.0.1", "::1", "localhost")
_HOST = re.compile(r"[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|::1")
_URI = re.compile(r"[!-~]+")
_NEVER_IN_URIS = frozenset('"#<>\\^`{|}')


@dataclass(frozen=True)
class McpClient:
    """`redirect_uris` are as they were registered. `renews`: it wants refresh tokens."""

    id: str
    name: str
    redirect_uris: tuple[str, ...]
    renews: bool = False

    @property
    def digest(self) -> str:
        """What tokens remember of it."""
        return hashlib.sha256(self.id.encode()).hexdigest()

    def has_redirect_uri(self, uri: str) -> bool:
        """Whether it is one of them, to the letter. A program on the person's own computer may
        listen on any port. Source: RFC 8252, 7.3."""
        if uri in self.redirect_uris:
            return True
        place = _loopback_place(uri)
        return place is not None and place in map(_loopback_place, self.redirect_uris)


def register_client(
    name: str, redirect_uris: Iterable[str], *, renews: bool = False
) -> McpClient | None:
    """Leaves out addresses that codes are never sent to, such as those with a scheme of their own.

    Returns: None when there is none left, or they are too long together.
    """
    uris = [uri for uri in dict.fromkeys(redirect_uris) if is_allowed(uri)][:MAX_URIS]
    shown = " ".join("".join(char for char in name if char.isprintable()).split())
    shown = shown[:MAX_NAME_CHARS].strip()
    data = {"n": shown, "r": uris, **({"f": 1} if renews else {})}
    client_id = signing.dumps(data, salt=_SALT, compress=True)
    if not uris or len(client_id) > MAX_ID_CHARS:
        return None
    return McpClient(client_id, shown, tuple(uris), renews)


def known_client(client_id: str) -> McpClient | None:
    """Returns: None for an ID that this server has not signed."""
    if len(client_id) > MAX_ID_CHARS:
        return None
    try:
        data = signing.loads(client_id, salt=_SALT)
    except signing.BadSignature:
        return None
    return McpClient(client_id, data["n"], tuple(data["r"]), "f" in data)


def is_allowed(uri: str) -> bool:
    """Whether codes may be sent there: over https, or to a program on the person's computer."""
    parts = _split(uri)
    if parts is None or "@" in parts.netloc or not _HOST.fullmatch(parts.hostname or ""):
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK)


def is_loopback(uri: str) -> bool:
    """Whether it leads to a program on the person's own computer."""
    return urlsplit(uri).hostname in _LOOPBACK


def _loopback_place(uri: str) -> tuple[str | None, str, str] | None:
    """Returns: an address without its port; None for one that is not on the person's computer."""
    if not is_allowed(uri) or not uri.startswith("http:"):
        return None
    parts = urlsplit(uri)
    return parts.hostname, parts.path, parts.query


def _split(uri: str) -> SplitResult | None:
    if len(uri) > MAX_URI_CHARS or not _URI.fullmatch(uri) or _NEVER_IN_URIS & set(uri):
        return None
    try:
        parts = urlsplit(uri)
        _ = parts.port
    except ValueError:
        return None
    return parts
