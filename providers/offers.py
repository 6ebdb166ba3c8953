"""Which models of the catalog are offered to somebody who has named none."""

from __future__ import annotations

import re
from collections.abc import Collection

from opencode_web.lib.json import JsonObject, JsonValue
from providers.catalog import COMPATIBLE_NPM, Model
from providers.llm import has_adapter

# Parts of ids of models that answer, but not in a chat: their modalities alone would let them in.
_OTHER_WORK = frozenset(
    {"realtime", "live", "audio", "voice", "voicechat", "speech", "tts", "stt", "asr", "whisper",
     "transcribe", "transcription", "embed", "embedding", "embeddings", "rerank", "reranker",
     "moderation"}
)  # fmt: skip
_BETWEEN_WORDS = re.compile(r"[^a-z]+")


def is_offered(model_id: str, description: JsonObject) -> bool:
    """An agent needs tools, and nobody should start with what is about to go."""
    return description.get("tool_call") is not False and is_listed(model_id, description)


def is_listed(model_id: str, description: JsonObject) -> bool:
    """Whether it can be picked. A model for other work can still be named in settings."""
    given = description.get("modalities")
    modalities = given if isinstance(given, dict) else {}
    ways = (_named(modalities.get(way)) for way in ("input", "output"))
    is_kept = description.get("status") != "deprecated"
    return is_kept and chats(model_id, *ways) and _is_spoken(description)


def is_ready(model: Model) -> bool:
    """Whether an agent can start with it: it has tools, and is neither on trial nor to go."""
    facts = model.capabilities
    return (
        facts.toolcall and model.status == "active" and chats(model.id, facts.input, facts.output)
    )


def chats(model_id: str, takes: Collection[str], gives: Collection[str]) -> bool:
    """Whether a model reads and writes text; nothing said means that it does."""
    words = _BETWEEN_WORDS.split(model_id.lower())
    is_text = all("text" in media for media in (takes, gives) if media)
    return is_text and _OTHER_WORK.isdisjoint(words)


def _is_spoken(description: JsonObject) -> bool:
    """A wire of its own that is not spoken here, or whose address each account has another of."""
    own = description.get("provider")
    if not isinstance(own, dict) or not own.get("npm"):
        return True
    npm = str(own["npm"])
    return has_adapter(npm) and not (npm == COMPATIBLE_NPM and "${" in str(own.get("api", "")))


def _named(media: JsonValue) -> list[str]:
    return [str(one) for one in media] if isinstance(media, list) else []
