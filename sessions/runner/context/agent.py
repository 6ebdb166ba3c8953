"""`core/agent`: how the agent is to work. A switch of agent or model family is a change of it."""

from __future__ import annotations

from pydantic import TypeAdapter

from sessions.runner.context.source import Place, Source


def _observe(place: Place, _known: str | None) -> str | None:
    return place.agent.prompt or None


def _update(_old: str, new: str) -> str:
    return f"From here on you work by these instructions, no longer by the earlier ones:\n\n{new}"


SOURCE: Source[str] = Source(
    key="core/agent",
    type=TypeAdapter(str),
    observe=_observe,
    baseline=lambda text: text,
    update=_update,
    removal=lambda _old: "The earlier instructions on how to work no longer apply.",
)
