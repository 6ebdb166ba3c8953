"""One tiny request to see whether a provider answers with this key.

It goes past litellm, because a web process should not load it for this (3 s, 160 MB); the transport
and the classification are those of a real call.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime

import httpx

from opencode_web.lib.json import JsonObject
from providers.classify import Answer, classify
from providers.errors import ProviderError
from providers.facts import ProviderKind
from providers.litellm_client import DEFAULT_BASE_URL, messages_url
from providers.secret import Secret
from providers.transport import Call, Pool

TIMEOUT_S = 30.0
# Some reasoning models refuse to answer in fewer.
MAX_TOKENS = 16
_QUESTION: JsonObject = {"role": "user", "content": "Answer with the word ok."}


@dataclass(frozen=True, slots=True)
class Target:
    """What to call."""

    kind: ProviderKind
    base_url: str
    model: str
    key: Secret


def probe(target: Target) -> ProviderError | None:
    """Ask the model for one word. Must not be called on an event loop.

    Returns: None when it answered, else why it did not; no key is in it.
    """
    return asyncio.run(_probe(target))


async def _probe(target: Target) -> ProviderError | None:
    pool = Pool()
    call = Call(pool)
    failure: httpx.HTTPError | None = None
    try:
        async with httpx.AsyncClient(transport=call, timeout=TIMEOUT_S) as client:
            url, headers, body = _build(target)
            response = await client.post(url, headers=headers, json=body)
            if response.is_success:
                return None
    except httpx.HTTPError as exc:
        failure = exc
    finally:
        await call.hang_up()
        await pool.aclose()
    answer = Answer(call.status_code, call.headers, call.error_body)
    return classify(failure, answer=answer, secrets=(target.key,), now=datetime.now(UTC))


def _build(target: Target) -> tuple[str, dict[str, str], JsonObject]:
    base_url = target.base_url or DEFAULT_BASE_URL.get(target.kind, "")
    body: JsonObject = {"model": target.model, "messages": [_QUESTION]}
    key = target.key.reveal()
    if target.kind is ProviderKind.ANTHROPIC:
        headers = {"x-api-key": key, "anthropic-version": "2023-06-01"}
        return messages_url(base_url), headers, {**body, "max_tokens": MAX_TOKENS}
    # OpenAI's newer models know only the second name, most compatible servers only the first.
    limit = "max_completion_tokens" if target.kind is ProviderKind.OPENAI else "max_tokens"
    headers = {"authorization": f"Bearer {key}"} if key else {}
    return f"{base_url}/chat/completions", headers, {**body, limit: MAX_TOKENS}
