"""The rules in a repository's own opencode.json. Whoever can write there wrote it, also the agent.

So it can only tighten, and what must hold whatever an agent does belongs into the settings of the
project or the team.
"""

from __future__ import annotations

import os
from pathlib import Path

from opencode_web.lib.json import JsonObject, JsonValue
from opencode_web.lib.jsonc import parse_jsonc
from sessions.config.model import merge
from sessions.config.rule_levels import RULE_KEYS
from sessions.repository.brought import SETTINGS_FILES
from tools.errors import ToolError
from tools.paths import Located, read_bytes

_MAX_FILE_BYTES = 256 * 1024


def read_repository(root: Path) -> JsonObject:
    """Read the rules of all its files, as if they were one.

    Raises: ValueError naming the file that cannot be read.
    """
    real = Path(os.path.realpath(root))
    merged: JsonObject = {}
    for name in SETTINGS_FILES:
        if os.path.lexists(real / name):
            merged = join_rules(merged, _read(real, name))
    return merged


def _read(root: Path, name: str) -> JsonObject:
    path = Path(os.path.realpath(root / name))
    if not path.is_relative_to(root):
        raise ValueError(f"{name} is a link that leads out of the project")
    located = Located(root, root / name, path, path.relative_to(root).as_posix())
    try:
        text = read_bytes(located, max_bytes=_MAX_FILE_BYTES).decode("utf-8-sig")
        config = parse_jsonc(text)
    except (OSError, ToolError, ValueError) as exc:
        raise ValueError(f"{name}: {exc}") from exc
    if not isinstance(config, dict):
        raise ValueError(f"{name} must be an object")
    return config


def join_rules(base: JsonObject, config: JsonObject) -> JsonObject:
    """Join the rules of two files: those of the second count before the same ones of the first."""
    rules: JsonObject = {key: _as_object(config[key]) for key in RULE_KEYS if key in config}
    agents = config.get("agent")
    if agents is not None:
        if not isinstance(agents, dict):
            raise ValueError("agent must be an object")
        rules["agent"] = agents
    return merge(base, rules)


def _as_object(value: JsonValue) -> JsonValue:
    """An action for everything as an object, so that nothing of it is lost by joining."""
    return {"*": value} if isinstance(value, str) else value
