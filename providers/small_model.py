from __future__ import annotations

from providers.effective import effective_providers
from providers.messages import ModelRef
from providers.resolve import Config, parse_ref
from teams.models import Team

# Marks of a small model in its id, best first. Source: OpenCode's own choice by provider.
_SMALL = (
    *("haiku-4", "haiku", "gpt-5-nano", "flash-lite", "flash", "gpt-5-mini", "-nano"),
    *("4o-mini", "-mini", "-small"),
)


def small_model(team: Team, ref: ModelRef, config: Config) -> ModelRef:
    """Choose the model for a small task beside the work of `ref`, such as a title.

    Returns: the settings' `small_model` if the team has it; else a small one of the same provider,
    whose key is there already; else `ref` without its variant.
    """
    providers = effective_providers(team, config)
    wanted = config.get("small_model")
    if isinstance(wanted, str):
        named = parse_ref(wanted)
        provider = providers.get(named.provider_id)
        if provider is not None and named.model_id in provider.models:
            return named
    own = providers.get(ref.provider_id)
    models = own.models.values() if own else ()
    usable = [model.id for model in models if model.status not in ("deprecated", "hidden")]
    small = [(_SMALL.index(mark), key) for key in usable for mark in _SMALL if mark in key]
    if not small:
        return ModelRef(ref.provider_id, ref.model_id)
    best = min(rank for rank, _ in small)
    # Of several versions the newest, which sorts last.
    return ModelRef(ref.provider_id, max(key for rank, key in small if rank == best))
