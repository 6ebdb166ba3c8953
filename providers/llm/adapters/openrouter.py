"""OpenRouter: Chat Completions with the reasoning of many vendors, each in its own form.

Source: https://openrouter.ai/docs/use-cases/reasoning-tokens and .../prompt-caching; what OpenCode
1.18 sends, recorded.
"""

from __future__ import annotations

from ..families.ids import is_claude
from ..json import JsonObject, JsonValue
from ..messages import (
    AssistantMessage,
    File,
    ProviderRequest,
    Reasoning,
)
from ..options import options_of, renamed
from ..protocols.chat import Chat, ChatDecoder, Dialect
from ..protocols.chat_marks import mark_for_cache
from ..protocols.claude import cache_mark
from ..protocols.turns import safe_id
from ..repairs import rename_calls
from ..route import Route, register
from .compatible import chat_route
from .openrouter_reasoning import OpenRouterDecoder, details_of, drop_repeated, is_accepted

_URL = "https://openrouter.ai/api/v1"
_HEADERS = {"http-referer": "https://opencode.ai/", "x-title": "opencode"}
_NAMES = {
    "promptCacheKey": "prompt_cache_key",
    "parallelToolCalls": "parallel_tool_calls",
    "serviceTier": "service_tier",
    "cacheControl": "cache_control",
}


class OpenRouter(Chat):
    """What is sent."""

    def __init__(self) -> None:
        super().__init__(Dialect(usage_on_demand=False, names_results=True, joins_prompts=False))

    def decoder(self, request: ProviderRequest) -> ChatDecoder:
        """Returns: a reader of the answer."""
        return OpenRouterDecoder()

    def encode(self, request: ProviderRequest) -> JsonObject:
        """Returns: the body."""
        is_narrow = is_claude(request.model.api_model)
        return super().encode(rename_calls(request, safe_id) if is_narrow else request)

    def controls(self, request: ProviderRequest) -> JsonObject:
        """Returns: the limit of the answer and how it is sampled."""
        controls = super().controls(request)
        if request.top_k is not None:
            controls["top_k"] = request.top_k
        return controls

    def options(self, request: ProviderRequest) -> JsonObject:
        """Returns: the options of the call; almost all have OpenRouter's own names."""
        options = options_of(request)
        if is_claude(request.model.api_model):
            # It is on the marks.
            options.pop("cacheControl", None)
        return renamed(options, _NAMES, keep_unknown=True)

    def messages(self, request: ProviderRequest) -> list[JsonValue]:
        """Returns: the conversation, marked for the cache where the model wants marks."""
        messages: list[JsonObject] = [
            one for one in super().messages(request) if isinstance(one, dict)
        ]
        if messages and messages[0]["role"] == "system":
            messages[0]["content"] = [{"type": "text", "text": messages[0]["content"]}]
        drop_repeated(messages)
        if is_claude(request.model.api_model) and (mark := cache_mark(options_of(request))):
            mark_for_cache(messages, mark)
        return [*messages]

    def file(self, file: File, *, fallback_name: str = "") -> JsonObject:
        """Returns: a part with a picture or a document, which may have no name here."""
        return super().file(file, fallback_name=fallback_name)

    def reasoning(self, message: AssistantMessage, request: ProviderRequest) -> JsonObject:
        """Returns: the thinking as a text, and its details as they came."""
        text = "".join(part.text for part in message.content if isinstance(part, Reasoning))
        given = [detail for part in message.content for detail in details_of(part)]
        model_id = request.model.api_model
        if not given:
            return {"reasoning": text} if text and not is_claude(model_id) else {}
        details: list[JsonValue] = [one for one in given if is_accepted(one, model_id)]
        return {**({"reasoning": text} if text else {}), "reasoning_details": details}


_OPENROUTER = OpenRouter()


def _openrouter(request: ProviderRequest) -> Route:
    route = chat_route(request, _OPENROUTER, _URL)
    return Route(route.protocol, route.url, route.auth, _HEADERS)


register("@openrouter/ai-sdk-provider", _openrouter)
