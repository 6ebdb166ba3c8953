"""One request to an engine: bounded, to public addresses, and without the key in what it says."""

from __future__ import annotations

import json
from collections.abc import Mapping

import httpx

from opencode_web.lib.json import JsonObject, JsonValue
from opencode_web.lib.outbound import FetchError, guarded_client
from tools.search.engine import MAX_ANSWER_BYTES, TIMEOUT_S, Engine, SearchError

_SHOWN_CHARS = 300


async def ask(
    engine: Engine,
    url: str,
    *,
    headers: Mapping[str, str],
    params: Mapping[str, str] | None = None,
    body: JsonObject | None = None,
) -> str:
    """GET, or POST a JSON body. Redirects are not followed: they would take the key along.

    Returns: the text of the answer.
    Raises: SearchError.
    """
    # Not compressed: a small answer could become a very large one here.
    sent = {"accept-encoding": "identity", "user-agent": "opencode-web", **headers}
    try:
        async with guarded_client(timeout_s=TIMEOUT_S, headers=sent) as client:
            method = "GET" if body is None else "POST"
            async with client.stream(method, url, params=params, json=body) as response:
                text = await _read(response)
    except FetchError as exc:
        raise SearchError(_clean(f"{engine.name} cannot be reached: {exc}.", engine)) from exc
    if not response.is_success:
        advice = _advice(response.status_code, engine)
        said = f": {text.strip()[:_SHOWN_CHARS]}" if text.strip() else ""
        raise SearchError(
            _clean(f"{engine.name} answered {response.status_code}{said}.{advice}", engine)
        )
    return text


def parse(engine: Engine, text: str) -> JsonValue:
    """Read an answer as JSON. Raises: SearchError."""
    try:
        parsed: JsonValue = json.loads(text)
    except (ValueError, RecursionError) as exc:
        raise SearchError(
            f"{engine.name} did not answer in JSON. Check its address and that it serves this "
            "format."
        ) from exc
    return parsed


async def _read(response: httpx.Response) -> str:
    if response.headers.get("content-encoding", "identity") != "identity":
        raise FetchError("its answer is compressed, although that was not asked for")
    data = bytearray()
    async for chunk in response.aiter_raw(64 * 1024):
        data += chunk
        if len(data) > MAX_ANSWER_BYTES:
            raise FetchError("its answer is too large")
    return data.decode("utf-8", "replace")


def _advice(status: int, engine: Engine) -> str:
    match status:
        case 401 | 402 | 403:
            if engine.key:
                return " An admin of the team has to look at the key under Settings, Web search."
            return " An admin of the team may have to set a key under Settings, Web search."
        case 429:
            return " It is asked too often; wait before the next search."
        case _:
            return ""


def _clean(text: str, engine: Engine) -> str:
    return text.replace(engine.key, "•••") if engine.key else text
