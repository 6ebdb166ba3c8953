"""The small requests of a sign-in: bounded in size and time, never redirected, never logged."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus

import httpx

from ..classify import Answer
from ..connection import read_capped
from ..json import JsonObject, read_object
from ..secret import Secret
from ..texts import gettext_noop
from .errors import Unavailable

MAX_ANSWER_BYTES = 64 * 1024
TIMEOUT_S = 15.0
# Ten years: whoever says more cannot be counted with.
_LONGEST_S = 315_360_000.0
_UNREADABLE = gettext_noop("The provider's response could not be read. Try again later.")

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer in JSON; `status` is below 500."""

    status: int
    body: JsonObject = field(repr=False)

    @property
    def is_success(self) -> bool:
        """Whether it says that all is well; GitHub says so of errors, too."""
        return self.status < HTTPStatus.MULTIPLE_CHOICES and not self.error

    @property
    def error(self) -> str:
        """The code of the error, as OAuth or the provider's own API names it."""
        error = self.body.get("error")
        if isinstance(error, dict):
            error = error.get("code") or error.get("type")
        return error if isinstance(error, str) else ""

    def text(self, name: str, *, most: int | None = None) -> str:
        """Returns: a field that must be there, and have `most` characters. Raises: Unavailable."""
        value = self.body.get(name)
        if not isinstance(value, str) or not value or (most is not None and len(value) > most):
            raise Unavailable(_UNREADABLE)
        return value

    def seconds(self, name: str) -> float | None:
        """Returns: a duration, which some send as a text; None where there is none."""
        value = self.body.get(name)
        try:
            number = float(value) if isinstance(value, int | float | str) else 0.0
        except ValueError:
            return None
        return min(number, _LONGEST_S) if number > 0 else None


class Http:
    """Sends requests over the transport that it is given, which decides what can be reached."""

    def __init__(
        self,
        transport: httpx.AsyncBaseTransport,
        *,
        user_agent: str = "opencode-web-llm",
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        self._transport = transport
        self._user_agent = user_agent
        self._timeout_s = timeout_s

    async def send(self, request: httpx.Request, *, max_bytes: int = MAX_ANSWER_BYTES) -> Answer:
        """Returns: what was answered, whatever it says.

        Raises: httpx.HTTPError, also for an answer longer than `max_bytes`; OSError.
        """
        request.headers.setdefault("accept", "application/json")
        # A small body could become a very large one here.
        request.headers["accept-encoding"] = "identity"
        # GitHub refuses requests without one.
        request.headers["user-agent"] = self._user_agent
        request.extensions["timeout"] = httpx.Timeout(self._timeout_s).as_dict()
        async with asyncio.timeout(self._timeout_s):
            response = await self._transport.handle_async_request(request)
            assert isinstance(response.stream, httpx.AsyncByteStream)
            try:
                body = await read_capped(response.stream, max_bytes + 1)
            finally:
                await response.aclose()
        if len(body) > max_bytes:
            raise httpx.ReadError("the answer is too long", request=request)
        return Answer(response.status_code, response.headers, body.decode("utf-8", "replace"))

    async def ask(
        self,
        method: str,
        url: str,
        *,
        form: Mapping[str, str] | None = None,
        data: JsonObject | None = None,
        bearer: Secret | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """Send one request with a form or with JSON. Raises: Unavailable."""
        given = {
            **(headers or {}),
            **({"authorization": f"Bearer {bearer.reveal()}"} if bearer else {}),
        }
        content = None if data is None else json.dumps(data).encode()
        if content is not None:
            given["content-type"] = "application/json"
        request = httpx.Request(method, url, headers=given, data=form, content=content)
        try:
            answer = await self.send(request)
        except (httpx.HTTPError, OSError) as exc:
            logger.info("sign-in: no answer host=%s %s", request.url.host, type(exc).__name__)
            raise Unavailable from exc
        return _read(answer, request.url.host)


def _read(answer: Answer, host: str) -> Reply:
    status = answer.status_code or 0
    # A redirect could lead anywhere, and is not followed.
    is_redirect = HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST
    is_busy = status in {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS}
    body = read_object(answer.body) if answer.body.strip() else {}
    is_read = body is not None or status >= HTTPStatus.BAD_REQUEST
    if is_redirect or not is_read or status >= HTTPStatus.INTERNAL_SERVER_ERROR or is_busy:
        logger.info("sign-in: no use host=%s status=%s", host, status)
        raise Unavailable(_UNREADABLE if not is_read else "")
    return Reply(status, body or {})
