"""Cloudflare: Workers AI, and the gateway that sells models of other vendors.

Sources: https://developers.cloudflare.com/workers-ai/configuration/open-ai-compatibility/ and
https://developers.cloudflare.com/ai-gateway/usage/chat-completion/.
"""

from __future__ import annotations

import re
from dataclasses import replace

from ..auth import header
from ..errors import RefusedRequest
from ..json import JsonObject
from ..messages import ProviderRequest
from ..protocols.chat import Chat, Dialect
from ..route import Route, register
from ..texts import gettext_noop
from .compatible import chat_route

# They become parts of the address.
ACCOUNT = r"[A-Za-z0-9]{1,64}"
GATEWAY = r"[A-Za-z0-9_-]{1,64}"
BAD_ACCOUNT = gettext_noop("Enter a Cloudflare account ID. It has 32 letters and digits.")
BAD_GATEWAY = gettext_noop("Enter a gateway ID. It has letters, digits and hyphens.")
_NO_ACCOUNT = gettext_noop("Cloudflare needs an account: set `accountId` in its settings.")
_NO_GATEWAY = gettext_noop("The AI Gateway needs a name: set `gatewayId` in its settings.")
_WORKERS = Chat()


class Gateway(Chat):
    """It hands on what it is told, so that only what all of its vendors know is told."""

    def __init__(self) -> None:
        super().__init__(Dialect(keeps_unknown_options=False))

    def controls(self, request: ProviderRequest) -> JsonObject:
        """Returns: the limit of the answer and how it is sampled."""
        controls = super().controls(request)
        # OpenAI refuses this name for models that reason.
        if request.model.api_model.startswith("openai/") and request.model.capabilities.reasoning:
            controls.pop("max_tokens", None)
        return controls


_GATEWAY = Gateway()


def _workers(request: ProviderRequest) -> Route:
    """Raises: RefusedRequest."""
    account = _part(request, "accountId", ACCOUNT, BAD_ACCOUNT, _NO_ACCOUNT)
    address = f"https://api.cloudflare.com/client/v4/accounts/{account}/ai/v1"
    return chat_route(request, _WORKERS, address)


def _gateway(request: ProviderRequest) -> Route:
    """Raises: RefusedRequest."""
    account = _part(request, "accountId", ACCOUNT, BAD_ACCOUNT, _NO_ACCOUNT)
    gateway = _part(request, "gatewayId", GATEWAY, BAD_GATEWAY, _NO_GATEWAY)
    address = f"https://gateway.ai.cloudflare.com/v1/{account}/{gateway}/compat"
    # The bearer token would be taken for a key of the vendor behind it.
    key = header("cf-aig-authorization", request.model.api_key, prefix="Bearer ")
    return replace(chat_route(request, _GATEWAY, address), auth=key)


def _part(request: ProviderRequest, name: str, pattern: str, bad: str, missing: str) -> str:
    """Returns: a part of the address; "" where the whole address is given."""
    if request.model.base_url:
        return ""
    value = request.model.connection.get(name, "")
    if not re.fullmatch(pattern, value):
        raise RefusedRequest(bad if value else missing)
    return value


register("@ai-sdk/openai-compatible", _workers, provider_id="cloudflare-workers-ai")
# Whatever wire a model has at its own vendor, and whoever sells it here: never to be confused.
for _npm in ("ai-gateway-provider", "@ai-sdk/anthropic", "@ai-sdk/openai"):
    register(_npm, _gateway, provider_id="cloudflare-ai-gateway")
register("ai-gateway-provider", _gateway)
