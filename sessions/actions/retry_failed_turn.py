"""Have the agent go on with a turn that a fault has ended, without a word from anybody."""

from __future__ import annotations

from django.db import transaction

from providers.llm.messages import ModelRef
from sessions.access import SessionAccess
from sessions.actions.compaction import request_compaction
from sessions.actions.prompts import PromptDraft, admit_prompt
from sessions.events.store import lock_session
from sessions.models import Message, Part, Session, State

_GO_ON = """\
The last answer did not come to its end because of a fault outside of this conversation. Nobody \
has said anything new. Carry on with what was asked last, from where it stands; look before you \
repeat a call that may have had effects."""


@transaction.atomic
def go_on_after_fault(
    access: SessionAccess, *, agent: str | None = None, model: ModelRef | None = None
) -> bool:
    """Ask again for what the newest answer has failed at; of several who do, one is heard.

    Without `agent` and `model` they are those of the prompt. A compaction is asked for anew.

    Returns: False when the session works or is a sub-agent's, or its newest answer has not failed.
    Raises: as `admit_prompt`.
    """
    session = lock_session(access.session.pk)
    prompt = _failed_prompt(session)
    if prompt is None:
        return False
    if Part.objects.filter(message=prompt, type="compaction").exists():
        request_compaction(access, model=model)
        return True
    draft = PromptDraft(
        parts=[{"type": "text", "text": _GO_ON, "synthetic": True}],
        agent=agent or prompt.data["agent"],
        model=model or _model_of(prompt),
    )
    admit_prompt(access, draft)
    return True


def _failed_prompt(session: Session) -> Message | None:
    # Only the call that a sub-agent works for gives it something to do.
    if session.state != State.IDLE or session.parent_id is not None:
        return None
    messages = session.messages.visible(session).order_by("-seq")
    newest = messages.first()
    if newest is None or newest.role != "assistant":
        return None
    error = newest.data.get("error")
    if not error or _is_stop(error):
        return None
    return messages.filter(role="user").first()


def _is_stop(error: dict[str, object]) -> bool:
    data = error.get("data")
    lost = isinstance(data, dict) and data.get("interrupted") is True
    return error.get("name") == "MessageAbortedError" and not lost


def _model_of(prompt: Message) -> ModelRef:
    chosen = prompt.data["model"]
    return ModelRef(chosen["providerID"], chosen["modelID"], chosen.get("variant"))
