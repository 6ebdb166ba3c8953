"""Options of the settings without effect: nothing here reads them, and no wire has them."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping

from django.utils.translation import gettext as _

from opencode_web.lib.json import JsonObject, JsonValue
from providers.catalog import Model, Provider
from providers.config import SECRET_OPTIONS, OptionsConfig, ProviderBlock, parse_blocks
from providers.llm import unused_options
from providers.llm.messages import ModelRef, ResolvedModel
from providers.llm.options import SHARED_OPTIONS
from providers.llm.secret import Secret

logger = logging.getLogger(__name__)

_READ_HERE = frozenset({*OptionsConfig.model_fields, *SECRET_OPTIONS})
# Of the models of a provider that an option may be for.
_MAX_TRIED = 40
_MAX_LOGGED = 10_000
_logged: set[tuple[str, str]] = set()


def option_hints(
    config: Mapping[str, JsonValue], providers: Mapping[str, Provider], default: str
) -> list[str]:
    """Check the options of `provider` and of `agent`; `default` is the model of agents without one.

    Returns: one sentence for each place that has options without effect.
    """
    found = [*_of_blocks(config, providers), *_of_agents(config, providers, default)]
    return [
        _("%(place)s: these options have no effect: %(names)s.")
        % {"place": place, "names": ", ".join(names)}
        for place, names in found
        if names
    ]


def log_unused(model: ResolvedModel) -> None:
    """Name what a call leaves out of its model's options, once for each model and option."""
    options = {key for key in model.options if (str(model.ref), key) not in _logged}
    if not options:
        return
    if len(_logged) > _MAX_LOGGED:
        _logged.clear()
    _logged.update((str(model.ref), key) for key in options)
    for name in options.intersection(unused_options(model)):
        logger.warning("option without effect: model=%s option=%s", model.ref, name)


Found = Iterator[tuple[str, list[str]]]


def _of_blocks(config: Mapping[str, JsonValue], providers: Mapping[str, Provider]) -> Found:
    for provider_id, block in parse_blocks(config).items():
        provider = providers.get(provider_id)
        if provider is None:
            continue
        place = f"provider.{provider_id}"
        yield f"{place}.options", _of_provider(block, provider)
        for model_id, given in block.models.items():
            model = provider.models.get(model_id)
            if model is None:
                continue
            own = f"{place}.models.{model_id}"
            yield f"{own}.options", unused_names(model, given.options)
            for variant, options in given.variants.items():
                shown = {key: value for key, value in options.items() if key != "disabled"}
                yield f"{own}.variants.{variant}", unused_names(model, shown)


def _of_provider(block: ProviderBlock, provider: Provider) -> list[str]:
    given = block.options.model_dump(exclude_none=True, exclude_unset=True)
    shared = {key: value for key, value in given.items() if key in SHARED_OPTIONS}
    unused = set(given) - _READ_HERE - SHARED_OPTIONS
    models = list(provider.models.values())[:_MAX_TRIED]
    if shared and models:
        unused |= set[str].intersection(*(set(unused_names(model, shared)) for model in models))
    return [name for name in given if name in unused]


def _of_agents(
    config: Mapping[str, JsonValue], providers: Mapping[str, Provider], default: str
) -> Found:
    agents = config.get("agent")
    for name, agent in agents.items() if isinstance(agents, dict) else ():
        options = agent.get("options") if isinstance(agent, dict) else None
        if not isinstance(agent, dict) or not isinstance(options, dict):
            continue
        provider_id, _slash, model_id = str(agent.get("model") or default).partition("/")
        provider = providers.get(provider_id)
        model = provider.models.get(model_id) if provider else None
        if model is not None:
            yield f"agent.{name}.options", unused_names(model, options)


def unused_names(model: Model, options: Mapping[str, JsonValue]) -> list[str]:
    """Returns: the names of options that have no effect on calls of a model."""
    given: JsonObject = dict(options)
    if not given:
        return []
    resolved = ResolvedModel(
        ref=ModelRef(model.provider_id, model.id),
        npm=model.npm,
        api_model=model.api_id,
        base_url=None,
        api_key=Secret(""),
        name=model.name,
        options=given,
        limit=model.limit,
        capabilities=model.capabilities,
    )
    return unused_options(resolved)
