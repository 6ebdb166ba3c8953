"""OpenAI: by an API key, by a ChatGPT plan, and its models at OpenCode Zen."""

from __future__ import annotations

from collections.abc import Mapping

from ..auth import bearer
from ..messages import ProviderRequest
from ..protocols.responses import Dialect, Responses
from ..route import Protocol, Route, register
from .compatible import zen_headers

ZEN_URL = "https://opencode.ai/zen/v1"
OPENAI_URL = "https://api.openai.com/v1"
CHATGPT_URL = "https://chatgpt.com/backend-api/codex"
_PLAIN = Responses()
# OpenAI lets its models end by themselves unless somebody wants less.
_OPENAI = Responses(Dialect(limit="asked"))
# The plan's endpoint refuses what would limit or sample the answer.
_CHATGPT = Responses(Dialect(has_instructions=True, limit="never", sampling="never"))


def responses_route(
    request: ProviderRequest,
    protocol: Protocol,
    base_url: str,
    headers: Mapping[str, str] | None = None,
) -> Route:
    """Returns: a route to `/responses` below the model's address or the given one."""
    address = (request.model.base_url or base_url).rstrip("/")
    return Route(protocol, f"{address}/responses", bearer(request.model.api_key), headers or {})


def _openai(request: ProviderRequest) -> Route:
    provider_id = request.model.ref.provider_id
    if provider_id == "opencode":
        return responses_route(request, _PLAIN, ZEN_URL, zen_headers(request))
    session = {"session-id": request.session_id, "originator": "opencode"}
    if account := request.model.connection.get("chatgpt_account"):
        headers = {**session, "ChatGPT-Account-Id": account}
        return responses_route(request, _CHATGPT, CHATGPT_URL, headers)
    if provider_id == "openai":
        headers = {**session, **_payer(request)}
        return responses_route(request, _OPENAI, OPENAI_URL, headers)
    return responses_route(request, _PLAIN, OPENAI_URL)


def _payer(request: ProviderRequest) -> dict[str, str]:
    """Returns: whose usage it is, where a key belongs to several."""
    place = request.model.connection
    names = {"organization": "openai-organization", "project": "openai-project"}
    return {header: place[name] for name, header in names.items() if name in place}


register("@ai-sdk/openai", _openai)
