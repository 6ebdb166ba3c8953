"""`core/date`: today, in UTC. At midnight a running session is told by a message."""

from __future__ import annotations

from datetime import date

from pydantic import TypeAdapter

from sessions.runner.context.source import ContextInputs, Source


def _observe(inputs: ContextInputs, _known: date | None) -> date:
    return inputs.today


def _render(day: date) -> str:
    # Not by strftime: its names would follow the locale of the process.
    weekday = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
    return f"Today is {weekday[day.weekday()]}, {day.isoformat()} (UTC)."


SOURCE: Source[date] = Source(
    key="core/date",
    type=TypeAdapter(date),
    observe=_observe,
    baseline=_render,
    update=lambda _old, new: f"The day has changed. {_render(new)}",
    removal=lambda _old: "",
)
