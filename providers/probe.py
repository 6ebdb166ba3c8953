"""One tiny request to see whether a provider answers with this key."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import dataclass

from providers.funding import FundedRequest
from providers.llm.errors import NetworkError, ProviderError
from providers.llm.events import Failed, Finished
from providers.llm.messages import Text, UserMessage
from providers.llm.reasons import ErrorReason
from providers.stream import call
from providers.transport import one_time_pool

# For the whole exchange.
TIMEOUT_S = 30.0
# The answer is one word; more than this is not read.
_MAX_CHARS = 64 * 1024
# Some reasoning models refuse to answer in fewer.
MAX_TOKENS = 16
QUESTION = UserMessage((Text("Answer with the word ok."),))


@dataclass(frozen=True, slots=True)
class Outcome:
    """How it ended. `finished` is None where nobody has counted; no key is in `error`."""

    error: ProviderError | None = None
    finished: Finished | None = None
    # Refused before the model began.
    is_free: bool = False


def probe(request: FundedRequest) -> Outcome:
    """Ask the model `QUESTION`, the only message of the request.

    Must not be called on an event loop.
    """
    return asyncio.run(_probe(request))


async def _probe(request: FundedRequest) -> Outcome:
    received = 0
    try:
        async with (
            asyncio.timeout(TIMEOUT_S),
            one_time_pool() as pool,
            aclosing(call(request, pool)) as events,
        ):
            async for event in events:
                received += len(getattr(event, "text", ""))
                if received > _MAX_CHARS:
                    return Outcome()
                if isinstance(event, Failed):
                    return Outcome(event.error, is_free=event.is_free)
                if isinstance(event, Finished):
                    return Outcome(finished=event if event.is_counted else None)
    except TimeoutError:
        pass
    return Outcome(NetworkError(reason=ErrorReason.SILENT))
