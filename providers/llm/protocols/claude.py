"""What Claude wants on every wire that is its own: Messages and Bedrock's Converse.

Source: https://platform.claude.com/docs/en/build-with-claude/extended-thinking and
…/prompt-caching; what OpenCode 1.18 sends, recorded.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ..families.ids import claude_version
from ..json import JsonObject, JsonValue
from ..limits import MAX_OUTPUT_TOKENS, limit_with_thinking, output_limit
from ..messages import ProviderRequest, ToolChoice

MIN_BUDGET_TOKENS = 1_024
# The stable start is paid once, and the rest is read back from the turn before. Four may be marked.
MARKED_TURNS = 2
_EPHEMERAL: JsonObject = {"type": "ephemeral"}
_CAPITAL = re.compile(r"(?<!^)(?=[A-Z])")
# From here on its models refuse whatever says how to sample.
_UNSAMPLED = (4, 7)
# From here on they think, if adaptively, where a call is demanded, too; before, that is refused.
_THINKS_BEFORE_A_DEMAND = (4, 8)


@dataclass(frozen=True, slots=True)
class Thinking:
    """How a call thinks. `fields` are those of the body; `limit` counts thinking, too.

    With `takes_no_demand` the vendor refuses a demand for a call: it can only be asked for.
    """

    limit: int
    fields: JsonObject = field(default_factory=dict)
    is_on: bool = False
    takes_no_demand: bool = False

    def choice_of(self, request: ProviderRequest) -> ToolChoice:
        """Returns: whether some tool has to be called, as far as that can be said."""
        is_refused = request.tool_choice == "required" and self.takes_no_demand
        return "auto" if is_refused else request.tool_choice


def thinking_of(request: ProviderRequest, options: JsonObject) -> Thinking:
    """Returns: what the options say of thinking and of effort, as the vendor takes it."""
    limit = output_limit(request, unknown=MAX_OUTPUT_TOKENS) or MAX_OUTPUT_TOKENS
    wire = in_snake_case(options.get("thinking"))
    thinking = wire if isinstance(wire, dict) else {}
    kind = thinking.get("type")
    if kind == "enabled":
        limit, thinking = _budgeted(request, limit, thinking)
    fields: JsonObject = {"thinking": thinking} if thinking else {}
    if isinstance(effort := options.get("effort"), str):
        fields["output_config"] = {"effort": effort}
    is_on = bool(thinking) and kind != "disabled"
    is_old = claude_version(request.model.api_model) < _THINKS_BEFORE_A_DEMAND
    is_free = kind == "adaptive" and not is_old
    return Thinking(limit, fields, is_on=is_on, takes_no_demand=is_on and not is_free)


def _budgeted(request: ProviderRequest, limit: int, thinking: JsonObject) -> tuple[int, JsonObject]:
    """Returns: a limit that the budget, at least the smallest there is, leaves something of."""
    given = thinking.get("budget_tokens")
    budget = given if isinstance(given, int) else MIN_BUDGET_TOKENS
    raised = limit_with_thinking(request, budget, unknown=MAX_OUTPUT_TOKENS)
    budget = min(budget, raised - 1)
    if budget < MIN_BUDGET_TOKENS:
        return limit, {}
    return raised, {**thinking, "budget_tokens": budget}


@dataclass(frozen=True, slots=True)
class Sampling:
    """None is not sent."""

    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None


def sampling_of(request: ProviderRequest, *, is_thinking: bool) -> Sampling:
    """Returns: the temperature or else top-p, for the vendor refuses both together."""
    version = claude_version(request.model.api_model)
    if is_thinking or version >= _UNSAMPLED:
        return Sampling()
    temperature = request.temperature
    if temperature is not None and request.model.capabilities.temperature:
        return Sampling(temperature=min(max(temperature, 0.0), 1.0), top_k=request.top_k)
    return Sampling(top_p=request.top_p, top_k=request.top_k)


def cache_mark(options: JsonObject) -> JsonObject | None:
    """Returns: what marks the end of a prompt that is kept; None where the settings want none."""
    mark = options.get("cacheControl", _EPHEMERAL)
    return mark if isinstance(mark, dict) and mark.get("type") else None


def in_snake_case(value: JsonValue) -> JsonValue:
    """Returns: the same with the names of all fields as the vendor writes them."""
    if isinstance(value, dict):
        return {
            _CAPITAL.sub("_", name).lower(): in_snake_case(child) for name, child in value.items()
        }
    if isinstance(value, list):
        return [in_snake_case(child) for child in value]
    return value
