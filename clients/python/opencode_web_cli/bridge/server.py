"""The server, over REST and server-sent events."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import secrets
import string
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
from acp import RequestError

from opencode_web_cli.connection import words_of
from opencode_web_cli.printing import plain

logger = logging.getLogger(__name__)

Json = dict[str, Any]
_ANSWER_S = 60.0
# The server sends a heartbeat every ten seconds.
_SILENCE_S = 35.0
_RETRY_FIRST_S, _RETRY_MOST_S = 0.5, 10.0
# So long a server may say that it is not ready before that is its answer.
_PATIENCE_S = 60.0
# The server is starting, busy, or not behind its proxy.
_PASSING = frozenset({429, 502, 503, 504})
_SESSION_ID = re.compile(r"ses_[A-Za-z0-9]{1,60}")
_REQUEST_ID = re.compile(r"[a-z]{2,5}_[A-Za-z0-9]{1,60}")
_ALPHABET = string.digits + string.ascii_letters


class Refused(Exception):
    """The server's no, in its own words."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status

    @property
    def passes(self) -> bool:
        """Whether the same request may be answered soon."""
        return self.status in _PASSING

    def to_error(self) -> RequestError:
        """Returns: what an editor is told of it."""
        match self.status:
            case 401 | 403:
                code, what = -32000, "Authentication required"
            case 400 | 404 | 422:
                code, what = -32602, "Invalid params"
            case _:
                code, what = -32603, "Internal error"
        return RequestError(code, f"{what}: {plain(str(self))}", {"status": self.status})


class Lost(Exception):
    """The server does not answer."""

    def to_error(self) -> RequestError:
        """Returns: what an editor is told of it."""
        return RequestError(-32603, f"Internal error: {plain(str(self))}")


class Server:
    """One server, as the owner of a token. Use as an asynchronous context manager."""

    def __init__(self, url: str, token: str) -> None:
        """Raises: ValueError for what is no address of a server."""
        self.url = url.rstrip("/")
        self.has_token = bool(token)
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        try:
            self._client = httpx.AsyncClient(base_url=url, headers=headers, timeout=_ANSWER_S)
        except httpx.InvalidURL as exc:
            raise ValueError(f"{url} is no address of a server: {exc}") from exc
        if self._client.base_url.scheme not in ("http", "https"):
            raise ValueError(f"{url} is no address of a server: it begins with no http")

    async def __aenter__(self) -> Server:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.aclose()

    @property
    def host(self) -> str:
        """Of the address, without its port."""
        return self._client.base_url.host

    async def call(self, method: str, path: str, /, *, body: Any = None, **query: Any) -> Any:
        """Returns: the answer's JSON. Raises: Refused, Lost."""
        given = {name: value for name, value in query.items() if value is not None}
        # Escaped, because an editor can send half of a pair of UTF-16.
        content = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"} if content is not None else {}
        try:
            answer = await self._client.request(
                method, path, params=given, content=content, headers=headers
            )
        except (httpx.HTTPError, ConnectionError) as exc:
            raise Lost(f"{self.url} does not answer: {exc or type(exc).__name__}") from exc
        _require_success(answer)
        if not answer.content:
            return None
        try:
            return answer.json()
        except ValueError as exc:
            raise Lost(f"{self.url} did not answer with JSON. Is it this server?") from exc

    async def insist(
        self, method: str, path: str, /, *, body: Any = None, waits: bool = False, **query: Any
    ) -> Any:
        """As `call`, again until the server answers: for what may be sent twice.

        With `waits` the server says "not yet" for as long as it takes. Raises: Refused.
        """
        delay_s, end = _RETRY_FIRST_S, time.monotonic() + _PATIENCE_S
        told = False
        while True:
            try:
                return await self.call(method, path, body=body, **query)
            except Refused as exc:
                if not exc.passes or not (waits or time.monotonic() < end):
                    raise
            except Lost as exc:
                if not told:
                    note(f"{exc}. Trying again.")
                    told = True
            await asyncio.sleep(delay_s)
            delay_s = min(2 * delay_s, _RETRY_MOST_S)

    @asynccontextmanager
    async def events(self, directory: str, last_id: str) -> AsyncIterator[AsyncIterator[Frame]]:
        """Open the stream of a project, after an event if one is named. Raises: Refused, Lost."""
        headers = {"Last-Event-ID": last_id} if last_id else {}
        timeout = httpx.Timeout(_ANSWER_S, read=_SILENCE_S)
        try:
            async with self._client.stream(
                "GET", "/event", params={"directory": directory}, headers=headers, timeout=timeout
            ) as answer:
                if answer.is_error:
                    await answer.aread()
                _require_success(answer)
                yield _frames(answer)
        except (httpx.HTTPError, ConnectionError) as exc:
            raise Lost(f"The connection to {self.url} was lost") from exc


# An event's position, empty for what cannot be asked for again, and the event.
Frame = tuple[str, Json]


async def _frames(answer: httpx.Response) -> AsyncIterator[Frame]:
    position, data = "", list[str]()
    async for line in answer.aiter_lines():
        if line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
        elif line.startswith("id:"):
            position = line[3:].strip()
        elif not line and data:
            yield position, json.loads("\n".join(data))
            position, data = "", []


def _require_success(answer: httpx.Response) -> None:
    if answer.is_redirect:
        raise Refused(404, f"{answer.url} leads elsewhere. Is it the address of the server?")
    if answer.is_error:
        told = words_of(answer) or f"The server answered {answer.status_code}."
        raise Refused(answer.status_code, told)


def session_path(session_id: str, rest: str = "") -> str:
    """Returns: the path of a session's route. Raises: Refused for what is no id of a session."""
    if _SESSION_ID.fullmatch(session_id) is None:
        raise Refused(404, "Session not found")
    return f"/session/{session_id}{rest}"


def request_path(request_id: str) -> str:
    """Returns: where a permission request is answered. Raises: Refused for what is no id."""
    return f"/permission/{_checked(request_id)}/reply"


def question_path(request_id: str) -> str:
    """Returns: where questions are answered, but for what is done. Raises: Refused."""
    return f"/question/{_checked(request_id)}"


def _checked(request_id: str) -> str:
    if _REQUEST_ID.fullmatch(request_id) is None:
        raise Refused(404, "Request not found")
    return request_id


def new_message_id() -> str:
    """Make the id of a prompt: with it the prompt can be sent twice and is still one.

    Source: form of OpenCode's ids; they sort by time.
    """
    stamp = int(time.time() * 1000) * 4096 & ((1 << 48) - 1)
    return f"msg_{stamp:012x}{''.join(secrets.choice(_ALPHABET) for _ in range(14))}"


def report(task: asyncio.Task[None]) -> None:
    """Say why a task in the background has failed; for `add_done_callback`."""
    if task.cancelled() or (exc := task.exception()) is None:
        return
    if isinstance(exc, Refused | Lost):
        note(str(exc))
    else:
        logger.error("A task has failed.", exc_info=exc)


def note(text: str) -> None:
    """Tell the person who looks at the log of their editor."""
    print(plain(text), file=sys.stderr, flush=True)
