"""One request to a model beside the session's turns, such as for a title, and what it has cost."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass

from providers.funding import FundedRequest
from providers.llm.errors import ProviderError
from providers.llm.events import Failed, Finished, TextDelta
from providers.pricing import charge_for
from providers.stream import stream
from sessions.events.types import SessionUsed
from sessions.models import Session
from sessions.runner.log.funds import to_tokens, used_at_most
from teams.actions.budgets import settle


@dataclass(frozen=True)
class SingleAnswer:
    """What has come of a request. Nobody knows what one without any of this has cost."""

    text: str = ""
    finished: Finished | None = None
    # Refused before the model began.
    is_free: bool = False
    error: ProviderError | None = None


async def ask_once(request: FundedRequest) -> SingleAnswer:
    """Make the request. Nothing is tried again."""
    chunks: list[str] = []
    finished: Finished | None = None
    is_free, error = False, None
    async with aclosing(stream(request)) as events:
        async for event in events:
            match event:
                case TextDelta(text):
                    chunks.append(text)
                case Finished():
                    finished = event
                case Failed():
                    # The stream has logged what it was.
                    chunks.clear()
                    is_free, error = event.is_free, event.error
                case _:
                    pass
    return SingleAnswer("".join(chunks), finished, is_free, error)


def settle_single(
    session: Session,
    request: FundedRequest,
    answer: SingleAnswer,
    *,
    call_id: str,
    author_id: int | None,
) -> Sequence[SessionUsed]:
    """End what was set apart for it. Returns: what it has cost, for the transaction to append."""
    held = settle(session.project.team, call_id)
    finished = answer.finished
    if finished is None or not finished.is_counted:
        return [] if held is None or answer.is_free else [used_at_most(held, held.amount)]
    ref, charge = request.model.ref, charge_for(finished, request)
    used = SessionUsed(
        cost=charge.cost,
        tokens=to_tokens(finished.usage),
        provider_id=ref.provider_id,
        model_id=ref.model_id,
        api_model=request.model.other_name,
        prompt_id=request.prompt_id or None,
        author_id=author_id,
        basis=charge.said_basis,
    )
    return [used]
