"""Answers that are large and seldom change: told apart by an ETag, and compressed."""

from __future__ import annotations

import hashlib

from django.http import HttpRequest
from django.http.response import HttpResponse, HttpResponseBase
from django.utils.cache import get_conditional_response, patch_vary_headers
from django.utils.text import compress_string

from opencode_web.lib.public_url import without_base

# Clients read these whenever they start. Compressing adds random bytes, so that sizes tell nothing.
PATHS = frozenset(
    {
        *("/agent", "/command", "/config/providers", "/doc", "/experimental/tool", "/provider"),
        *("/skill", "/api/agent", "/api/command", "/api/model", "/api/provider", "/api/skill"),
    }
)
_MIN_BYTES = 1_024
_RANDOM_BYTES = 100


def lean(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    """Returns: 304 where the caller has it already, else the answer, compressed if it may be."""
    is_catalog = without_base(request.path) in PATHS and request.method in {"GET", "HEAD"}
    if not is_catalog or response.status_code != 200 or not isinstance(response, HttpResponse):
        return response
    etag = f'W/"{hashlib.sha256(response.content).hexdigest()[:32]}"'
    response["ETag"] = etag
    response["Cache-Control"] = "private, no-cache"
    patch_vary_headers(
        response, ["Accept-Encoding", "Authorization", "Cookie", "x-opencode-directory"]
    )
    known = get_conditional_response(request, etag=etag, response=response)
    if known is not response:
        assert known is not None
        return known
    if "gzip" in request.headers.get("Accept-Encoding", "") and len(response.content) > _MIN_BYTES:
        response.content = compress_string(response.content, max_random_bytes=_RANDOM_BYTES)
        response["Content-Encoding"] = "gzip"
        response["Content-Length"] = str(len(response.content))
    return response
