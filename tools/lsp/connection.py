"""JSON-RPC with one server: requests both ways, notifications both ways."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from opencode_web.lib.json import JsonObject, JsonValue
from tools.lsp.framing import Frames, ProtocolFault, decode, encode
from tools.sandbox.service import Service

# What a server may say in a window of time; more is one that keeps the worker busy.
_WINDOW_S = 10.0
_WINDOW_MESSAGES = 20_000
_WINDOW_BYTES = 64 * 1024 * 1024
# What may wait for a server to read it.
_MAX_WAITING_BYTES = 32 * 1024 * 1024
# Larger ones are read in a thread, so that the loop is not held up.
_LARGE_BYTES = 128 * 1024
_METHOD_NOT_FOUND = -32601
_DEAF = "it does not read what it is sent"

# Answers a request of the server. Raises: NoSuchMethod.
OnRequest = Callable[[str, JsonValue], JsonValue]
OnNotification = Callable[[str, JsonValue], None]


class NoSuchMethod(Exception):
    """We do not do what the server asks for."""


class ServerRefusal(Exception):
    """The server answered a request with an error."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class ServerGone(Exception):
    """The server has ended, or was ended, before it answered. The message says why."""


class Connection:
    """Speaks to a server while `serve` runs."""

    def __init__(
        self, service: Service, *, on_request: OnRequest, on_notification: OnNotification
    ) -> None:
        self._service = service
        self._on_request = on_request
        self._on_notification = on_notification
        self._answers: dict[int, asyncio.Future[JsonValue]] = {}
        self._last_id = 0
        self._outgoing: asyncio.Queue[bytes] = asyncio.Queue()
        self._waiting_bytes = 0
        self._overflow = asyncio.Event()
        self._gone: str | None = None
        # Set once it has ended, for those who wait for something else than an answer.
        self.ended = asyncio.Event()

    async def serve(self) -> None:
        """Exchange messages until the server ends. Raises: ProtocolFault."""
        tasks = {
            asyncio.create_task(self._write()),
            asyncio.create_task(self._read()),
            asyncio.create_task(self._overflowed()),
        }
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
            self.close("it has ended")

    def close(self, why: str) -> None:
        """Let nobody wait for an answer any more."""
        self._gone = self._gone or why
        self.ended.set()
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(ServerGone(self._gone))

    async def request(self, method: str, params: JsonValue, *, timeout_s: float) -> JsonValue:
        """Ask the server.

        Raises: TimeoutError; ServerRefusal; ServerGone.
        """
        if self._gone is not None:
            raise ServerGone(self._gone)
        self._last_id += 1
        number = self._last_id
        answer: asyncio.Future[JsonValue] = asyncio.get_running_loop().create_future()
        self._answers[number] = answer
        try:
            self._send({"id": number, "method": method, "params": params})
            async with asyncio.timeout(timeout_s):
                return await answer
        except (TimeoutError, asyncio.CancelledError):
            if self._gone is None:
                self.notify("$/cancelRequest", {"id": number})
            raise
        finally:
            del self._answers[number]

    def notify(self, method: str, params: JsonValue) -> None:
        """Tell the server. Does nothing when it has ended."""
        self._send({"method": method, "params": params})

    def _send(self, message: JsonObject) -> None:
        if self._gone is not None:
            return
        data = encode({"jsonrpc": "2.0", **message})
        self._waiting_bytes += len(data)
        if self._waiting_bytes > _MAX_WAITING_BYTES:
            self._overflow.set()
            self.close(_DEAF)
            return
        self._outgoing.put_nowait(data)

    async def _overflowed(self) -> None:
        await self._overflow.wait()
        raise ProtocolFault(_DEAF)

    async def _write(self) -> None:
        while True:
            data = await self._outgoing.get()
            await self._service.write(data)
            self._waiting_bytes -= len(data)

    async def _read(self) -> None:
        frames, begun, messages, size = Frames(), time.monotonic(), 0, 0
        while chunk := await self._service.read():
            if time.monotonic() - begun > _WINDOW_S:
                begun, messages, size = time.monotonic(), 0, 0
            size += len(chunk)
            for body in frames.feed(chunk):
                messages += 1
                large = len(body) > _LARGE_BYTES
                self._take(await asyncio.to_thread(decode, body) if large else decode(body))
            if messages > _WINDOW_MESSAGES or size > _WINDOW_BYTES:
                raise ProtocolFault("it sent more messages than anybody could read")

    def _take(self, message: JsonObject) -> None:
        method, number = message.get("method"), message.get("id")
        if not isinstance(method, str):
            self._settle(number, message)
        elif isinstance(number, int | str):
            self._send({"id": number, **self._answer(method, message.get("params"))})
        else:
            self._on_notification(method, message.get("params"))

    def _answer(self, method: str, params: JsonValue) -> JsonObject:
        try:
            return {"result": self._on_request(method, params)}
        except NoSuchMethod:
            return {"error": {"code": _METHOD_NOT_FOUND, "message": f"no method {method[:80]}"}}

    def _settle(self, number: JsonValue, message: JsonObject) -> None:
        answer = self._answers.get(number) if isinstance(number, int) else None
        if answer is None or answer.done():
            return  # one that we no longer wait for
        error = message.get("error")
        if isinstance(error, dict):
            code = error.get("code")
            text = str(error.get("message", ""))[:500]
            answer.set_exception(ServerRefusal(code if isinstance(code, int) else 0, text))
        else:
            answer.set_result(message.get("result"))
