"""One call of a server's tool, with what the server says and asks in the meantime."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from opencode_web.lib.json import JsonObject, JsonValue
from tools.context import Suspended
from tools.errors import ToolError
from tools.mcp.calls import SAMPLE, Ask, Call
from tools.mcp.exchange import Exchange, NotBegun, SignInNeeded
from tools.mcp.sampling import Refusal
from tools.mcp.unasked import progress_text

# Between two looks of people at how far it is.
_SHOWN_EVERY_S = 0.25
_ENDED = (
    "The server was ended while it waited for an answer. What it had done until then is not known, "
    "and the call was not repeated."
)


class Caller(Protocol):
    """Who calls a tool."""

    @property
    def call_id(self) -> str:
        """By which a call is found again that has waited for a person."""

    @property
    def has_asked(self) -> bool:
        """Whether this call has waited for a person before: it is not made anew."""

    async def show(self, progress: str) -> None:
        """Show how far the call is."""

    async def ask(self, params: JsonObject, asked: int) -> tuple[JsonObject, int]:
        """Ask a person what the server wants to know. `asked` is how often they were in this call.

        Returns: the result of `elicitation/create`, and how often they have been now.
        Raises: Suspended.
        """

    async def sample(self, params: JsonObject, number: int) -> JsonObject:
        """Have a model answer. `number` counts what was asked in this call, from 1.

        Returns: the result of `sampling/createMessage`. Raises: Refusal; Suspended.
        """


@dataclass
class Parked:
    """A call that waits for a person, while nobody waits for it."""

    call: Call
    ask: Ask
    asked: int


async def run_call(
    exchange: Exchange, params: JsonObject, caller: Caller, limit: asyncio.Timeout
) -> JsonObject:
    """Call a tool, or go on with a call that waited for a person. The time of a model is not
    counted for the `limit`.

    Returns: its result. Raises: ToolError; Suspended, and then the server still works on it.
    """
    parked = exchange.parked.pop(caller.call_id, None)
    if isinstance(parked, Parked):
        return await _follow(exchange, parked.call, caller, limit, parked.ask, parked.asked)
    if caller.has_asked:
        raise ToolError(_ENDED)
    call = exchange.begin("tools/call", params, follows=True)
    return await _follow(exchange, call, caller, limit)


def give_up_parked(exchange: Exchange) -> None:
    """Tell the server that nobody goes on any more with the calls that wait for a person."""
    for parked in exchange.parked.values():
        if isinstance(parked, Parked):
            exchange.decline(parked.ask)
            exchange.end(parked.call)
    exchange.parked.clear()


async def _follow(
    exchange: Exchange,
    call: Call,
    caller: Caller,
    limit: asyncio.Timeout,
    ask: Ask | None = None,
    asked: int = 0,
) -> JsonObject:
    shown_at, is_parked = 0.0, False
    said = exchange.log.count
    clock = asyncio.get_running_loop().time
    try:
        while not call.answer.done():
            if ask is not None:
                asked = await _answer(exchange, call, caller, limit, ask, asked)
                ask = None
            elif call.asks:
                ask = call.asks.popleft()
            elif call.progress is not None and clock() - shown_at >= _SHOWN_EVERY_S:
                shown_at, told, call.progress = clock(), call.progress, None
                if text := progress_text(told):
                    await caller.show(text)
            else:
                call.stirred.clear()
                await call.stirred.wait()
        return _with_log(call.answer.result(), exchange.log.since(said))
    except Suspended:
        assert ask is not None
        exchange.parked[caller.call_id] = Parked(call, ask, asked)
        is_parked = True
        raise
    except (NotBegun, SignInNeeded):
        raise
    except ToolError as exc:
        if log := exchange.log.since(said):
            raise ToolError(f"{exc.message}\n\n{_logged(log)}") from exc
        raise
    finally:
        if not is_parked:
            exchange.end(call)


async def _answer(
    exchange: Exchange, call: Call, caller: Caller, limit: asyncio.Timeout, ask: Ask, asked: int
) -> int:
    """Returns: how often a person has been asked now."""
    if ask.method == SAMPLE:
        with _stopped(limit):
            await _sample(exchange, call, caller, ask)
        return asked
    result, asked = await caller.ask(ask.params, asked)
    exchange.reply(ask, result)
    return asked


async def _sample(exchange: Exchange, call: Call, caller: Caller, ask: Ask) -> None:
    """Have a model answer, as long as the server waits for that."""
    task = asyncio.ensure_future(caller.sample(ask.params, ask.number))
    call.sampling = ask.id, task
    try:
        await asyncio.wait({task, call.answer}, return_when=asyncio.FIRST_COMPLETED)
        if task.done() and not task.cancelled():
            exchange.reply(ask, task.result())
    except Refusal as exc:
        exchange.refuse(ask, exc.message, code=exc.code)
    finally:
        call.sampling = None
        task.cancel()
        # What it has cost is written before anything else goes on.
        await asyncio.wait({task})
        if not task.cancelled():
            task.exception()  # of one that nobody waits for


@contextlib.contextmanager
def _stopped(limit: asyncio.Timeout) -> Iterator[None]:
    clock = asyncio.get_running_loop().time
    left_s = None if (ends := limit.when()) is None else ends - clock()
    limit.reschedule(None)
    try:
        yield
    finally:
        limit.reschedule(None if left_s is None else clock() + left_s)


def _with_log(result: JsonObject, log: str) -> JsonObject:
    """Only what has failed has to be explained."""
    if result.get("isError") is not True or not log:
        return result
    content = result.get("content")
    told: JsonObject = {"type": "text", "text": _logged(log)}
    parts: list[JsonValue] = [*content, told] if isinstance(content, list) else [told]
    return {**result, "content": parts}


def _logged(log: str) -> str:
    return f"Log of the server:\n{log}"
