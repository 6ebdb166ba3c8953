"""What in saved settings has no effect here. It is not refused: files are pasted as they are.

Source: https://opencode.ai/config.json for the names of keys.
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from django.utils.translation import gettext as _

from opencode_web.lib.json import JsonObject
from providers.effective import effective_providers
from sessions.agents.loader import load_agents
from sessions.config import Config, merge
from sessions.effective_config import team_data
from teams.models import Team

_KNOWN = frozenset(
    {
        *Config.model_fields,
        *("$schema", "theme", "keybinds", "tui", "username", "layout", "logLevel", "server"),
        *("mode", "command", "skills", "plugin", "mcp", "lsp", "formatter", "watcher"),
        *("disabled_providers", "enabled_providers", "enterprise"),
        *("autoshare", "autoupdate", "snapshot"),
    }
)


def config_hints(team: Team, data: JsonObject) -> list[str]:
    """Check settings that were saved, a project's with the team's below them.

    Returns: sentences about keys nobody knows, and models and agents that are not there.
    """
    whole = merge(team_data(team), data)
    config = Config.model_validate(whole)
    hints = unknown_keys(data)
    there = models_of(team, whole)
    missing = sorted({name for name in _models(config) if name not in there})
    hints += map(say_missing, missing)
    default = load_agents(config).get(config.default_agent or "")
    if config.default_agent and default is None:
        hints.append(_("There is no agent %(name)s.") % {"name": config.default_agent})
    elif default is not None and not default.is_primary:
        said = _("People cannot choose the agent %(name)s, so it is no default.")
        hints.append(said % {"name": default.name})
    return hints


def models_of(team: Team, data: JsonObject) -> frozenset[str]:
    """Returns: the models that there are with these settings, as `provider/model`."""
    providers = effective_providers(team, data).values()
    return frozenset(f"{one.id}/{model}" for one in providers for model in one.models)


def say_missing(model: str) -> str:
    """Returns: a sentence about a model that is not among those."""
    return _("Model %(name)s is not set up.") % {"name": model}


def unknown_keys(data: JsonObject) -> list[str]:
    """Returns: a sentence about keys nobody knows, if there are any."""
    unknown = ", ".join(_with_guess(key) for key in sorted(data.keys() - _KNOWN))
    return [_("Not known here: %(keys)s.") % {"keys": unknown}] if unknown else []


def _models(config: Config) -> Iterator[str]:
    yield from (name for name in (config.model, config.small_model) if name)
    yield from (agent.model for agent in config.agent.values() if agent.model)


def _with_guess(key: str) -> str:
    guess = get_close_matches(key, _KNOWN, n=1, cutoff=0.75)
    if not guess:
        return key[:60]
    return _("%(key)s (did you mean %(guess)s?)") % {"key": key[:60], "guess": guess[0]}
