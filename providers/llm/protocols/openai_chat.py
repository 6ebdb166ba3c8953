"""Chat Completions as OpenAI itself and Azure serve them."""

from __future__ import annotations

from typing import cast

from ..json import JsonObject, JsonValue
from ..messages import ProviderRequest, ToolDefinition
from ..options import options_of
from ..schemas.exact import is_exact
from ..schemas.openai import reduced_schema
from .chat import Chat, Dialect
from .responses import NO_THINKING

_NAMES = {
    "store": "store",
    "metadata": "metadata",
    "maxCompletionTokens": "max_completion_tokens",
    "promptCacheRetention": "prompt_cache_retention",
    "safetyIdentifier": "safety_identifier",
    "logitBias": "logit_bias",
}


class OpenAIChat(Chat):
    """Models that reason have a developer, a limit of another name, and are not sampled."""

    def __init__(self) -> None:
        super().__init__(
            Dialect(reasoning_field=None, keeps_unknown_options=False, option_names=_NAMES)
        )

    def controls(self, request: ProviderRequest) -> JsonObject:
        """Returns: the limit of the answer and how it is sampled."""
        controls = super().controls(request)
        if request.model.capabilities.reasoning:
            if "max_tokens" in controls:
                controls["max_completion_tokens"] = controls.pop("max_tokens")
            if options_of(request).get("reasoningEffort") != NO_THINKING:
                controls.pop("temperature", None)
                controls.pop("top_p", None)
        return controls

    def tool(self, tool: ToolDefinition) -> JsonObject:
        """Returns: a tool as it is offered, its schema reduced."""
        wire = super().tool(tool)
        function = cast("JsonObject", wire["function"])
        function["parameters"] = reduced_schema(tool)
        if is_exact(tool):
            function["strict"] = True
        return wire

    def messages(self, request: ProviderRequest) -> list[JsonValue]:
        """Returns: the system's text and the conversation."""
        messages = super().messages(request)
        for message in messages[:1]:
            if request.model.capabilities.reasoning and isinstance(message, dict):
                message["role"] = "developer" if message["role"] == "system" else message["role"]
        return messages
