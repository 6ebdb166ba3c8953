"""What in saved settings has no effect here. It is not refused: files are pasted as they are.

Source: https://opencode.ai/config.json for the names of keys.
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

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
    unknown = sorted(data.keys() - _KNOWN)
    hints = [f"Not known here: {', '.join(map(_with_guess, unknown))}."] if unknown else []
    providers = effective_providers(team, whole)
    there = {f"{one.id}/{model}" for one in providers.values() for model in one.models}
    missing = sorted({name for name in _models(config) if name not in there})
    hints += [f"Model {name} is not set up." for name in missing]
    default = load_agents(config).get(config.default_agent or "")
    if config.default_agent and default is None:
        hints.append(f"There is no agent {config.default_agent}.")
    elif default is not None and not default.is_primary:
        hints.append(f"People cannot choose the agent {default.name}, so it is no default.")
    return hints


def _models(config: Config) -> Iterator[str]:
    yield from (name for name in (config.model, config.small_model) if name)
    yield from (agent.model for agent in config.agent.values() if agent.model)


def _with_guess(key: str) -> str:
    guess = get_close_matches(key, _KNOWN, n=1, cutoff=0.75)
    return f"{key[:60]} (did you mean {guess[0]}?)" if guess else key[:60]
