"""A change of the agent that a call proposed and a person agreed to.

The call itself changes nothing: that it is completed says what was agreed. At the boundary behind
it a message in the name of the prompt's author hands the work to the other agent, so the call keeps
the rules of its own turn, and a lost worker finds the agreement in the rows.
Source: FEAT-0002 FR-05, FR-06; behaviour facts 1.15.
"""

from __future__ import annotations

from opencode_web.lib.ids import new_id
from opencode_web.lib.json import JsonObject
from providers.resolve import parse_ref
from sessions.agents.loader import Agent, find_agent
from sessions.config.effective import session_config
from sessions.events.messages import MessageModel, UserMessage
from sessions.events.parts import PartTime, TextPart, ToolCompleted
from sessions.events.types import MessageUpdated, PartUpdated, SessionEvent, SessionUpdated
from sessions.models import Session
from sessions.runner.compaction.compact import copy_prompt
from sessions.runner.log.history import Answer, newest_prompt
from sessions.runner.log.settle import now_ms

_TOOLS = ("plan_enter", "plan_exit")
_TEXTS = {
    "plan_enter": "Plan mode was agreed to. Look around, ask what you have to know, and write the "
    "plan to `{plan}`. Then call plan_exit.",
    "plan_exit": "The plan in `{plan}` was approved. Carry it out now.",
}


def is_switch(tool: str, metadata: JsonObject) -> bool:
    """Whether a completed call changes the agent, so that the turn ends with its step."""
    return tool in _TOOLS and bool(metadata.get("agent"))


def agreed_switch(answer: Answer | None) -> tuple[str, JsonObject] | None:
    """Returns: the newest call of an answer that changes the agent, by its name and metadata."""
    agreed = [
        (part.tool, part.state.metadata)
        for part in (answer.tools if answer is not None else ())
        if isinstance(part.state, ToolCompleted) and is_switch(part.tool, part.state.metadata)
    ]
    return agreed[-1] if agreed else None


def switch_events(session: Session, tool: str, metadata: JsonObject) -> list[SessionEvent]:
    """Returns: the message with which the other agent begins; nothing when it is at work already.

    `session` is locked, and its newest prompt is the one that the message stands in for.
    """
    prompt = newest_prompt(session)
    agent = find_agent(session_config(session), str(metadata["agent"]))
    if prompt is None or agent.name == prompt.info.agent:
        return []
    info = copy_prompt(prompt.info)
    info = info.model_copy(update={"agent": agent.name, "model": _model(agent, info)})
    now = now_ms()
    part = TextPart(
        id=new_id("prt"),
        sessionID=session.pk,
        messageID=info.id,
        text=_TEXTS[tool].format(plan=metadata.get("plan")),
        synthetic=True,
        time=PartTime(start=now, end=now),
    )
    model: JsonObject = {"providerID": info.model.providerID, "id": info.model.modelID}
    if info.model.variant:
        model["variant"] = info.model.variant
    return [
        MessageUpdated(info=info, author_id=prompt.author.pk if prompt.author else None),
        PartUpdated(part=part),
        SessionUpdated(agent=agent.name, model=model),
    ]


def _model(agent: Agent, info: UserMessage) -> MessageModel:
    if not agent.model:
        return info.model
    ref = parse_ref(agent.model, variant=agent.variant or None)
    return MessageModel(providerID=ref.provider_id, modelID=ref.model_id, variant=ref.variant)
