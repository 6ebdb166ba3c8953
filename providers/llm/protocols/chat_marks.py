"""Marks for the cache of a prompt on Chat Completions: on the last part of a text, or on a result.

Source: https://openrouter.ai/docs/features/prompt-caching; what OpenCode 1.18 sends, recorded.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..json import JsonObject, JsonValue
from .claude import MARKED_TURNS


def mark_for_cache(messages: Iterable[JsonObject], mark: JsonObject) -> None:
    """Mark the system's text and the last two turns; the results of one step are one of them."""
    turns: list[JsonObject] = []
    for message in messages:
        if turns and message["role"] == turns[-1]["role"] == "tool":
            turns[-1] = message
        else:
            turns.append(message)
    system = turns[:1] if turns and turns[0]["role"] == "system" else []
    for turn in [*system, *turns[len(system) :][-MARKED_TURNS:]]:
        _mark(turn, {"cache_control": mark})


def _mark(message: JsonObject, mark: JsonObject) -> None:
    """A message of the assistant takes none."""
    if message["role"] == "tool":
        message.update(mark)
    elif message["role"] in {"system", "user"}:
        content: JsonValue = message["content"]
        text: JsonObject = {"type": "text", "text": content}
        *others, last = content if isinstance(content, list) else [text]
        message["content"] = [*others, {**last, **mark} if isinstance(last, dict) else last]
