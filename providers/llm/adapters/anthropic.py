"""Anthropic, and those who serve its wire: Azure, OpenCode's gateway, compatible servers.

Source: https://platform.claude.com/docs/en/api/overview; Microsoft's page on Claude in Foundry.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from ..auth import header
from ..errors import RefusedRequest
from ..messages import ProviderRequest
from ..protocols.anthropic_messages import Dialect, Messages
from ..route import Route, register
from .azure import BAD_RESOURCE, NO_RESOURCE, azure_auth
from .compatible import zen_headers

_BASE_URL = "https://api.anthropic.com/v1"
_OWN = Messages(
    Dialect(
        betas=("interleaved-thinking-2025-05-14", "fine-grained-tool-streaming-2025-05-14"),
    )
)
_PLAIN = Messages()
_ENDS_IN_A_VERSION = re.compile(r"/v\d\w*$")
_AZURE_HOST = re.compile(r"^([\w-]+)\.openai\.azure\.com$")
_NAME = re.compile(r"[A-Za-z0-9-]+")


def _anthropic(request: ProviderRequest) -> Route:
    provider = request.model.ref.provider_id
    protocol = _OWN if provider == "anthropic" else _PLAIN
    is_azure = provider == "azure"
    address = _azure_address(request) if is_azure else _address(request)
    key = header("x-api-key", request.model.api_key)
    auth = azure_auth(request, "x-api-key") if is_azure else key
    return Route(protocol, f"{address}/messages", auth, zen_headers(request))


def _address(request: ProviderRequest) -> str:
    """Anthropic's own programs are given an address without a version, others one with it."""
    base = (request.model.base_url or _BASE_URL).rstrip("/").removesuffix("/messages")
    return base if _ENDS_IN_A_VERSION.search(base) else f"{base}/v1"


def _azure_address(request: ProviderRequest) -> str:
    base = (request.model.base_url or "").rstrip("/")
    resource = _AZURE_HOST.match(urlsplit(base).hostname or "")
    name = resource[1] if resource else request.model.connection.get("resourceName", "")
    if base and not resource:
        return f"{base}/v1" if base.endswith("/anthropic") else base
    if not name:
        raise RefusedRequest(NO_RESOURCE)
    if not _NAME.fullmatch(name):
        raise RefusedRequest(BAD_RESOURCE)
    return f"https://{name}.services.ai.azure.com/anthropic/v1"


register("@ai-sdk/anthropic", _anthropic)
