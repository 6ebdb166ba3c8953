"""`core/agent`: how to work, by the agent's own instructions or else those for the model's family.

A switch of agent or model does not end the epoch: the new instructions are told in mid-conversation
when they differ. They usually do not, since build and plan have none of their own and a team's
models are often of one family.
"""

from __future__ import annotations

from pydantic import TypeAdapter

from sessions.agents.texts import family_of, read_text
from sessions.runner.context.source import ContextInputs, Source


def _observe(inputs: ContextInputs, _known: str | None) -> str:
    family = family_of(inputs.api_model, provider_id=inputs.provider_id)
    return inputs.agent.prompt or read_text(family)


def _update(_old: str, new: str) -> str:
    return f"From here on you work by these instructions, no longer by the earlier ones:\n\n{new}"


SOURCE: Source[str] = Source(
    key="core/agent",
    type=TypeAdapter(str),
    observe=_observe,
    baseline=lambda text: text,
    update=_update,
    removal=lambda _old: "",
)
