"""`core/prompt`: what a client sent as `system` with the newest prompt."""

from __future__ import annotations

from pydantic import TypeAdapter

from sessions.runner.context.source import ContextInputs, Source


def _observe(inputs: ContextInputs, _known: str | None) -> str | None:
    return inputs.prompt_system.strip() or None


def _render(text: str) -> str:
    return f"Sent with the newest prompt, to be followed while you work on it:\n\n{text}"


SOURCE: Source[str] = Source(
    key="core/prompt",
    type=TypeAdapter(str),
    observe=_observe,
    baseline=_render,
    update=lambda _old, new: _render(new),
    removal=lambda _old: "What was sent as instructions with an earlier prompt no longer applies.",
)
