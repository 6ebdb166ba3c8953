from __future__ import annotations

from providers.catalog import Model, Provider, known_provider
from providers.effective import effective_provider
from providers.llm.messages import ModelRef
from providers.offers import is_ready
from providers.resolve import Config, parse_ref
from teams.models import Team, User

# Provider -> the family of the catalog whose newest model does small tasks. Other providers of the
# catalog have the prompt's own model write. Source: what OpenCode 1.18 chooses, recorded.
_FAMILY = {
    "amazon-bedrock": "claude-haiku",
    "anthropic": "claude-haiku",
    "github-copilot": "gpt-mini",
    "google": "gemini-flash",
    "google-vertex": "gemini-flash",
    "google-vertex-anthropic": "claude-haiku",
    "openai": "gpt-nano",
    "opencode": "gpt-nano",
    "openrouter": "gemini-flash",
}
# Marks of a small model in its id, best first, for servers of one's own.
_MARKS = (
    *("haiku-4", "haiku", "gpt-5-nano", "flash-lite", "flash", "gpt-5-mini", "-nano"),
    *("4o-mini", "-mini", "-small"),
)


def small_model(team: Team, ref: ModelRef, config: Config, *, user: User | None = None) -> ModelRef:
    """Choose the model for a small task beside the work of `ref`, such as a title.

    Returns: the settings' `small_model` if the team has it; else a small one of the same provider,
    whose key is there already; else `ref`. It thinks as little as it can, unless that is a number
    of tokens: such a budget costs more than the task.
    """
    wanted = config.get("small_model")
    if isinstance(wanted, str):
        named = parse_ref(wanted)
        provider = effective_provider(team, named.provider_id, config, user=user)
        if provider is not None and named.model_id in provider.models:
            return _at_least_effort(provider.models[named.model_id])
    own = effective_provider(team, ref.provider_id, config, user=user)
    chosen = (_small(own) or own.models.get(ref.model_id)) if own else None
    return _at_least_effort(chosen) if chosen else ModelRef(ref.provider_id, ref.model_id)


def _small(provider: Provider) -> Model | None:
    usable = [model for model in provider.models.values() if is_ready(model)]
    if family := _FAMILY.get(provider.id):
        # At Amazon Bedrock the id that every region answers to; of two names for one, the dated.
        return max(
            (model for model in usable if model.family == family),
            key=lambda model: (model.release_date, model.id.startswith("global."), model.id),
            default=None,
        )
    if known_provider(provider.id) is not None:
        return None
    for mark in _MARKS:
        found = [model for model in usable if mark in model.id]
        if found:
            return max(found, key=lambda model: model.id)
    return None


def _at_least_effort(model: Model) -> ModelRef:
    """Name the first variant, which is the weakest, if it is an effort."""
    name, options = next(iter(model.variants.items()), ("", {}))
    config = options.get("thinkingConfig")
    has_level = isinstance(config, dict) and "thinkingLevel" in config
    named = {"reasoningEffort", "reasoning", "effort"} & options.keys()
    is_effort = (named and "thinking" not in options) or has_level
    return ModelRef(model.provider_id, model.id, name if is_effort else None)
