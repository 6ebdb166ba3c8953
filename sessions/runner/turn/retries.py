"""Whether a failed provider turn is tried again, and after how long. The log counts the tries."""

from __future__ import annotations

import random
from math import ceil

from opencode_web.lib.reasons import Cause
from opencode_web.lib.text import clean_json
from providers.llm.errors import (
    NetworkError,
    OverflowError_,
    ProviderError,
    RefusedFiles,
    ServerError,
)
from providers.llm.retry import delay_s, is_retryable
from providers.wire_errors import error_to_wire, told_of
from sessions.config.effective import project_limits
from sessions.config.model import DEFAULT_RETRY_WAIT_S
from sessions.events.messages import MessageError
from sessions.events.reasons import TurnReason, told_error
from sessions.runner.log.steps import ProviderTurn

_dice = random.SystemRandom()


def final_error(turn: ProviderTurn, error: ProviderError) -> MessageError | None:
    """Returns: the error that ends the turn; None when it is tried again."""
    if turn.summary is not None and isinstance(error, OverflowError_):
        if not turn.summary.is_shortened:
            return None
        return told_error(Cause(TurnReason.SUMMARY_TOO_LONG), name=error.wire_name)
    wire = wire_error(turn, error)
    if not is_retryable(error, attempt=turn.attempt):
        return wire
    limit_s = project_limits(turn.session.project).retry_wait_s or DEFAULT_RETRY_WAIT_S
    if (error.retry_after_s or 0) <= limit_s:
        return None
    values = {
        "why": told_of(error, advise=False),
        "wait_s": ceil(error.retry_after_s or 0),
        "limit_s": limit_s,
    }
    return told_error(Cause(TurnReason.RETRY_AFTER, values), name=wire.name, more=wire.data)


def cut_error(error: ProviderError, final: MessageError) -> MessageError:
    """Returns: the error of an answer of which something is there, so that it can be gone on with.

    Only of one that broke off: what was refused is asked for anew.
    """
    is_cut = isinstance(error, NetworkError | ServerError)
    if not is_cut or final.data.get("reason") == TurnReason.RETRY_AFTER:
        return final
    return told_error(Cause(TurnReason.CUT), name=final.name, more=final.data)


def wait_before_retry_s(turn: ProviderTurn, error: ProviderError) -> float:
    """Returns: how long to wait. What is asked for with less than before is asked at once."""
    if isinstance(error, OverflowError_ | RefusedFiles):
        return 0.0
    return delay_s(turn.attempt, error=error, jitter=_dice.random())


def wire_error(turn: ProviderTurn, error: ProviderError, *, advise: bool = True) -> MessageError:
    """Returns: what the provider said, as it stands in a message."""
    wire = clean_json(error_to_wire(error, provider_id=turn.info.providerID, advise=advise))
    return MessageError.model_validate(wire)
