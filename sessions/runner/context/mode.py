"""`core/mode`: the plan reminder while plan mode is on, and one about building when it ends.

Being a source, each is told once and stays where it was told, and is part of the baseline when an
epoch begins in plan mode. OpenCode adds them in memory to the newest prompt of every turn instead,
which changes the history that the provider has in its cache.
"""

from __future__ import annotations

from pydantic import TypeAdapter

from sessions.agents.texts import read_text
from sessions.runner.context.source import ContextInputs, Source


def _observe(inputs: ContextInputs, _known: str | None) -> str | None:
    """Returns: where the plan is to be written, None while there is none to be made."""
    return inputs.plan_path if inputs.agent.name == "plan" else None


def _text(path: str) -> str:
    return read_text("plan").replace("{plan}", path)


SOURCE: Source[str] = Source(
    key="core/mode",
    type=TypeAdapter(str),
    observe=_observe,
    baseline=_text,
    update=lambda _old, new: _text(new),
    removal=lambda _old: read_text("build_switch"),
)
