"""The check of the settings of this server, before it starts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core import checks
from django.core.checks import CheckMessage, Error, register

from opencode_web.lib.errors import Invalid
from opencode_web.lib.instance_config import read_instance_config
from opencode_web.lib.json import JsonObject
from providers.config import parse_blocks
from sessions.config.known_keys import Path, join_keys, split_unknown
from sessions.config.model import parse_settings
from sessions.config.reference_hints import say_references

# What has a setting of its own, or belongs to a team.
_ELSEWHERE = {
    "network": "SANDBOX_NETWORK and SANDBOX_HOSTS say what commands reach at most",
    "mcp": "MCP servers are set up by each team",
    "plugin": "each team adds plugins itself, and repositories have .opencode/plugin",
}


@register("opencode_web")
def check_instance_config(
    app_configs: Sequence[AppConfig] | None = None, **_: Any
) -> list[CheckMessage]:
    """Find what is wrong with the file of INSTANCE_CONFIG."""
    usual = settings.DATA_DIR / "opencode.json"
    try:
        config = read_instance_config(settings.INSTANCE_CONFIG, usual)
        require_sound(config)
    except ValueError as exc:
        problem = str(exc)
    except Invalid as exc:
        problem = exc.message
    else:
        return [*_unknown(split_unknown(config)[1]), *map(_reference, say_references(config))]
    return [
        Error(
            f"The settings of this server in {settings.INSTANCE_CONFIG or usual} cannot be used: "
            f"{problem}",
            hint="Mend the file, which is a JSON object like an opencode.json, or set "
            "INSTANCE_CONFIG to another one.",
            id="opencode_web.E011",
        )
    ]


def _unknown(paths: Sequence[Path]) -> Iterator[CheckMessage]:
    if paths:
        yield checks.Warning(
            "Keys in the settings of this server are not known and do not count: "
            f"{join_keys(paths)}",
            hint="Look for a slip in their names, or take them out.",
            id="opencode_web.W013",
        )


def _reference(said: str) -> CheckMessage:
    return checks.Warning(
        f"In the settings of this server {said}",
        hint="Write what is meant in its place.",
        id="opencode_web.W015",
    )


def require_sound(config: JsonObject) -> None:
    """Raises: Invalid naming the first key that is wrong, or has no place in such a file."""
    parse_settings(config)
    for key, reason in _ELSEWHERE.items():
        if key in config:
            raise Invalid(f"{key}: {reason}.", field=key)
    for provider_id, block in parse_blocks(config).items():
        if block.options.apiKey:
            raise Invalid(
                f"provider.{provider_id}.options.apiKey: keys are stored encrypted by each team. "
                "Remove the key here, and set it in the team settings under Models."
            )
