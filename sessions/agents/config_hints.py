"""What in saved settings has no effect here. It is not refused: files are pasted as they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from django.utils.translation import gettext as _

from opencode_web.lib.json import JsonObject
from providers.catalog import Provider
from providers.effective import effective_providers
from providers.option_hints import option_hints
from sessions.agents.loader import load_agents
from sessions.config.effective import team_data
from sessions.config.model import Config, merge
from sessions.config.reference_hints import say_references
from teams.models import Team


def config_hints(team: Team, data: JsonObject) -> list[str]:
    """Check settings that were saved, a project's with the team's below them.

    Returns: sentences about models and agents that are not there, references that stay, and options
    without effect.
    """
    whole = merge(team_data(team), data)
    config = Config.model_validate(whole)
    providers = effective_providers(team, whole)
    there = _names(providers)
    hints = say_references(data)
    hints += [say_missing(name) for name in sorted({*_models(config)} - there)]
    hints += option_hints(data, providers, config.model or "")
    default = load_agents(config).get(config.default_agent or "")
    if config.default_agent and default is None:
        hints.append(_("There is no agent named %(name)s.") % {"name": config.default_agent})
    elif default is not None and not default.is_primary:
        said = _("People cannot choose the agent %(name)s, so it cannot be the default.")
        hints.append(said % {"name": default.name})
    return hints


def models_of(team: Team, data: JsonObject) -> frozenset[str]:
    """Returns: the models that there are with these settings, as `provider/model`."""
    return _names(effective_providers(team, data))


def _names(providers: Mapping[str, Provider]) -> frozenset[str]:
    return frozenset(f"{one.id}/{model}" for one in providers.values() for model in one.models)


def say_missing(model: str) -> str:
    """Returns: a sentence about a model that is not among those."""
    return _("Model %(name)s is not set up.") % {"name": model}


def _models(config: Config) -> Iterator[str]:
    yield from (name for name in (config.model, config.small_model) if name)
    yield from (agent.model for agent in config.agent.values() if agent.model)
