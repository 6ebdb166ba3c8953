"""The texts below `prompts/`: how to work, for each family of models, and those of the server.

Families differ in their habits: one stops to ask too early, another writes too much. Each text
leans against its family's.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

_KIMI_PROVIDERS = frozenset({"kimi-for-coding", "moonshotai", "moonshotai-cn"})


@cache
def read_text(name: str) -> str:
    """Returns: the text `name` of this folder. Raises: FileNotFoundError for an unknown one."""
    path = Path(__file__).parent / "prompts" / f"{name}.txt"
    return path.read_text(encoding="utf-8").strip()


def family_of(api_model: str, *, provider_id: str) -> str:
    """Which text a model works by; `api_model` is the id that its provider knows.

    Source: behaviour facts 4.4, first hit. GPT-6 works by the text of the other GPTs, and Muse by
    the default, because nothing is known of habits of their own.
    """
    name = api_model.lower()
    if "muse" in api_model:
        return "default"
    if any(part in api_model for part in ("gpt-4", "o1", "o3")):
        return "gpt4"
    if "gpt" in api_model:
        return "codex" if "codex" in api_model and "gpt-6" not in api_model else "gpt"
    for part, family in (("gemini-", "gemini"), ("claude", "claude")):
        if part in api_model:
            return family
    if "trinity" in name:
        return "trinity"
    return "kimi" if "kimi" in name or provider_id in _KIMI_PROVIDERS else "default"
