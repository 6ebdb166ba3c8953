"""How providers say that a prompt is too long: by no common status or code, only by wordings.

Source: what vendors answer; each line names who says it, so that a line can be dropped when they
stop.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

PATTERNS: tuple[tuple[str, str], ...] = (
    (r"prompt is too long", "Anthropic"),
    (r"request_too_large", "Anthropic, status 413"),
    (r"input length.*exceeds?.*context", "Anthropic: input length and max_tokens exceed"),
    (r"input is too long for requested model", "Amazon Bedrock"),
    (r"exceeds the context window", "OpenAI"),
    (r"context[_ ]length[_ ]exceeded", "OpenAI code, repeated by many"),
    (r"exceeds (?:the )?(?:model'?s )?maximum context length", "litellm, vLLM, OpenRouter"),
    (r"maximum context length is \d+ tokens", "OpenAI-compatible servers"),
    (r"context length is only \d+ tokens", "vLLM"),
    (r"input token count.*exceeds the maximum", "Gemini"),
    (r"tokens in request more than max tokens allowed", "Gemini, older"),
    (r"maximum prompt length is \d+", "xAI"),
    (r"reduce the length of the messages", "Groq"),
    (r"exceeds (?:the )?maximum allowed input length of \d+ tokens", "hosted open models"),
    (r"input \(\d+ tokens\) is longer than the model'?s context length", "SGLang"),
    (r"exceeds the limit of \d+", "GitHub Copilot"),
    (r"exceeds the available context size", "llama.cpp"),
    (r"prompt has \d+ tokens, but the configured context size is \d+", "llama.cpp, newer"),
    (r"greater than the context length", "LM Studio"),
    (r"context window exceeds limit", "MiniMax"),
    (r"exceeded model token limit", "Kimi"),
    (r"request entity too large", "gateways in front of any provider"),
    (r"prompt too long", "Ollama"),
    (r"exceeded (?:max )?context length", "Ollama"),
    (r"too large for model with \d+ maximum context length", "Mistral"),
    (r"model_context_window_exceeded|prompt exceeds max length", "z.ai"),
    (r"too many tokens", "Cohere and others"),
    (r"token limit exceeded", "several gateways"),
    (r"^(?:400|413)\s*(?:status code)?\s*\(no body\)", "Cerebras, Mistral: the status alone"),
)

_CODES = frozenset({"context_length_exceeded", "model_context_window_exceeded"})

# "Too many tokens per minute" is a rate, not a length.
_NOT_OVERFLOW = re.compile(
    r"^(?:throttling error|service unavailable):|rate.?limit|too many requests"
    r"|tokens per (?:minute|day)|too many tokens, please wait",
    re.I,
)
_OVERFLOW = re.compile("|".join(f"(?:{pattern})" for pattern, _ in PATTERNS), re.I | re.S)


def is_overflow(*, status_code: int | None, codes: Sequence[str], text: str) -> bool:
    """Tell whether an answer means that the prompt is too long for the model."""
    if status_code == 413 or not _CODES.isdisjoint(codes):
        return True
    return not _NOT_OVERFLOW.search(text) and _OVERFLOW.search(text) is not None
