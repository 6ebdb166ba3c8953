"""JSON-RPC with one server over whatever carries its messages, for as long as it lives.

ToolError
├── SignInNeeded   it requires a sign-in
├── ServerGone     it has ended, or was ended, before it answered
└── NotBegun       it was gone before, or has forgotten who asks: nothing was done
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from opencode_web.lib.json import JsonObject, JsonValue
from tools.errors import ToolError
from tools.mcp.calls import ELICIT, SAMPLE, Ask, Call
from tools.mcp.unasked import CHANGES, UPDATED, Log, told_of

VERSION = "2025-06-18"
MAX_MESSAGE_BYTES = 16 * 1024 * 1024
# What a server may say unasked in a window of time; more is one that keeps the worker busy.
_WINDOW_S = 10.0
_WINDOW_MESSAGES = 10_000
# After so many that were taken in one go, others on the loop have their turn.
_IN_A_ROW = 64
# Messages that may wait for the server to read them, and how long it may take to read one.
_MAX_WAITING = 256
_READS_WITHIN_S = 30.0
_LAST_WORDS_S = 3.0
_SOON_S = 2.0
_DEAF = "The server does not read what it is sent."
_METHOD_NOT_FOUND, _INTERNAL_ERROR = -32601, -32603


class SignInNeeded(ToolError):
    """The server requires a sign-in. `challenge` is its `WWW-Authenticate`."""

    def __init__(self, challenge: str = "") -> None:
        super().__init__("It wants a sign-in.")
        self.challenge = challenge


class ServerGone(ToolError):
    """The server has ended, or was ended, before it answered."""


class NotBegun(ToolError):
    """The server had ended or forgotten this session before it was asked, so nothing was done."""


class Rate:
    """A bound on what comes within any window of time. `what` is the unit, in words."""

    def __init__(self, most: int, problem: str) -> None:
        self._most = most
        self._problem = problem
        self._begun = time.monotonic()
        self._count = 0

    def count(self, number: int = 1) -> None:
        """Raises: ToolError when it is too much."""
        if time.monotonic() - self._begun > _WINDOW_S:
            self._begun, self._count = time.monotonic(), 0
        self._count += number
        if self._count > self._most:
            raise ServerGone(self._problem)


class Wire(Protocol):
    """Carries messages, each an object."""

    @property
    def is_over(self) -> bool:
        """Whether nothing more will come, which `receive` says soon."""

    async def send(self, message: JsonObject) -> None:
        """Raises: NotBegun when nobody is there to read it; ToolError."""

    async def receive(self) -> JsonObject:
        """Returns: the next message, empty for what is none.

        Raises: ToolError when there is none any more.
        """

    def give_up(self, number: int) -> None:
        """Nobody waits any more for the answer to the request with this id."""


@dataclass
class _Outgoing:
    message: JsonObject
    # The request that it is, as long as it is of use.
    call: Call | None = None


@dataclass
class Exchange:
    """Asks a server while `serve` runs.

    What it asks for itself is refused, but for a sign of life, the `roots` of one that has some,
    what it wants to know of the person behind a call, and of a model where it `samples`.
    """

    wire: Wire
    roots: tuple[Path, ...] = ()
    samples: bool = False
    log: Log = field(default_factory=Log)
    # Calls that wait for a person, by the id that their caller has given them.
    parked: dict[str, object] = field(default_factory=dict)
    # Called when it says that it has other tools, prompts or resources; with whether a tool runs.
    on_change: Callable[[bool], None] = lambda in_call: None
    # Addresses of subscribed resources, and what is called with each that has changed.
    subscribed: set[str] = field(default_factory=set)
    on_update: Callable[[str], None] = lambda uri: None
    _calls: dict[int, Call] = field(default_factory=dict)
    _last_id: int = 0
    _called_at: float = -_SOON_S
    _outgoing: asyncio.Queue[_Outgoing] = field(default_factory=asyncio.Queue)
    _gone: ToolError | None = None
    # Set when it has ended.
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def is_over(self) -> bool:
        """Whether it answers nothing any more."""
        return self._gone is not None or self.wire.is_over

    async def request(self, method: str, params: JsonObject) -> JsonObject:
        """Ask, and wait for the answer: the time is the caller's to limit.

        A server that works on it is told when nobody waits any more.

        Raises: ToolError saying what the server said, or why it cannot answer.
        """
        call = self.begin(method, params)
        try:
            return await call.answer
        finally:
            self.end(call)

    def begin(self, method: str, params: JsonObject, *, follows: bool = False) -> Call:
        """Ask. The caller must `end` it, however that comes. See `Call` for `follows`.

        Raises: NotBegun.
        """
        if self.is_over:
            raise NotBegun(self._gone.message if self._gone else "The server has ended.")
        self._last_id += 1
        call = Call(method, self._last_id, asyncio.get_running_loop().create_future(), follows)
        call.answer.add_done_callback(lambda _: call.stirred.set())
        self._calls[call.number] = call
        if follows:
            params = {**params, "_meta": {"progressToken": call.number}}
        self._send({"id": call.number, "method": method, "params": params}, call)
        return call

    def end(self, call: Call) -> None:
        """Wait no longer for an answer."""
        if self._calls.pop(call.number, None) is None:
            return
        # Whoever is stopped while it waits cancels what it waits for.
        is_open = not call.answer.done() or call.answer.cancelled()
        # The protocol lets nobody give up a greeting.
        if is_open and self._gone is None and call.method != "initialize":
            self.wire.give_up(call.number)
            self.notify("notifications/cancelled", {"requestId": call.number})
        for ask in call.asks:
            self.decline(ask)
        call.answer.cancel()
        if call.follows:
            self._called_at = time.monotonic()

    def reply(self, ask: Ask, result: JsonObject) -> None:
        """Tell the server what a person or a model has answered."""
        self._send({"id": ask.id, "result": result})

    def refuse(self, ask: Ask, message: str, *, code: int = _METHOD_NOT_FOUND) -> None:
        """Tell the server that it gets no answer, and why."""
        self._send({"id": ask.id, "error": {"code": code, "message": message}})

    def decline(self, ask: Ask) -> None:
        """Tell the server that nobody answers."""
        if ask.method == SAMPLE:
            self.refuse(ask, "No model is asked for this.", code=_INTERNAL_ERROR)
        else:
            self.reply(ask, {"action": "cancel"})

    def open_call(self, number: JsonValue) -> Call | None:
        """Returns: the request with this id, as long as its answer is awaited."""
        call = self._calls.get(number) if isinstance(number, int) else None
        return None if call is None or call.answer.done() else call

    def fail(self, number: int, error: ToolError) -> None:
        """Have one request fail: the wire could not bring it, or its answer."""
        call = self._calls.get(number)
        if call is not None and not call.answer.done():
            call.answer.set_exception(error)
            # Nobody may look at it any more, which is no fault.
            call.answer.exception()

    def notify(self, method: str, params: JsonObject | None = None) -> None:
        """Tell the server. Does nothing when it has ended."""
        self._send({"method": method, **({} if params is None else {"params": params})})

    async def serve(self) -> None:
        """Exchange messages until the server ends."""
        tasks = {asyncio.create_task(self._write()), asyncio.create_task(self._read())}
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        except ToolError as exc:
            self.close(exc)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
            self.close(ServerGone("The server was ended."))

    def close(self, why: ToolError) -> None:
        """Let nobody wait for an answer any more."""
        if self._gone is None:
            self._gone = why
        self.ended.set()
        for number in list(self._calls):
            self.fail(number, self._gone)

    def _send(self, message: JsonObject, call: Call | None = None) -> None:
        if self._gone is not None:
            return
        if self._outgoing.qsize() >= _MAX_WAITING:
            self.close(ServerGone(_DEAF))
            return
        self._outgoing.put_nowait(_Outgoing({"jsonrpc": "2.0", **message}, call))

    async def _write(self) -> None:
        while True:
            outgoing = await self._outgoing.get()
            if outgoing.call is not None and outgoing.call.number not in self._calls:
                continue  # nobody waits for it any more, and it has not begun
            try:
                async with asyncio.timeout(_READS_WITHIN_S):
                    await self.wire.send(outgoing.message)
            except TimeoutError as exc:
                raise ServerGone(_DEAF) from exc
            except NotBegun as exc:
                if outgoing.call is not None:
                    self.fail(outgoing.call.number, exc)
                # Others were asked before; why it has ended is read meanwhile.
                await asyncio.sleep(_LAST_WORDS_S)
                raise ServerGone(_DEAF) from exc

    async def _read(self) -> None:
        unasked = Rate(_WINDOW_MESSAGES, "The server sent too many messages that nobody asked for.")
        in_a_row = 0
        while self._gone is None:
            if not self._take(await self.wire.receive()):
                unasked.count()
            in_a_row += 1
            if in_a_row % _IN_A_ROW == 0:
                await asyncio.sleep(0)

    def _take(self, message: JsonObject) -> bool:
        """Returns: whether it is an answer that somebody waits for."""
        method, number = message.get("method"), message.get("id")
        if not isinstance(method, str):
            return self._settle(number, message)
        given = message.get("params")
        params = given if isinstance(given, dict) else {}
        if isinstance(number, int | str):
            self._asked(Ask(number, params, method))
        else:
            self._told(method, params)
        return False

    def _asked(self, ask: Ask) -> None:
        """The server wants an answer."""
        method = ask.method
        if method == "ping":
            self.reply(ask, {})
        elif method == "roots/list" and self.roots:
            roots: list[JsonValue] = [
                {"uri": root.as_uri(), "name": root.name} for root in self.roots
            ]
            self.reply(ask, {"roots": roots})
        elif method == ELICIT or (method == SAMPLE and self.samples):
            self._asked_in_call(ask)
        else:
            self.refuse(ask, "This is not offered here.")

    def _asked_in_call(self, ask: Ask) -> None:
        """Nobody is asked but for a call, and the protocol does not say for which of several."""
        open_calls = (call for call in self._calls.values() if not call.answer.done())
        call = next((call for call in open_calls if call.follows), None)
        if call is None or not call.take(ask):
            self.decline(ask)

    def _told(self, method: str, params: JsonObject) -> None:
        if method == "notifications/progress":
            token = params.get("progressToken")
            call = self._calls.get(token) if isinstance(token, int) else None
            if call is not None and call.follows:
                call.progress = params
                call.stirred.set()
        elif method == "notifications/cancelled":
            for call in self._calls.values():
                call.withdraw(params.get("requestId"))
        elif method == "notifications/message":
            self.log.add(params)
        elif method == UPDATED:
            for uri in told_of(params, self.subscribed):
                self.on_update(uri)
        elif method in CHANGES:
            is_called = any(call.follows for call in self._calls.values())
            # It may come another way than the answer that it belongs to.
            self.on_change(is_called or time.monotonic() - self._called_at < _SOON_S)

    def _settle(self, number: JsonValue, message: JsonObject) -> bool:
        call = self.open_call(number)
        if call is None:
            return False
        error, result = message.get("error"), message.get("result")
        if isinstance(error, dict):
            said = str(error.get("message", ""))[:2_000]
            self.fail(call.number, ToolError(f"The server returned an error: {said}"))
        else:
            call.answer.set_result(result if isinstance(result, dict) else {})
        return True


@contextlib.asynccontextmanager
async def serving(exchange: Exchange) -> AsyncIterator[None]:
    """Exchange messages while the block runs."""
    task = asyncio.create_task(exchange.serve())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait({task})
    if not task.cancelled():
        task.result()


@dataclass(frozen=True)
class Greeted:
    """A server that has been greeted, and what it said of itself then."""

    exchange: Exchange
    hello: JsonObject


class Server(Protocol):
    """Where a server is, and how it is reached."""

    def connect(self) -> AbstractAsyncContextManager[Greeted]:
        """Reach it. Raises: ToolError."""


async def greet(
    exchange: Exchange, *, on_hello: Callable[[JsonObject], None] | None = None
) -> Greeted:
    """Initialize the session. `on_hello` is called before anything else is sent.

    Raises: ToolError.
    """
    can: JsonObject = {
        "elicitation": {},
        **({"sampling": {}} if exchange.samples else {}),
        **({"roots": {}} if exchange.roots else {}),
    }
    hello = await exchange.request(
        "initialize",
        {
            "protocolVersion": VERSION,
            "capabilities": can,
            "clientInfo": {"name": "opencode-web", "version": "1"},
        },
    )
    if on_hello is not None:
        on_hello(hello)
    exchange.notify("notifications/initialized")
    return Greeted(exchange, hello)
