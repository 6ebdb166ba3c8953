"""What plugins said of themselves when they were loaded. Nothing is checked."""

from __future__ import annotations

from dataclasses import dataclass, field

from opencode_web.lib.json import JsonObject, JsonValue, object_of
from tools.mcp.exchange import Greeted


@dataclass(frozen=True)
class Loaded:
    """What a plugin has, or its `problem`. Of tools: {name, description, parameters}.

    `config` is what its hook of that name has set: {setting: {name: value}}; `unset` names the
    other settings that it wanted to change.
    """

    path: str
    hooks: tuple[str, ...] = ()
    tools: tuple[JsonObject, ...] = ()
    problem: str = ""
    config: JsonObject = field(default_factory=dict)
    unset: tuple[str, ...] = ()
    config_problem: str = ""


def loaded(greeted: Greeted) -> tuple[Loaded, ...]:
    """Returns: the plugins in the order in which they were loaded."""
    return tuple(
        Loaded(
            str(one.get("path", "")),
            _texts(one.get("hooks")),
            tuple(tool for tool in list_of(one.get("tools")) if isinstance(tool, dict)),
            str(one.get("problem") or ""),
            object_of(one, "config"),
            _texts(one.get("unset")),
            str(one.get("configProblem") or ""),
        )
        for one in list_of(greeted.hello.get("plugins"))
        if isinstance(one, dict)
    )


def problems_of(greeted: Greeted) -> dict[str, str]:
    """Returns: why plugins could not be loaded, by their path. Asked for each hook."""
    return {
        str(one.get("path", "")): str(one["problem"])
        for one in list_of(greeted.hello.get("plugins"))
        if isinstance(one, dict) and one.get("problem")
    }


def list_of(value: JsonValue) -> list[JsonValue]:
    """Returns: the value if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def _texts(value: JsonValue) -> tuple[str, ...]:
    return tuple(text for text in list_of(value) if isinstance(text, str))
