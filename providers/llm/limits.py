"""How long an answer may become."""

from __future__ import annotations

from .json import JsonObject
from .messages import ProviderRequest

# What is asked for when the model would give more.
MAX_OUTPUT_TOKENS = 32_000
# What different wires call the longest answer that is wanted.
OUTPUT_OPTIONS = (
    "max_tokens",
    "max_completion_tokens",
    "max_output_tokens",
    "maxOutputTokens",
    "maxTokens",
)


def output_limit(request: ProviderRequest, *, unknown: int | None = None) -> int | None:
    """Returns: the limit that is sent; `unknown` where nobody says one. Units: tokens.

    Whatever is given counts: the smallest of the request's, the settings' and the model's, of the
    last at most MAX_OUTPUT_TOKENS.
    """
    most = request.model.limit.output
    wanted = request.max_output_tokens or (min(most, MAX_OUTPUT_TOKENS) if most else unknown)
    bounds = [one for one in (wanted, output_option(request.model.options)) if one]
    return min(bounds) if bounds else None


def limit_with_thinking(request: ProviderRequest, budget: int, *, unknown: int) -> int:
    """The same where thinking counts as output: its budget is added, up to the model's limit."""
    limit = output_limit(request, unknown=unknown) or unknown
    if request.max_output_tokens:
        return limit
    return min(limit + budget, request.model.limit.output or limit + budget)


def thinking_budget(options: JsonObject) -> int:
    """What thinking takes of the output before the answer begins; a limit below is refused."""
    for name, field in (("thinking", "budgetTokens"), ("thinkingConfig", "thinkingBudget")):
        thinking = options.get(name)
        if isinstance(thinking, dict) and isinstance(budget := thinking.get(field), int):
            return budget
    return 0


def output_option(options: JsonObject) -> int | None:
    """Returns: the longest answer that the settings want. Units: tokens."""
    given = (options.get(name) for name in OUTPUT_OPTIONS)
    return min((one for one in given if isinstance(one, int) and one > 0), default=None)
