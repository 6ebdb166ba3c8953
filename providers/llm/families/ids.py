"""What ids of models say about them."""

from __future__ import annotations

import re

_GEMINI_VERSION = re.compile(r"gemini-(\d+)(?:\.(\d+))?")


def is_claude(model_id: str) -> bool:
    """Whether a model is one of Anthropic's, whoever serves it."""
    return "claude" in model_id or "anthropic" in model_id


def claude_version(model_id: str) -> tuple[int, int]:
    """Returns: (4, 5) of `claude-sonnet-4-5@20250929`; (0, 0) where the id says none."""
    name = model_id.partition("claude-")[2]
    found = re.search(r"(?<!\d)(\d{1,2})(?:[.-](\d{1,2}))?(?!\d)", name)
    return (int(found[1]), int(found[2] or 0)) if found else (0, 0)


def gemini_version(model_id: str) -> tuple[int, int]:
    """Returns: (2, 5) of `gemini-2.5-pro`; (0, 0) for other models."""
    found = _GEMINI_VERSION.search(model_id)
    return (int(found[1]), int(found[2] or 0)) if found else (0, 0)


def takes_thinking_level(model_id: str) -> bool:
    """Whether a Gemini is told a level of thinking and not a number of tokens."""
    return gemini_version(model_id) >= (3, 0)
