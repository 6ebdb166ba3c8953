"""Which models may be used at all: `limits.models` of the server, the team and the project.

Each is a list of patterns such as `anthropic/*` or `openai/gpt-5*`. A model must be on every list
that there is, so a project cannot allow what its team does not. What counts is the name by which
its provider knows it: settings can give a model any other. Values only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fnmatch import fnmatchcase

from opencode_web.lib.instance_config import instance_config
from opencode_web.lib.json import JsonValue
from providers.catalog import Model, Provider
from teams.models import Team

Lists = tuple[tuple[str, ...], ...]


def allow_lists(team: Team, config: Mapping[str, JsonValue]) -> Lists:
    """Returns: the lists in force; `config` is what counts in a project, or the team's own."""
    found = (_list_of(one) for one in (instance_config(), team.config, config))
    return tuple(dict.fromkeys(one for one in found if one is not None))


def is_allowed(lists: Lists, model: Model) -> bool:
    """Whether a model is on every list."""
    name = f"{model.provider_id}/{model.api_id}"
    return all(any(fnmatchcase(name, pattern) for pattern in one) for one in lists)


def only_allowed(provider: Provider | None, lists: Lists) -> Provider | None:
    """Returns: the provider with the models that are on every list; None without any."""
    if provider is None or not lists:
        return provider
    models = {key: model for key, model in provider.models.items() if is_allowed(lists, model)}
    return replace(provider, models=models) if models else None


def _list_of(config: Mapping[str, JsonValue]) -> tuple[str, ...] | None:
    limits = config.get("limits")
    found = limits.get("models") if isinstance(limits, dict) else None
    if not isinstance(found, list):
        return None
    return tuple(one for one in found if isinstance(one, str))
