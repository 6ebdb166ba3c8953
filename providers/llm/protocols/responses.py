"""Responses, OpenAI's second wire: a conversation is a list of items, an answer a list, too.

Source: https://platform.openai.com/docs/api-reference/responses and the vendors' own pages; what
differs was recorded from OpenCode's requests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from ..json import JsonObject, JsonValue
from ..limits import output_limit, output_option
from ..messages import ProviderRequest, ToolDefinition
from ..options import options_of, renamed
from ..route import Protocol
from ..schemas.exact import is_exact
from ..schemas.openai import reduced_schema
from .billed import Billed, not_said
from .responses_decoder import ResponsesDecoder
from .responses_items import Items

NAMES: Mapping[str, str] = {
    "include": "include",
    "store": "store",
    "metadata": "metadata",
    "truncation": "truncation",
    "user": "user",
    "maxToolCalls": "max_tool_calls",
    "parallelToolCalls": "parallel_tool_calls",
    "promptCacheKey": "prompt_cache_key",
    "promptCacheRetention": "prompt_cache_retention",
    "safetyIdentifier": "safety_identifier",
    "serviceTier": "service_tier",
}
NO_THINKING = "none"


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a vendor's Responses differ from OpenAI's in values; items are another matter."""

    # Under which name metadata of this vendor is kept.
    namespace: str = "openai"
    # Whether the system's text is a field of the body instead of the first item.
    has_instructions: bool = False
    # Whether the length of an answer is limited always, when somebody asks for it, or never.
    limit: Literal["always", "asked", "never"] = "always"
    # Whether a model that reasons is sampled as asked: always, while it does not think, or never.
    sampling: Literal["always", "unthinking", "never"] = "unthinking"
    schema_of: Callable[[ToolDefinition], JsonObject] = reduced_schema
    is_strict_told: bool = True
    # Whether texts and calls of an answer keep the ids of their items.
    keeps_item_ids: bool = True
    option_names: Mapping[str, str] = field(default_factory=lambda: NAMES)
    billed: Billed = not_said


class Responses(Protocol):
    """One vendor's form of it: a dialect, and how it writes items."""

    def __init__(self, dialect: Dialect | None = None, items: Items | None = None) -> None:
        self.dialect = dialect or Dialect()
        self.items = items or Items(self.dialect.namespace)

    def encode(self, request: ProviderRequest) -> JsonObject:
        """Returns: the body."""
        system = request.system_text
        items = self.items.of(request)
        body: JsonObject = {"model": request.model.api_model}
        if self.dialect.has_instructions:
            body["instructions"] = system
        elif system:
            items = [self.items.system(system, request), *items]
        body["input"] = items
        body.update(self._controls(request))
        body.update(self._options(request))
        if request.tools:
            body["tools"] = [self._tool(tool) for tool in request.tools]
            body["tool_choice"] = request.tool_choice
        body["stream"] = True
        return body

    def decoder(self, request: ProviderRequest) -> ResponsesDecoder:
        """Returns: a reader of the answer."""
        return ResponsesDecoder(
            self.dialect.namespace,
            keeps_item_ids=self.dialect.keeps_item_ids,
            billed=self.dialect.billed,
        )

    def _controls(self, request: ProviderRequest) -> JsonObject:
        controls: JsonObject = {}
        if self._is_sampled(request):
            if request.temperature is not None and request.model.capabilities.temperature:
                controls["temperature"] = request.temperature
            if request.top_p is not None:
                controls["top_p"] = request.top_p
        if limit := self._limit(request):
            controls["max_output_tokens"] = limit
        return controls

    def _is_sampled(self, request: ProviderRequest) -> bool:
        if self.dialect.sampling == "always" or not request.model.capabilities.reasoning:
            return True
        effort = options_of(request).get("reasoningEffort")
        return self.dialect.sampling == "unthinking" and effort == NO_THINKING

    def _limit(self, request: ProviderRequest) -> int | None:
        is_asked = bool(request.max_output_tokens or output_option(request.model.options))
        if self.dialect.limit == "never" or (self.dialect.limit == "asked" and not is_asked):
            return None
        return output_limit(request)

    def _options(self, request: ProviderRequest) -> JsonObject:
        given = options_of(request)
        options: JsonObject = {}
        if verbosity := given.get("textVerbosity"):
            options["text"] = {"verbosity": verbosity}
        options.update(renamed(given, self.dialect.option_names))
        if reasoning := dict(_reasoning(given)):
            options["reasoning"] = reasoning
        return options

    def _tool(self, tool: ToolDefinition) -> JsonObject:
        wire: JsonObject = {
            "type": "function",
            "name": tool.name,
            "description": tool.description,
            "parameters": self.dialect.schema_of(tool),
        }
        return {**wire, "strict": is_exact(tool)} if self.dialect.is_strict_told else wire


def _reasoning(options: JsonObject) -> Iterator[tuple[str, JsonValue]]:
    if isinstance(given := options.get("reasoning"), dict):
        yield from given.items()
    if effort := options.get("reasoningEffort"):
        yield "effort", effort
    if summary := options.get("reasoningSummary"):
        yield "summary", summary
