"""The most that a call of a model can be billed, from the request as it is sent. Values only."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Decimal

from opencode_web.lib.json import JsonObject
from providers.llm import encode, sent_limit
from providers.llm.connection import write_body
from providers.llm.facts import Price
from providers.llm.families.ids import is_claude
from providers.llm.limits import MAX_OUTPUT_TOKENS, output_limit, thinking_budget
from providers.llm.messages import (
    File,
    Message,
    ProviderRequest,
    ResolvedModel,
    Text,
    ToolResultMessage,
    Usage,
    UserMessage,
)
from providers.llm.options import options_of
from providers.pricing import (
    dearest_price,
    hour_price,
    output_price,
    possible_tiers,
    round_up,
)

# An answer that may not be this long is not begun. Most are shorter.
LEAST_OUTPUT_TOKENS = 4_000
# What providers add to a request with tools: their own instructions, frames of messages.
# Source: https://docs.claude.com/en/docs/agents-and-tools/tool-use/overview#pricing (at most 735)
_ADDED_TOKENS = 1_500
# The most that a picture counts. Anthropic scales it to 1.6 megapixels (newer models to 4.8 of
# their 750 pixels a token); OpenAI's smallest models charge 2,833 tokens and 5,667 for each of 8
# tiles. Source: https://docs.claude.com/en/docs/build-with-claude/vision,
# https://platform.openai.com/docs/guides/images-vision#calculating-costs
_CLAUDE_PICTURE_TOKENS = 5_000
_ANY_PICTURE_TOKENS = 50_000
# A document is read as text and as pictures of its pages, at most 100.
# Source: https://docs.claude.com/en/docs/build-with-claude/pdf-support
_DOCUMENT_TOKENS = 100 * (3_000 + 5_000)
# What is written around the texts and calls of an answer.
_FRAME_TOKENS = 500
# How a body asks for an hour in the cache; in texts the quotes have backslashes.
_HOUR_MARK = b'"1h"'
# A report beyond this is taken for a mistake of the server: no budget would let a call through.
_MOST_FACTOR = Decimal(100)


@dataclass(frozen=True)
class Factors:
    """By how much a provider has been seen to bill more than these rules expect, from 1."""

    input: Decimal = Decimal(1)
    output: Decimal = Decimal(1)


@dataclass(frozen=True)
class Bound:
    """Units: tokens; `price` is the dearest that may hold. `output` is the limit that is sent."""

    input: int
    output: int
    # Below this the answer is not begun.
    least_output: int
    # Of the output, what nobody sees while it comes.
    hidden: int
    price: Price
    factors: Factors
    # Whether the prompt may be kept in the cache for an hour, which costs more.
    keeps_hour: bool = False

    def cost(self, output: int | None = None) -> Decimal:
        """The most that the call costs when it writes at most `output` tokens. Units: USD."""
        written = self.output if output is None else min(output, self.output)
        read = max(self.price.input, self.price.cache_read, self.price.cache_write)
        if self.keeps_hour:
            read = max(read, hour_price(self.price))
        tokens = _times(self.input, self.factors.input), _times(written, self.factors.output)
        return round_up((tokens[0] * read + tokens[1] * self._written) / 1_000_000)

    @property
    def _written(self) -> Decimal:
        return output_price(self.price, thinks=True)

    def cost_after(self, received_bytes: int) -> Decimal:
        """The same for a call that we ended when so much of its answer had come."""
        return self.cost(received_bytes + self.hidden + _FRAME_TOKENS)

    def affordable_output(self, amount: Decimal) -> int:
        """Returns: the longest answer that costs no more than `amount`, up to what is wanted.

        `amount` must be enough for `least_output`.
        """
        if self.cost() <= amount:
            return self.output
        each = self._written * self.factors.output / 1_000_000
        # One less, for the fraction of a token that is rounded up.
        return max(int((amount - self.cost(0)) / each) - 1, self.least_output)

    def raised(self, usage: Usage, cost: Decimal = Decimal(0)) -> Factors | None:
        """Returns: factors that would have held for `usage` and what it has `cost`; None where
        these have held.
        """
        written = usage.output_tokens + usage.reasoning_tokens
        # A provider that names an amount may take more than its tokens account for.
        beyond = max(cost / (self.cost() or cost or 1), Decimal(1))
        found = Factors(
            _ratio(usage.prompt_tokens, self.input, self.factors.input, beyond),
            _ratio(written, self.output, self.factors.output, beyond),
        )
        return found if found != self.factors else None


def bound_of(request: ProviderRequest, factors: Factors) -> Bound:
    """Bound a request whose model has a price."""
    # Files count by their kind, and nothing else of the body depends on them.
    body = encode(replace(request, messages=tuple(map(_without, request.messages))))
    written = write_body(body)
    input_tokens = _input_tokens(request, written)
    prompt_tokens = _times(input_tokens, factors.input)
    price = dearest_price(request.model.cost, prompt_tokens, possible_tiers(request))
    output = sent_limit(body) or output_limit(request) or MAX_OUTPUT_TOKENS
    options = options_of(request)
    return Bound(
        input=input_tokens,
        output=output,
        least_output=min(output, thinking_budget(options) + LEAST_OUTPUT_TOKENS),
        hidden=_hidden_tokens(request.model, options, output),
        price=price,
        factors=factors,
        keeps_hour=_HOUR_MARK in written,
    )


def _input_tokens(request: ProviderRequest, body: bytes) -> int:
    """No tokenizer makes more tokens of a text than it has bytes; `body` is without files."""
    tokens = sum(_file_tokens(file, request.model) for file in request.files)
    # More than the model reads is refused.
    fits = request.model.limit.context or tokens
    return len(body) + min(tokens, fits) + _ADDED_TOKENS


def _without(message: Message) -> Message:
    if isinstance(message, ToolResultMessage):
        return replace(message, files=())
    if isinstance(message, UserMessage):
        return UserMessage(tuple(part for part in message.content if isinstance(part, Text)))
    return message


def _file_tokens(file: File, model: ResolvedModel) -> int:
    if not file.is_image:
        return _DOCUMENT_TOKENS
    return _CLAUDE_PICTURE_TOKENS if _is_claude(model) else _ANY_PICTURE_TOKENS


def _is_claude(model: ResolvedModel) -> bool:
    """It thinks only when it is told to, and its pictures are counted by their size."""
    return is_claude(model.api_model) or model.npm == "@ai-sdk/anthropic"


def _hidden_tokens(model: ResolvedModel, options: JsonObject, output: int) -> int:
    """Returns: tokens that may be billed and are not streamed, or only summed up."""
    if not model.capabilities.reasoning:
        return 0
    thinking = options.get("thinking")
    if _is_claude(model) and not options.get("reasoningEffort"):
        if not isinstance(thinking, dict) or thinking.get("type") == "disabled":
            return 0
        return thinking_budget(options) or output
    return output


def _times(tokens: int, factor: Decimal) -> int:
    return int((tokens * factor).to_integral_value(ROUND_CEILING))


def _ratio(billed: int, expected: int, factor: Decimal, beyond: Decimal) -> Decimal:
    held = billed <= _times(expected, factor)
    if held and beyond == 1:
        return factor
    found = factor * beyond if held else Decimal(billed) / max(expected, 1)
    return min(found.quantize(Decimal("0.001"), ROUND_CEILING), _MOST_FACTOR)
