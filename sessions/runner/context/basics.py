"""`core/basics`: what holds for every agent on this server, also for one with its own prompt."""

from __future__ import annotations

from pydantic import TypeAdapter

from sessions.agents.texts import read_text
from sessions.runner.context.source import ContextInputs, Source


def _observe(_place: ContextInputs, _known: str | None) -> str:
    return read_text("basics")


SOURCE: Source[str] = Source(
    key="core/basics",
    type=TypeAdapter(str),
    observe=_observe,
    baseline=lambda text: text,
    update=lambda _old, new: new,
    removal=lambda _old: "",
)
