"""Answers before the model has said anything."""

from __future__ import annotations

from opencode_web.lib.ids import new_id
from sessions.events.messages import (
    AssistantMessage,
    MessageError,
    MessagePath,
    MessageTime,
    UserMessage,
)
from sessions.models import Session
from sessions.runner.settle import now_ms


def new_answer(session: Session, prompt: UserMessage) -> AssistantMessage:
    """The assistant message that will answer `prompt`."""
    return AssistantMessage(
        id=new_id("msg"),
        sessionID=session.pk,
        time=MessageTime(created=now_ms()),
        parentID=prompt.id,
        modelID=prompt.model.modelID,
        providerID=prompt.model.providerID,
        variant=prompt.model.variant,
        mode=prompt.agent,
        agent=prompt.agent,
        path=MessagePath(cwd=session.directory, root=session.worktree),
    )


def failed_answer(session: Session, prompt: UserMessage, error: MessageError) -> AssistantMessage:
    """An answer that says why there is none."""
    info = new_answer(session, prompt)
    return info.model_copy(
        update={
            "error": error,
            "time": MessageTime(created=info.time.created, completed=info.time.created),
        }
    )
