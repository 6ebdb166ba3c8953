"""What clients ask of a server below a path of its host.

The root of the host may be another site's, unless a proxy passes these on; OpenID Connect has such
a document below the path, and clients look there, too. Source: RFC 8414, 3.1 and 5.
"""

from __future__ import annotations

from django.conf import settings
from django.urls import URLPattern, path

from opencode_web.mcp_server.urls import RESOURCE, SERVER, resource, server

_BASE = settings.BASE_PATH.lstrip("/")

urlpatterns: list[URLPattern] = [
    path(f"{RESOURCE}/{_BASE}/mcp", resource),
    path(f"{SERVER}/{_BASE}", server),
    path(f"{_BASE}/.well-known/openid-configuration", server),
]
