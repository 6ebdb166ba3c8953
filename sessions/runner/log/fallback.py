"""Which model answers when a prompt's own does not: the next of the settings' list that can.

A turn goes down the list and never up; the next prompt begins with its own model again. What was
refused because of what was asked, and what a person or this server has ended, goes to no other one.
"""

from __future__ import annotations

from collections.abc import Sequence

from opencode_web.lib.ids import new_id
from opencode_web.lib.json import JsonObject
from opencode_web.lib.reasons import Cause, Told
from opencode_web.lib.text import clean_text
from providers.account_model import AccountModel
from providers.llm.errors import ProviderError
from providers.llm.messages import ModelRef
from providers.wire_errors import told_of
from sessions.agents.fallback_models import (
    OF_PROVIDER,
    Chosen,
    first_awake,
    models_of,
    usable_model,
)
from sessions.agents.loader import find_agent
from sessions.events.messages import AssistantMessage
from sessions.events.parts import PartModel, RetryPart
from sessions.events.reasons import TurnReason, told_error
from sessions.events.store import append
from sessions.events.types import PartUpdated
from sessions.models import Session
from sessions.runner.log.answers import ref_of
from sessions.runner.log.history import Prompted, newest_answer, newest_prompt
from sessions.runner.log.settle import now_ms
from sessions.runner.log.steps import ProviderTurn


def choose_model(
    session: Session,
    prompt: Prompted,
    refs: Sequence[ModelRef],
    *,
    again: AssistantMessage | None = None,
) -> Chosen:
    """Choose of `refs` who answers now: where the turn is in them, or the next that can.

    `again` is the answer that is tried once more, if it is one.

    Raises: AppError of the first when none of them can be used.
    """
    start = _position(session, prompt, refs, again)
    return usable_model(session.project, refs[start:], user=prompt.author)


def next_model(turn: ProviderTurn, error: ProviderError) -> Chosen | None:
    """Returns: who goes on with a turn whose model has failed for good; None for nobody."""
    if not isinstance(error, OF_PROVIDER):
        return None
    prompt = newest_prompt(turn.session)
    if prompt is None:
        return None
    setup = turn.setup
    agent = find_agent(setup.config, turn.info.agent)
    refs = models_of(setup.config, agent, turn.first or ref_of(prompt.info))
    left = refs[_index(refs, turn.info) + 1 :]
    return first_awake(turn.session.project, left, user=prompt.author)


def fallback_parts(info: AssistantMessage, chosen: Chosen) -> list[RetryPart]:
    """Returns: what the transcript says about the models that `chosen` has taken the place of."""
    return [
        _part(info, chosen.model, attempt=1, left=name, why=why)
        for name, why in chosen.skipped.items()
    ]


def say_skipped(session: Session, info: AssistantMessage, chosen: Chosen) -> None:
    """Say so in a locked session, where there is anything to say."""
    append(session, [PartUpdated(part=part) for part in fallback_parts(info, chosen)])


def failed_part(turn: ProviderTurn, chosen: Chosen, error: ProviderError) -> RetryPart:
    """Returns: the same about the model that has just failed."""
    return _part(
        turn.info,
        chosen.model,
        attempt=turn.attempt,
        left=turn.request.model.name,
        why=told_of(error, advise=False),
    )


def _part(
    info: AssistantMessage, model: AccountModel, *, attempt: int, left: str, why: Told
) -> RetryPart:
    said = clean_text(why.strip().rstrip(".")) if isinstance(why, str) else why
    told = Cause(TurnReason.FELL_BACK, {"model": left, "why": said, "next": model.name})
    more: JsonObject = {"isRetryable": True}
    return RetryPart(
        id=new_id("prt"),
        sessionID=info.sessionID,
        messageID=info.id,
        attempt=attempt,
        error=told_error(told, name=ProviderError.wire_name, more=more),
        time={"created": now_ms()},
        fallback=PartModel(providerID=model.ref.provider_id, modelID=model.ref.model_id),
    )


def _position(
    session: Session, prompt: Prompted, refs: Sequence[ModelRef], again: AssistantMessage | None
) -> int:
    if len(refs) == 1:
        return 0
    answer = None if again else newest_answer(session)
    info = again or (answer.info if answer else None)
    if info is None or info.parentID != prompt.info.id:
        return 0
    return _index(refs, info)


def _index(refs: Sequence[ModelRef], info: AssistantMessage) -> int:
    names = [(ref.provider_id, ref.model_id) for ref in refs]
    current = (info.providerID, info.modelID)
    return names.index(current) if current in names else 0
