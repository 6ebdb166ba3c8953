"""Providers that take a key, and have to be told whose account it is."""

from __future__ import annotations

from ..adapters.azure import BAD_RESOURCE, RESOURCE_NAME
from ..adapters.cloudflare import ACCOUNT, BAD_ACCOUNT, BAD_GATEWAY, GATEWAY
from .base import SignIn, register_sign_in
from .methods import Prompt, key_method, matching

_ACCOUNT_ID = Prompt(
    "accountId",
    "Cloudflare Account ID",
    placeholder="1234567890abcdef1234567890abcdef",
    read=matching(ACCOUNT, BAD_ACCOUNT),
)
_GATEWAY_ID = Prompt(
    "gatewayId",
    "Cloudflare AI Gateway ID",
    placeholder="my-gateway",
    read=matching(GATEWAY, BAD_GATEWAY),
)
_RESOURCE = Prompt(
    "resourceName",
    "Azure resource name",
    placeholder="my-models",
    read=matching(RESOURCE_NAME.pattern, BAD_RESOURCE),
)

register_sign_in(SignIn("cloudflare-workers-ai", key_method("API key", _ACCOUNT_ID)))
register_sign_in(
    SignIn("cloudflare-ai-gateway", key_method("Gateway API token", _ACCOUNT_ID, _GATEWAY_ID))
)
register_sign_in(SignIn("azure", key_method("API key", _RESOURCE)))
