"""Keys of settings that nobody knows: they are named and left out, and everything else counts.

What OpenCode knows and this server does not act on is kept, so that its files can be pasted. What
becomes a request to a provider, and an agent's keys, are anybody's. Where a wrong key could mean a
missing bound (`limits`, `network`, `sharing`, `websearch`) settings are refused instead.
Source: https://opencode.ai/config.json for the names of keys.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from functools import cache
from typing import Any, get_args, get_origin

from django.utils.translation import gettext as _
from pydantic import AliasChoices, BaseModel

from opencode_web.lib.json import JsonObject, JsonValue
from sessions.config.model import AgentConfig, Config, ExperimentalConfig
from sessions.config.programs import McpOAuthConfig

_KEPT: dict[type[BaseModel], tuple[str, ...]] = {
    Config: (
        *("$schema", "theme", "keybinds", "tui", "username", "layout", "logLevel", "server"),
        *("mode", "plugin", "watcher", "shell", "disabled_providers", "enabled_providers"),
        *("enterprise", "autoshare", "autoupdate", "snapshot"),
    ),
    ExperimentalConfig: (
        *("disable_paste_summary", "openTelemetry", "primary_tools", "mcp_timeout", "policies"),
        *("hook", "chatMaxRetries"),
    ),
    McpOAuthConfig: ("callbackPort", "redirectUri"),
}
_MAX_CHARS = 60
_MAX_SHOWN = 20
UNKNOWN = "It is not known here."

Path = tuple[str, ...]


def split_unknown(data: JsonObject) -> tuple[JsonObject, tuple[Path, ...]]:
    """Returns: the settings without the keys that nobody knows, and where those stood."""
    unknown: list[Path] = []
    return _known(data, Config, (), unknown), tuple(unknown)


def say_unknown(data: JsonObject) -> list[str]:
    """Returns: a sentence about the keys that nobody knows, if there are any."""
    unknown = split_unknown(data)[1]
    keys = {"keys": join_keys(unknown, guess=True)}
    return [_("Unknown keys were ignored: %(keys)s.") % keys] if unknown else []


def join_keys(paths: Iterable[Path], *, guess: bool = False) -> str:
    """Returns: such as `modle, mcp.shop.urll`, with `guess` and what may have been meant."""
    shown = [_shown(path, guess=guess) for path in sorted(paths)]
    return ", ".join([*shown[:_MAX_SHOWN], *(["…"] if len(shown) > _MAX_SHOWN else [])])


def _known(
    value: JsonObject, model: type[BaseModel], path: Path, unknown: list[Path]
) -> JsonObject:
    fields = _fields(model)
    kept: JsonObject = {}
    for key, item in value.items():
        if key in fields:
            kept[key] = _inside(item, fields[key], (*path, key), unknown)
        elif item is not None:  # what takes a key away is no key
            unknown.append((*path, key))
    return kept


# What a key holds: nothing that is looked into, one object, or objects by name.
_Shape = tuple[type[BaseModel] | None, bool]


def _inside(value: JsonValue, shape: _Shape, path: Path, unknown: list[Path]) -> JsonValue:
    model, by_name = shape
    if model is None or not isinstance(value, dict):
        return value
    if not by_name:
        return _known(value, model, path, unknown)
    return {
        name: _inside(item, (model, False), (*path, name), unknown) for name, item in value.items()
    }


@cache
def _fields(model: type[BaseModel]) -> dict[str, _Shape]:
    found: dict[str, _Shape] = dict.fromkeys(_KEPT.get(model, ()), (None, False))
    for name, field in model.model_fields.items():
        shape = next(_shapes(field.annotation), (None, False))
        other = field.validation_alias
        others = other.choices if isinstance(other, AliasChoices) else [other or field.alias]
        found |= {key: shape for key in (name, *others) if isinstance(key, str)}
    return found


def _shapes(annotation: Any) -> Iterator[_Shape]:  # Any: whatever stands behind a name
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        is_open = annotation is AgentConfig or annotation.model_config.get("extra") == "forbid"
        if not is_open:
            yield annotation, False
        return
    is_map = get_origin(annotation) is dict
    for inner in get_args(annotation):
        for model, by_name in _shapes(inner):
            yield model, by_name or is_map


def _shown(path: Path, *, guess: bool) -> str:
    # Who wrote the settings chose the names, and logs and headers are lines.
    key = "".join(one if one.isprintable() else "?" for one in ".".join(path)[:_MAX_CHARS])
    meant = get_close_matches(path[0], _fields(Config), n=1, cutoff=0.75)
    if not guess or len(path) > 1 or not meant:
        return key
    return _("%(key)s (did you mean %(guess)s?)") % {"key": key, "guess": meant[0]}
