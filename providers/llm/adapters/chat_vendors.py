"""Vendors whose Chat Completions differ from the plain form in names and defaults alone.

Sources: each vendor's API reference; what OpenCode 1.18 sends them, recorded.
"""

from __future__ import annotations

from ..messages import ProviderRequest
from ..protocols.billed import of_perplexity
from ..protocols.chat import Chat, Dialect
from ..route import Adapter, Route, register
from .compatible import chat_route

_GROQ = Dialect(
    reasoning_field="reasoning",
    usage_on_demand=False,
    keeps_unknown_options=False,
    usage="reasoning",
    option_names={"reasoningFormat": "reasoning_format", "topK": "top_k"},
)
_CEREBRAS = Dialect(reasoning_field="reasoning", usage_on_demand=False)
_DEEPINFRA = Dialect(usage_on_demand=False)
_PERPLEXITY = Dialect(
    reasoning_field=None, usage_on_demand=False, usage="plain", billed=of_perplexity
)
# SDK package: address, dialect, headers of every call.
_VENDORS: dict[str, tuple[str, Dialect, dict[str, str]]] = {
    "@ai-sdk/groq": ("https://api.groq.com/openai/v1", _GROQ, {}),
    "@ai-sdk/cerebras": (
        "https://api.cerebras.ai/v1",
        _CEREBRAS,
        {"x-cerebras-3rd-party-integration": "opencode"},
    ),
    "@ai-sdk/togetherai": ("https://api.together.xyz/v1", Dialect(), {}),
    "@ai-sdk/perplexity": ("https://api.perplexity.ai", _PERPLEXITY, {}),
    "@ai-sdk/gateway": ("https://ai-gateway.vercel.sh/v1", Dialect(marks="claude"), {}),
    "@aihubmix/ai-sdk-provider": ("https://aihubmix.com/v1", Dialect(marks="claude"), {}),
    "venice-ai-sdk-provider": ("https://api.venice.ai/api/v1", Dialect(marks="claude"), {}),
    "@ai-sdk/vercel": ("https://api.v0.dev/v1", Dialect(), {}),
    "@ai-sdk/alibaba": (
        "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
        Dialect(marks="all"),
        {},
    ),
    "@ai-sdk/deepseek": ("https://api.deepseek.com", Dialect(always_reasoning=True), {}),
}
_DEEPINFRA_URL = "https://api.deepinfra.com/v1"


def _vendor(base_url: str, dialect: Dialect, headers: dict[str, str]) -> Adapter:
    protocol = Chat(dialect)

    def adapter(request: ProviderRequest) -> Route:
        route = chat_route(request, protocol, base_url)
        return Route(route.protocol, route.url, route.auth, headers)

    return adapter


_deepinfra_chat = Chat(_DEEPINFRA)


def _deepinfra(request: ProviderRequest) -> Route:
    # Its address is that of all its services; people give it with and without the last step.
    base_url = (request.model.base_url or _DEEPINFRA_URL).rstrip("/").removesuffix("/openai")
    route = chat_route(request, _deepinfra_chat, base_url)
    return Route(route.protocol, f"{base_url}/openai/chat/completions", route.auth)


for _npm, _facts in _VENDORS.items():
    register(_npm, _vendor(*_facts))
register("@ai-sdk/deepinfra", _deepinfra)
