"""Which models of the catalog are offered to somebody who has named none."""

from __future__ import annotations

import re
from collections.abc import Collection

from opencode_web.lib.json import JsonObject
from providers.address_templates import is_template
from providers.catalog import COMPATIBLE_NPM, Model
from providers.descriptions import media_of, number_of, object_of
from providers.llm import has_adapter

# What nothing but names tells: models that look like the others in the catalog, and that wait for
# sound, watch a screen, sort texts into kinds, or are called by another interface.
_OTHER_WORK = re.compile(
    r"(?<![a-z])(?:realtime|live|audio|voicechat|speech|tts|stt|asr|safety|moderation|translate"
    r"|banana|gliner\d?|image|computer-use|(?<!sonar-)deep-research)(?![a-z])"
    r"|voice(?![a-z])|guard|embed|rerank|whisper|transcri|ocr(?![a-z])"
)
# The instructions and tools of an agent are longer than this.
_LEAST_CONTEXT_TOKENS = 10_000
# What a model writes that sorts, scores or embeds.
_LEAST_OUTPUT_TOKENS = 256


def is_offered(model_id: str, description: JsonObject) -> bool:
    """An agent needs tools, and nobody should start with what is about to go."""
    return description.get("tool_call") is not False and is_listed(model_id, description)


def is_listed(model_id: str, description: JsonObject) -> bool:
    """Whether it can be picked. A model for other work can still be named in settings."""
    if description.get("status") == "deprecated":
        return False
    return _is_spoken(description) and _chats(model_id, description)


def is_ready(model: Model) -> bool:
    """Whether an agent can start with it: it has tools, and is neither on trial nor to go."""
    facts = model.capabilities
    is_able = facts.toolcall and model.status == "active"
    return is_able and _reads_and_writes(facts.input, facts.output) and not _is_other(model.id)


def _chats(model_id: str, description: JsonObject) -> bool:
    """Whether it talks with people in text, as far as the catalog tells; by its name else."""
    modalities, limit = (
        object_of(description.get("modalities")),
        object_of(description.get("limit")),
    )
    gives = media_of(modalities.get("output"))
    if not _reads_and_writes(media_of(modalities.get("input")), gives):
        return False
    context, output = number_of(limit.get("context")), number_of(limit.get("output"))
    if 0 < context < _LEAST_CONTEXT_TOKENS or 0 < output < _LEAST_OUTPUT_TOKENS:
        return False
    if description.get("tool_call") is False:
        cost = object_of(description.get("cost"))
        # Pictures, videos and songs; and vectors and scores, of which nobody pays the writing.
        makes_media = gives != {"text"}
        if makes_media or (cost.get("input") and cost.get("output") == 0):
            return False
    return not _is_other(model_id) and not _is_other(str(description.get("family") or ""))


def _reads_and_writes(takes: Collection[str], gives: Collection[str]) -> bool:
    return "text" in takes and "text" in gives


def _is_other(name: str) -> bool:
    return _OTHER_WORK.search(name.lower()) is not None


def _is_spoken(description: JsonObject) -> bool:
    """A wire of its own that is not spoken here, or whose address each account has another of."""
    own = description.get("provider")
    if not isinstance(own, dict) or not own.get("npm"):
        return True
    npm = str(own["npm"])
    return has_adapter(npm) and not (npm == COMPATIBLE_NPM and is_template(str(own.get("api", ""))))
