"""`core/mode`: the plan reminder while plan mode is on, and one about building when it ends.

Being a source, each is told once and stays where it was told, and is part of the baseline when an
epoch begins in plan mode. OpenCode adds them in memory to the newest prompt of every turn instead,
which changes the history that the provider has in its cache.
"""

from __future__ import annotations

from pydantic import TypeAdapter

from sessions.agents.texts import read_text
from sessions.runner.context.source import Place, Source


def _observe(place: Place, _known: str | None) -> str | None:
    return "plan" if place.agent.name == "plan" else None


SOURCE: Source[str] = Source(
    key="core/mode",
    type=TypeAdapter(str),
    observe=_observe,
    baseline=lambda _mode: read_text("plan"),
    update=lambda _old, _new: read_text("plan"),
    removal=lambda _old: read_text("build_switch"),
)
