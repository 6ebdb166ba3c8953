"""The number of provider turns that an agent has for a batch of prompts.

In the last one the model may not call tools any more, and is told to come to an end. The tools stay
in the request, because without them the provider could not reuse its prompt cache.
"""

from __future__ import annotations

from dataclasses import replace

from providers.llm.messages import ProviderRequest, SystemMessage
from sessions.agents.loader import Agent
from sessions.agents.texts import read_text
from sessions.inbox import steps_since_promotion
from sessions.models import Session


def is_last_step(session: Session, agent: Agent) -> bool:
    """Whether the next answer is the last that the agent may give to the newest prompts."""
    if agent.steps is None:
        return False
    return steps_since_promotion(session, agent=agent.name) + 1 >= agent.steps


def end_with_text(request: ProviderRequest, agent: Agent) -> ProviderRequest:
    """Returns: the request of a last step."""
    notice = SystemMessage(read_text("last_step").format(steps=agent.steps))
    return replace(request, messages=(*request.messages, notice), tool_choice="none")
