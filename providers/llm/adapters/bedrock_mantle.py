"""Models of Amazon Bedrock that speak Responses, at an endpoint of their own.

Source: https://docs.aws.amazon.com/bedrock/latest/userguide/bedrock-mantle.html; the addresses of
models are those of the catalog.
"""

from __future__ import annotations

from ..errors import RefusedRequest
from ..messages import ProviderRequest
from ..protocols.responses import Dialect, Responses
from ..protocols.responses_items import Items
from ..route import Route, register
from .bedrock import BAD_REGION, NO_REGION, REGION, bedrock_auth

_NAMESPACE = "mantle"
_MANTLE = Responses(Dialect(namespace=_NAMESPACE), Items(_NAMESPACE))
# Open models are below the plain path, all others below that of OpenAI's API.
_OPEN = ("openai.gpt-oss",)


def _mantle(request: ProviderRequest) -> Route:
    """Raises: RefusedRequest."""
    model = request.model
    region = model.connection.get("region", "")
    if not region:
        raise RefusedRequest(NO_REGION)
    if not REGION.fullmatch(region):
        raise RefusedRequest(BAD_REGION)
    path = "v1" if model.api_model.startswith(_OPEN) else "openai/v1"
    base = (model.base_url or f"https://bedrock-mantle.{region}.api.aws/{path}").rstrip("/")
    return Route(_MANTLE, f"{base}/responses", bedrock_auth(request, region))


register("@ai-sdk/amazon-bedrock/mantle", _mantle)
