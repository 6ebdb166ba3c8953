"""Cohere. Source: https://docs.cohere.com/reference/chat-stream."""

from __future__ import annotations

from ..auth import bearer
from ..messages import ProviderRequest
from ..protocols.cohere import Cohere
from ..route import Route, register

_URL = "https://api.cohere.com/v2"
_COHERE = Cohere()


def _cohere(request: ProviderRequest) -> Route:
    address = (request.model.base_url or _URL).rstrip("/")
    return Route(_COHERE, f"{address}/chat", bearer(request.model.api_key))


register("@ai-sdk/cohere", _cohere)
