"""Pay litellm's start-up costs before the first prompt: the import, and what first calls load."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection

import httpx

from providers.encode import encode_request
from providers.litellm_client import open_stream
from providers.messages import (
    ModelRef,
    ProviderKind,
    ProviderRequest,
    ResolvedModel,
    Secret,
    Text,
    ToolDefinition,
    UserMessage,
)
from providers.models import ProviderConfig
from providers.transport import Call, Pool

_BASE_URL = "http://rehearsal.invalid/v1"
_ANSWER = {
    ProviderKind.ANTHROPIC: b'data: {"type": "message_stop"}\n\n',
    ProviderKind.COMPATIBLE: b"data: [DONE]\n\n",
    ProviderKind.OPENAI: b"data: [DONE]\n\n",
}
# A call with tools loads modules that one without does not.
_TOOL = ToolDefinition("read", "Read.", {"type": "object", "properties": {}})


class _Body(httpx.AsyncByteStream):
    def __init__(self, content: bytes) -> None:
        self._content = content

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self._content


class _Stage(httpx.AsyncBaseTransport):
    """Answers every request itself, so that nothing leaves the process."""

    def __init__(self, answer: bytes) -> None:
        self._answer = answer

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        headers = {"content-type": "text/event-stream"}
        body = _Body(self._answer)
        return httpx.Response(200, headers=headers, stream=body, request=request)


def kinds_in_use() -> set[ProviderKind]:
    """The kinds of real models that teams have; none is no reason to load anything."""
    rows = ProviderConfig.objects.filter(enabled=True)
    return {ProviderKind(kind) for kind in rows.values_list("kind", flat=True)} & set(_ANSWER)


def warm(kinds: Collection[ProviderKind]) -> None:
    """Import litellm and rehearse one call of each kind without network.

    Takes 2 to 6 s; for a thread of a worker, never on an event loop.
    """
    asyncio.run(_rehearse(kinds))


async def _rehearse(kinds: Collection[ProviderKind]) -> None:
    await Pool().aclose()  # reads the certificates of the system, once for all pools
    for kind in kinds:
        model = ResolvedModel(
            ref=ModelRef("rehearsal", "model"),
            kind=kind,
            api_model="model",
            base_url=_BASE_URL,
            api_key=Secret("rehearsal"),
            name="Rehearsal",
        )
        request = ProviderRequest(model, ("",), (UserMessage((Text("Hi"),)),), (_TOOL,), "ses_")
        chunks = await open_stream(model, encode_request(request), Call(_Stage(_ANSWER[kind])))
        async for _ in chunks:
            pass
