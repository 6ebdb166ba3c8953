from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Generic, TypeVar

from pydantic import TypeAdapter

from opencode_web.lib.json import JsonValue
from opencode_web.lib.plugins.values import Place
from sessions.agents.loader import Agent
from sessions.config.model import Config
from sessions.mcp.servers import ServerWords
from sessions.repository.skills import Skill
from tools.permissions.rules import Ruleset
from tools.redaction import NO_SECRETS, Redactor

V = TypeVar("V")


@dataclass(frozen=True)
class ContextInputs:
    """What the sources of a session can observe at one safe boundary."""

    project: str
    place: Place
    # Where the session works, and the root of the worktree that this lies in.
    directory: Path
    worktree: Path
    agent: Agent
    provider_id: str
    # The model's id as its provider knows it.
    api_model: str
    config: Config
    # The text that came with the newest prompt.
    prompt_system: str
    today: date
    # Where a plan of this session is written, relative to the directory.
    plan_path: str = ".opencode/plans/plan.md"
    team_skills: Sequence[Skill] = ()
    # What commands reach, in words.
    network: str = "none"
    ruleset: Ruleset = ()
    # Asked for when something depends on it only.
    servers: Callable[[], Sequence[ServerWords]] = tuple
    # The newest texts of mentioned resources that have changed, by MCP server and address.
    resources: Callable[[], Mapping[tuple[str, str], str]] = dict
    redactor: Callable[[], Redactor] = lambda: NO_SECRETS


@dataclass(frozen=True)
class Source(Generic[V]):
    """One Context Source. The renderers must be pure; their texts are stored and sent as they are.

    `observe` gets the inputs and the value that the model knows.
    Returns: None when there is nothing to tell. Raises: Unavailable.
    """

    # `core/<name>` for ours, `custom/<name>` for others. Also the place in the order.
    key: str
    type: TypeAdapter[V]
    observe: Callable[[ContextInputs, V | None], V | None]
    baseline: Callable[[V], str]
    update: Callable[[V, V], str]
    # Of the value that was there. An empty text says nothing.
    removal: Callable[[V], str]
    # False: this change makes the whole baseline wrong, and another epoch begins.
    is_compatible: Callable[[V, V], bool] = lambda _old, _new: True

    def load(self, value: JsonValue) -> V:
        """Read a value of a snapshot. Raises: pydantic.ValidationError when its shape is old."""
        return self.type.validate_python(value)

    def dump(self, value: V) -> JsonValue:
        """Returns: the value as a snapshot has it."""
        dumped: JsonValue = self.type.dump_python(value, mode="json")
        return dumped
