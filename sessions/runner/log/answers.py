"""Answers before the model has said anything."""

from __future__ import annotations

from opencode_web.lib.ids import new_id
from providers.llm.messages import ModelRef
from sessions.events.messages import (
    AssistantMessage,
    MessageError,
    MessageModel,
    MessagePath,
    MessageTime,
    UserMessage,
)
from sessions.events.parts import PartModel
from sessions.models import Session
from sessions.runner.log.settle import now_ms


def new_answer(
    session: Session, prompt: UserMessage, ref: ModelRef | None = None
) -> AssistantMessage:
    """The assistant message that will answer `prompt`, by `ref` if not by the model it names."""
    ref = ref or ref_of(prompt)
    return AssistantMessage(
        id=new_id("msg"),
        sessionID=session.pk,
        time=MessageTime(created=now_ms()),
        parentID=prompt.id,
        modelID=ref.model_id,
        providerID=ref.provider_id,
        variant=ref.variant,
        mode=prompt.agent,
        agent=prompt.agent,
        path=MessagePath(cwd=session.directory, root=session.worktree),
    )


def ref_of(prompt: UserMessage) -> ModelRef:
    """The model that a prompt is for."""
    return ModelRef(prompt.model.providerID, prompt.model.modelID, prompt.model.variant)


def model_for(info: AssistantMessage, named: PartModel | None) -> MessageModel:
    """The model that a part of a prompt names, else that of the answer which calls for it."""
    own = MessageModel(providerID=info.providerID, modelID=info.modelID, variant=info.variant)
    if named is None or (named.providerID, named.modelID) == (own.providerID, own.modelID):
        return own
    # The answer's variant is one of another model.
    return MessageModel(providerID=named.providerID, modelID=named.modelID)


def failed_answer(session: Session, prompt: UserMessage, error: MessageError) -> AssistantMessage:
    """An answer that says why there is none."""
    info = new_answer(session, prompt)
    return info.model_copy(
        update={
            "error": error,
            "time": MessageTime(created=info.time.created, completed=info.time.created),
        }
    )
