from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncGenerator, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal

from providers.llm import encode, sent_limit
from providers.llm.errors import NetworkError, RateLimited
from providers.llm.events import Failed, Finished, FinishReason, StreamEvent, TextDelta
from providers.llm.facts import Cost
from providers.llm.messages import ProviderRequest, Usage
from providers.pricing import cost_of

Ending = Literal["finish", "cut", "refuse", "uncounted"]


def texts_in(value: Any) -> Iterator[str]:
    """Every text of what is sent, names included."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from texts_in(item)
    elif isinstance(value, list):
        for item in value:
            yield from texts_in(item)
    elif isinstance(value, str):
        yield value


def babble(tokens: int) -> str:
    """A text of so many bytes that does not repeat itself."""
    return " ".join(str(number * number) for number in range(tokens))[:tokens]


@dataclass
class Call:
    """One call as the vendor sees it. `writes`: as much as it would say, if it may."""

    request: ProviderRequest
    input_tokens: int
    limit: int
    writes: int
    written: int = 0
    go_on: asyncio.Event = field(default_factory=asyncio.Event)
    ending: Ending = "finish"
    is_over: bool = False

    def usage(self, written: int) -> Usage:
        # The dearest that it can be: all goes into the cache, and every byte is a token.
        return Usage(cache_write_tokens=self.input_tokens, output_tokens=written)


class StrictVendor:
    """Bills what its tokens cost to the last fraction, and never writes more than it may.

    Its tokenizer is the worst there is. It bills a call whose caller is gone as it was: what it has
    written until it was hung up on, all that it would have written where nobody told it.
    """

    def __init__(self, cost: Cost) -> None:
        self.cost = cost
        # By session.
        self.billed: defaultdict[str, Decimal] = defaultdict(Decimal)
        self.calls: dict[str, Call] = {}
        self.writes = 10
        self.waits = False

    def bill(self, call: Call, written: int) -> None:
        if not call.is_over:
            call.is_over = True
            self.billed[call.request.session_id] += cost_of(call.usage(written), self.cost)

    def run_on(self, call: Call) -> None:
        """Nobody hangs up: the answer is written to its end."""
        self.bill(call, min(call.writes, call.limit))

    async def stream(self, request: ProviderRequest) -> AsyncGenerator[StreamEvent, None]:
        wire = encode(request)
        asked = sum(len(text.encode()) for text in texts_in(wire))
        limit = sent_limit(wire)
        assert limit is not None, "a call on a budget has a limit on the wire"
        call = Call(request, asked, limit, self.writes)
        self.calls[request.session_id] = call
        try:
            # An early word, then the caller can be stopped, cut or killed.
            first = min(call.limit, call.writes, 3)
            call.written = first
            if self.waits:
                if first:
                    yield TextDelta(babble(first))
                await call.go_on.wait()
            if call.ending == "refuse":
                call.is_over = True
                yield Failed(RateLimited("Slow down."), is_free=True)
                return
            if call.ending == "cut":
                self.run_on(call)
                yield Failed(NetworkError("cut"))
                return
            call.written = min(call.limit, call.writes)
            rest = call.written - (first if self.waits else 0)
            if rest:
                yield TextDelta(babble(rest))
            self.bill(call, call.written)
            usage = Usage() if call.ending == "uncounted" else call.usage(call.written)
            ended = FinishReason.LENGTH if call.limit <= call.writes else FinishReason.STOP
            yield Finished(ended, usage)
        finally:
            self.bill(call, call.written)
