"""One tiny request to see whether a provider answers with this key.

It goes past litellm, because a web process should not load it for this (3 s, 160 MB); the transport
and the classification are those of a real call.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime

import httpx

from opencode_web.lib.json import JsonObject, JsonValue, read_json
from providers.classify import Answer, classify
from providers.errors import ProviderError
from providers.facts import ProviderKind
from providers.funding import FundedRequest
from providers.litellm_client import DEFAULT_BASE_URL, messages_url
from providers.messages import Text, Usage, UserMessage
from providers.normalise import read_usage
from providers.stream import is_refused
from providers.transport import Call, Pool

# For the whole exchange, and of it for the connection.
TIMEOUT_S = 30.0
_CONNECT_S = 15.0
_MAX_BYTES = 256 * 1024
# Some reasoning models refuse to answer in fewer.
MAX_TOKENS = 16
QUESTION = UserMessage((Text("Answer with the word ok."),))


@dataclass(frozen=True, slots=True)
class Outcome:
    """How it ended. `usage` is None where nobody has counted; no key is in `error`."""

    error: ProviderError | None = None
    usage: Usage | None = None
    # Refused before the model began.
    is_free: bool = False


def probe(request: FundedRequest) -> Outcome:
    """Ask the model `QUESTION`, the only message of the request.

    Must not be called on an event loop.
    """
    return asyncio.run(_probe(request))


async def _probe(request: FundedRequest) -> Outcome:
    pool = Pool()
    call = Call(pool)
    failure: httpx.HTTPError | None = None
    timeout = httpx.Timeout(TIMEOUT_S, connect=_CONNECT_S)
    url, headers, body = _build(request)
    try:
        async with (
            asyncio.timeout(TIMEOUT_S),
            httpx.AsyncClient(transport=call, timeout=timeout) as client,
            client.stream("POST", url, headers=headers, json=body) as response,
        ):
            if response.is_success:
                return Outcome(usage=_read_usage(await _read(response), request.model.kind))
    except httpx.HTTPError as exc:
        failure = exc
    except TimeoutError:
        failure = httpx.ReadTimeout("")
    finally:
        await call.hang_up()
        await pool.aclose()
    answer = Answer(call.status_code, call.headers, call.error_body)
    secrets = (request.model.api_key,)
    error = classify(failure, answer=answer, secrets=secrets, now=datetime.now(UTC))
    return Outcome(error, is_free=is_refused(call))


def _build(request: FundedRequest) -> tuple[str, dict[str, str], JsonObject]:
    model = request.model
    base_url = model.base_url or DEFAULT_BASE_URL.get(model.kind, "")
    asked: JsonValue = "".join(part.text for part in QUESTION.content if isinstance(part, Text))
    body: JsonObject = {
        "model": model.api_model,
        "messages": [{"role": "user", "content": asked}],
    }
    key = model.api_key.reveal()
    if model.kind is ProviderKind.ANTHROPIC:
        headers = {"x-api-key": key, "anthropic-version": "2023-06-01"}
        return messages_url(base_url), headers, {**body, "max_tokens": MAX_TOKENS}
    # OpenAI's newer models know only the second name, most compatible servers only the first.
    limit = "max_completion_tokens" if model.kind is ProviderKind.OPENAI else "max_tokens"
    headers = {"authorization": f"Bearer {key}"} if key else {}
    return f"{base_url}/chat/completions", headers, {**body, limit: MAX_TOKENS}


async def _read(response: httpx.Response) -> str:
    """Returns: the answer; nothing of one that is too large, or compressed without being asked."""
    if response.headers.get("content-encoding", "identity") != "identity":
        return ""
    body = b""
    async for chunk in response.aiter_raw():
        body += chunk
        if len(body) > _MAX_BYTES:
            return ""
    return body.decode("utf-8", "replace")


def _read_usage(text: str, kind: ProviderKind) -> Usage | None:
    try:
        answer = read_json(text)
    except ValueError:
        return None
    counts = answer.get("usage") if isinstance(answer, dict) else None
    if not isinstance(counts, dict):
        return None
    if kind is ProviderKind.ANTHROPIC:
        names = ("cache_read_input_tokens", "cache_creation_input_tokens", "input_tokens")
        read = sum(n for name in names if isinstance(n := counts.get(name), int))
        counts = {**counts, "prompt_tokens": read, "completion_tokens": counts.get("output_tokens")}
    return read_usage(counts)
