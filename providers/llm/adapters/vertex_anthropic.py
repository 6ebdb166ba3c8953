"""Claude on Google's Vertex AI.

Source: https://docs.cloud.google.com/vertex-ai/generative-ai/docs/partner-models/claude
"""

from __future__ import annotations

from urllib.parse import quote

from ..auth import bearer
from ..messages import ProviderRequest
from ..protocols.anthropic_messages import Dialect, Messages
from ..route import Route, register
from .vertex import vertex_address

_PROTOCOL = Messages(Dialect(tools_beta=False, eager_tools=False, body_version="vertex-2023-10-16"))


def _vertex(request: ProviderRequest) -> Route:
    model = request.model
    address = vertex_address(request, "v1", "anthropic")
    base = address if model.base_url else f"{address}/models"
    url = f"{base}/{quote(model.api_model, safe='@')}:streamRawPredict"
    token = model.secrets.get("accessToken") or model.api_key
    return Route(_PROTOCOL, url, bearer(token))


register("@ai-sdk/google-vertex/anthropic", _vertex)
