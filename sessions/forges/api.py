"""Requests to the API of a forge: to its one address, with the token, and never on to another.

A redirect is an error. Whatever a forge answers is a stranger's text: it is cut, and a token that
it repeats is taken out.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol, overload
from urllib.parse import urlencode, urlsplit

import httpx
from django.conf import settings

from opencode_web.lib.json import JsonObject, JsonValue, read_json
from opencode_web.lib.outbound import FetchError, check_url, guarded_client
from opencode_web.lib.outbound_policy import ais_listed
from opencode_web.lib.reasons import Cause, Value
from sessions.forges.adapter import AlreadyOpen, ForgeError
from sessions.forges.answers import objects_of
from sessions.forges.reasons import ForgeReason as Why

TIMEOUT_S = 20.0
_MAX_BYTES = 2 * 1024 * 1024
_MAX_SAID_CHARS = 200
_MAX_WAIT_S = 3600
_UNFIT = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]+")
_KNOWN = {401: Why.TOKEN_REFUSED, 403: Why.FORBIDDEN, 404: Why.NOT_FOUND}
_LIMITED = ("x-ratelimit-remaining", "ratelimit-remaining")


class Tokens(Protocol):
    """Tokens that end after a while."""

    async def current(self) -> str:
        """Returns: one that can be used now. Raises: ForgeError."""
        ...

    async def renew(self) -> str:
        """Returns: another one, where the forge refused the last. Raises: ForgeError."""
        ...


@dataclass(frozen=True)
class Api:
    """`base` is the address below which all paths are, `name` what people call the forge."""

    name: str
    base: str
    token: str | Tokens = field(repr=False)
    # Where the token stands; {} is the token.
    header: tuple[str, str]
    more: Mapping[str, str] = field(default_factory=dict)

    async def get(self, path: str, **query: str) -> JsonValue:
        """Raises: ForgeError."""
        return await self._ask("GET", path, query, None)

    async def get_pages(self, path: str, *, pages: int, **query: str) -> AsyncIterator[JsonObject]:
        """Yield the objects of several pages. Raises: ForgeError."""
        for page in range(1, pages + 1):
            found = objects_of(await self.get(path, **query, page=str(page)))
            for one in found:
                yield one
            # A server may allow fewer on a page, so only an empty one is the end.
            if not found:
                return

    async def get_text(self, path: str) -> str:
        """Returns: what is no JSON, cut where it is too long. Raises: ForgeError."""
        return await self._ask("GET", path, {}, None, is_text=True)

    async def post(self, path: str, body: JsonObject) -> JsonValue:
        """Raises: AlreadyOpen; ForgeError."""
        return await self._ask("POST", path, {}, body)

    async def patch(self, path: str, body: JsonObject) -> JsonValue:
        """Raises: ForgeError."""
        return await self._ask("PATCH", path, {}, body)

    async def put(self, path: str, body: JsonObject) -> JsonValue:
        """Raises: ForgeError."""
        return await self._ask("PUT", path, {}, body)

    async def delete(self, path: str, body: JsonObject | None = None) -> None:
        """Raises: ForgeError."""
        await self._ask("DELETE", path, {}, body)

    @overload
    async def _ask(
        self, method: str, path: str, query: Mapping[str, str], body: JsonObject | None
    ) -> JsonValue: ...
    @overload
    async def _ask(
        self,
        method: str,
        path: str,
        query: Mapping[str, str],
        body: None,
        *,
        is_text: Literal[True],
    ) -> str: ...
    async def _ask(
        self,
        method: str,
        path: str,
        query: Mapping[str, str],
        body: JsonObject | None,
        *,
        is_text: bool = False,
    ) -> JsonValue:
        url = f"{self.base}{path}" + (f"?{urlencode(query)}" if query else "")
        content = None if body is None else json.dumps(body).encode()
        token = self.token if isinstance(self.token, str) else await self.token.current()
        response, text = await self._send(method, url, content, token, cut=is_text)
        if response.status_code == 401 and not isinstance(self.token, str):
            token = await self.token.renew()
            response, text = await self._send(method, url, content, token, cut=is_text)
        if is_text and 200 <= response.status_code < 300:
            return text
        return self.judge(response, text, token)

    async def _send(
        self, method: str, url: str, content: bytes | None, token: str, *, cut: bool
    ) -> tuple[httpx.Response, str]:
        try:
            await require_safe(url)
            async with (
                guarded_client(timeout_s=TIMEOUT_S, headers=self._headers(token)) as client,
                client.stream(method, check_url(url), content=content) as response,
            ):
                return response, await _read(response, cut=cut)
        except FetchError as exc:
            why = clean(str(exc), token)
            raise ForgeError(Why.UNREACHABLE, name=self.name, why=why) from exc

    def _headers(self, token: str) -> dict[str, str]:
        name, form = self.header
        return {
            "accept": "application/json",
            # A small body could become a very large one here.
            "accept-encoding": "identity",
            "content-type": "application/json",
            "user-agent": f"OpenCode-Web/{settings.VERSION}",
            **self.more,
            **({name: form.format(token)} if token else {}),
        }

    def judge(self, response: httpx.Response, text: str, token: str) -> JsonValue:
        """Returns: what it answers, as JSON. Raises: AlreadyOpen; ForgeError."""
        try:
            value = read_json(text)
        except ValueError:
            value = None
        status = response.status_code
        if 200 <= status < 300:
            # Gitea answers a deletion with 200 and nothing, others with 204.
            if value is None and (text or response.request.method != "DELETE"):
                raise ForgeError(Why.NOT_ITS_API, name=self.name, host=self._host)
            return value
        said = clean(_message(value), token)
        if status in (409, 422) and "already exists" in said.lower():
            raise AlreadyOpen(Why.ALREADY_OPEN, name=self.name)
        error = ForgeError(self._explain(response, said))
        error.wait_s = _wait_s(response) if _is_limited(response) else 0
        raise error

    def _explain(self, response: httpx.Response, said: str) -> Cause:
        status = response.status_code
        values: dict[str, Value] = {"name": self.name}
        if status in (403, 429) and _is_limited(response):
            minutes = -(-_wait_s(response) // 60)
            return Cause(
                Why.LIMITED if minutes else Why.LIMITED_FOR_NOW, {**values, "minutes": minutes}
            )
        if status >= 500:
            return Cause(Why.FAULT, {**values, "status": status})
        if 300 <= status < 400:
            return Cause(Why.REDIRECT, values)
        reason = Cause(_KNOWN.get(status, Why.REFUSED), {**values, "status": status})
        if said and status not in (401, 404):
            return Cause(Why.SAYING, {"reason": reason, "words": said})
        return reason

    @property
    def _host(self) -> str:
        return urlsplit(self.base).netloc


def clean(text: str, token: str) -> str:
    """Returns: what a stranger says, cut and without the token."""
    text = text.replace(token, "…") if token else text
    text = " ".join(_UNFIT.sub(" ", text).split())
    return text if len(text) <= _MAX_SAID_CHARS else f"{text[:_MAX_SAID_CHARS]}…"


async def require_safe(url: str) -> None:
    """Refuse to send a secret over http to where others could read it.

    Raises: FetchError, unless it is https or operators have listed the host.
    """
    parts = urlsplit(url)
    if parts.scheme == "http" and not await ais_listed(parts.hostname or "", parts.port or 80):
        raise FetchError("a token goes over https only, but for hosts that an operator has listed")


async def _read(response: httpx.Response, *, cut: bool) -> str:
    body = bytearray()
    async for chunk in response.aiter_raw(64 * 1024):
        body += chunk
        if len(body) > _MAX_BYTES:
            if cut:
                break
            raise FetchError("it answered more than can be read")
    return body.decode("utf-8", "replace")


def _message(value: JsonValue) -> str:
    """What a forge says is wrong: GitHub has `message` and `errors`, GitLab a list or an object."""
    if not isinstance(value, dict):
        return ""
    found = [value.get("message") or value.get("error")]
    errors = value.get("errors")
    if isinstance(errors, list):
        found += [one.get("message") if isinstance(one, dict) else one for one in errors]
    return ". ".join(text for one in found for text in _texts(one))


def _texts(value: JsonValue) -> list[str]:
    if isinstance(value, str):
        return [value] if value else []
    if isinstance(value, list):
        return [text for one in value for text in _texts(one)]
    if isinstance(value, dict):
        return [f"{name}: {text}" for name, one in value.items() for text in _texts(one)]
    return []


def _is_limited(response: httpx.Response) -> bool:
    spent = any(response.headers.get(name) == "0" for name in _LIMITED)
    return response.status_code == 429 or spent or "retry-after" in response.headers


def _wait_s(response: httpx.Response) -> int:
    """Returns: 0 where it is not said."""
    after = response.headers.get("retry-after", "")
    if after.isdecimal() and len(after) <= 5:
        return max(1, int(after))
    resets = response.headers.get("x-ratelimit-reset", response.headers.get("ratelimit-reset", ""))
    if resets.isdecimal() and len(resets) <= 10:
        return min(max(0, int(resets) - int(time.time())), _MAX_WAIT_S)
    return 0
