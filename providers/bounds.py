"""The most that a call of a model can be billed, from the request as it is sent. Values only."""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal

from providers.encode import MAX_OUTPUT_TOKENS, Wire, encode_request
from providers.facts import Price, ProviderKind
from providers.messages import ProviderRequest, Usage
from providers.pricing import dearest_price, round_up

# An answer that may not be this long is not begun. Most are shorter.
LEAST_OUTPUT_TOKENS = 4_000
# What providers add to a request with tools: their own instructions, frames of messages.
# Source: https://docs.claude.com/en/docs/agents-and-tools/tool-use/overview#pricing (at most 735)
_ADDED_TOKENS = 1_500
# The most that a picture counts. Anthropic scales it to 1.6 megapixels (newer models to 4.8 of
# their 750 pixels a token); OpenAI's smallest models charge 2,833 tokens and 5,667 for each of 8
# tiles. Source: https://docs.claude.com/en/docs/build-with-claude/vision,
# https://platform.openai.com/docs/guides/images-vision#calculating-costs
_PICTURE_TOKENS = {ProviderKind.ANTHROPIC: 5_000}
_ANY_PICTURE_TOKENS = 50_000
# A document is read as text and as pictures of its pages, at most 100.
# Source: https://docs.claude.com/en/docs/build-with-claude/pdf-support
_DOCUMENT_TOKENS = 100 * (3_000 + 5_000)
# What is written around the texts and calls of an answer.
_FRAME_TOKENS = 500
# litellm makes this thinking budget of the highest effort.
_MOST_EFFORT_TOKENS = 8_192
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

    def cost(self, output: int | None = None) -> Decimal:
        """The most that the call costs when it writes at most `output` tokens. Units: USD."""
        written = self.output if output is None else min(output, self.output)
        read = max(self.price.input, self.price.cache_read, self.price.cache_write)
        tokens = _times(self.input, self.factors.input), _times(written, self.factors.output)
        return round_up((tokens[0] * read + tokens[1] * self.price.output) / 1_000_000)

    def cost_after(self, received_bytes: int) -> Decimal:
        """The same for a call that we ended when so much of its answer had come."""
        return self.cost(received_bytes + self.hidden + _FRAME_TOKENS)

    def affordable_output(self, amount: Decimal) -> int:
        """Returns: the longest answer that costs no more than `amount`, up to what is wanted.

        `amount` must be enough for `least_output`.
        """
        if self.cost() <= amount:
            return self.output
        each = self.price.output * self.factors.output / 1_000_000
        # One less, for the fraction of a token that is rounded up.
        return max(int((amount - self.cost(0)) / each) - 1, self.least_output)

    def raised(self, usage: Usage) -> Factors | None:
        """Returns: factors that would have held for `usage`; None where these have held."""
        written = usage.output_tokens + usage.reasoning_tokens
        found = Factors(
            _ratio(usage.prompt_tokens, self.input, self.factors.input),
            _ratio(written, self.output, self.factors.output),
        )
        return found if found != self.factors else None


def bound_of(request: ProviderRequest, factors: Factors) -> Bound:
    """Bound a request whose model has a price."""
    wire = encode_request(request)
    input_tokens = _input_tokens(request, wire)
    price = dearest_price(request.model.cost, _times(input_tokens, factors.input))
    output = wire.get("max_tokens") or MAX_OUTPUT_TOKENS
    thinking = _thinking_budget(wire)
    return Bound(
        input=input_tokens,
        output=output,
        least_output=min(output, thinking + LEAST_OUTPUT_TOKENS),
        hidden=_hidden_tokens(request, wire, output),
        price=price,
        factors=factors,
    )


def _input_tokens(request: ProviderRequest, wire: Wire) -> int:
    """No tokenizer makes more tokens of a text than it has bytes; pictures count by their size."""
    texts, pictures = [], 0
    for message in wire["messages"]:
        content = message.get("content")
        if isinstance(content, list):
            shown = [block for block in content if block.get("type") == "image_url"]
            pictures += sum(_picture_tokens(block, request.model.kind) for block in shown)
            message = {**message, "content": _texts(content)}
        texts.append(message)
    rest = {key: value for key, value in wire.items() if key not in ("messages", "extra_headers")}
    text = json.dumps([texts, rest], ensure_ascii=False)
    # More than the model reads is refused.
    fits = request.model.limit.context or pictures
    return len(text.encode()) + min(pictures, fits) + _ADDED_TOKENS


def _texts(content: list[Wire]) -> list[Wire]:
    return [block for block in content if block.get("type") != "image_url"]


def _picture_tokens(block: Wire, kind: ProviderKind) -> int:
    if block["image_url"]["url"].startswith("data:image/"):
        return _PICTURE_TOKENS.get(kind, _ANY_PICTURE_TOKENS)
    return _DOCUMENT_TOKENS


def _thinking_budget(wire: Wire) -> int:
    """What thinking takes of the output before the answer begins; a limit below is refused."""
    thinking = wire.get("thinking")
    if isinstance(thinking, dict) and isinstance(budget := thinking.get("budget_tokens"), int):
        return budget
    return _MOST_EFFORT_TOKENS if wire.get("reasoning_effort") else 0


def _hidden_tokens(request: ProviderRequest, wire: Wire, output: int) -> int:
    """Returns: tokens that may be billed and are not streamed, or only summed up."""
    model = request.model
    if not model.capabilities.reasoning:
        return 0
    thinking = wire.get("thinking")
    if model.kind is ProviderKind.ANTHROPIC and not wire.get("reasoning_effort"):
        if not isinstance(thinking, dict) or thinking.get("type") == "disabled":
            return 0
        return _thinking_budget(wire) or output
    return output


def _times(tokens: int, factor: Decimal) -> int:
    return int((tokens * factor).to_integral_value(ROUND_CEILING))


def _ratio(billed: int, expected: int, factor: Decimal) -> Decimal:
    if billed <= _times(expected, factor):
        return factor
    found = (Decimal(billed) / max(expected, 1)).quantize(Decimal("0.001"), ROUND_CEILING)
    return min(found, _MOST_FACTOR)
