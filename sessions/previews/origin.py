"""The origin that each preview has: a host of its own below `PREVIEW_HOST`."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from django.conf import settings

LOCAL = "localhost"
_LOOPBACK = frozenset({LOCAL, "127.0.0.1", "::1"})
_LABEL = re.compile(r"[a-z2-7]{26}")


def label_of(host: str) -> str | None:
    """Returns: the label of the preview at a host, with or without port; None for any other."""
    name = host.partition(":")[0].lower()
    label, _, domain = name.partition(".")
    ours = settings.PREVIEW_HOST.partition(":")[0] or LOCAL
    return label if domain == ours and _LABEL.fullmatch(label) else None


def host_of_previews(app_origin: str) -> str:
    """Returns: below which host and port the previews of somebody who visits the server there are.

    Empty where there can be none: only browsers on the server's own machine know *.localhost.
    """
    visited = urlsplit(app_origin)
    port = f":{visited.port}" if visited.port else ""
    if settings.PREVIEW_HOST:
        host: str = settings.PREVIEW_HOST
        return host if ":" in host else host + port
    return LOCAL + port if visited.hostname in _LOOPBACK else ""


def hosts_of_previews(app_origin: str) -> str:
    """Returns: the origins of all previews, as a source of a content policy; empty for none."""
    host = host_of_previews(app_origin)
    return f"{urlsplit(app_origin).scheme}://*.{host}" if host else ""


def origin_of(label: str, app_origin: str) -> str:
    """Returns: the origin of a preview."""
    scheme = urlsplit(app_origin).scheme
    return f"{scheme}://{label}.{host_of_previews(app_origin)}"


def keeps_secure_cookies(app_origin: str) -> bool:
    """Whether browsers keep secure cookies at the previews: with TLS, and on their own machine."""
    host = host_of_previews(app_origin).partition(":")[0]
    return urlsplit(app_origin).scheme == "https" or host == LOCAL
