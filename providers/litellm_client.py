"""The only module that touches litellm. Its types stay behind `open_stream`."""

from __future__ import annotations

import asyncio
import logging
import os
import warnings
from collections.abc import AsyncIterator
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import httpx
from django.conf import settings

from opencode_web.lib.importing import without_collections
from providers.messages import ProviderKind, ResolvedModel
from providers.sse import read_chunks
from providers.transport import CONNECT_TIMEOUT_S, Call

# litellm refuses to start without a key, and looks for one in the environment when it gets none: a
# local server without keys must not be sent the operator's.
NO_KEY = "not-needed"
DEFAULT_BASE_URL = {
    ProviderKind.OPENAI: "https://api.openai.com/v1",
    ProviderKind.ANTHROPIC: "https://api.anthropic.com/v1",
}
# hosted_vllm is litellm's plain Chat Completions route; per chunk it costs a third of its openai
# route.
_ROUTE = {
    ProviderKind.OPENAI: "openai",
    ProviderKind.ANTHROPIC: "anthropic",
    ProviderKind.COMPATIBLE: "hosted_vllm",
}


# litellm runs parts of a call in threads; they get a copy of the context.
_current: ContextVar[tuple[Call, httpx.Timeout]] = ContextVar("call")


class _CurrentCall(httpx.AsyncBaseTransport):
    """The transport of every client that litellm makes.

    A client cannot simply be passed to litellm: its Responses route drops the one that it is given,
    and takes another from a cache. Outside of a call there is nothing to send.
    """

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send over the connections of the provider turn that is going on."""
        call, timeout = _current.get()
        request.extensions["timeout"] = timeout.as_dict()
        return await call.handle_async_request(request)


class _Closed(httpx.BaseTransport):
    """The transport of litellm's synchronous clients, which nothing here uses."""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Raises: httpx.ConnectError, always."""
        raise httpx.ConnectError("litellm has no synchronous connections here")


def _make_client(*_: object, **__: object) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=_CurrentCall(), trust_env=False)


def _make_sync_client(*_: object) -> httpx.Client:
    return httpx.Client(transport=_Closed(), trust_env=False)


@dataclass(frozen=True, slots=True)
class Library:
    """What we use of litellm and its OpenAI SDK. Any: neither is typed for this."""

    acompletion: Any
    openai_client: Any


@lru_cache(maxsize=1)
def library() -> Library:
    """Import litellm, once, silenced.

    The import is not at the top of the file because it takes about 1.5 s and 120 MB: a web process
    that never calls a model must not pay for it, and the switches below have to be set before it.
    """
    # Without these it fetches its price list and header table from the network on import.
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    os.environ["LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS"] = "True"
    with without_collections():
        import litellm
        import openai
        from litellm.llms.custom_httpx import http_handler

    handlers: Any = http_handler
    handlers.AsyncHTTPHandler.create_client = _make_client
    handlers.HTTPHandler.create_client = _make_sync_client
    litellm.telemetry = False
    litellm.suppress_debug_info = True
    litellm.turn_off_message_logging = True
    # A parameter that a model does not know is left out instead of failing the call.
    litellm.drop_params = True
    for hooks in ("callbacks", "input_callback", "success_callback", "failure_callback"):
        setattr(litellm, hooks, [])
    _silence()
    return Library(litellm.acompletion, openai.AsyncOpenAI)


def _silence() -> None:
    """litellm's and the SDK's loggers print requests, headers and keys at their lower levels."""
    # It builds pydantic schemas of its own types at its first call, with a warning for each.
    warnings.filterwarnings("ignore", message="Item '.*' on TypedDict class", category=UserWarning)
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.setLevel(logging.CRITICAL + 1)
        logger.propagate = False
    for name in ("openai", "httpx", "httpcore"):
        logger = logging.getLogger(name)
        logger.setLevel(max(logger.level, logging.WARNING))


def messages_url(base_url: str) -> str:
    """Return where Anthropic's wire is served; people give the base with or without version."""
    return f"{base_url}/messages" if base_url.endswith("/v1") else f"{base_url}/v1/messages"


async def open_stream(
    model: ResolvedModel, arguments: dict[str, Any], call: Call
) -> AsyncIterator[Any]:
    """Send encoded `arguments` (encode.py) and return raw chunks: pydantic objects, or dicts.

    Raises: whatever litellm or httpx raise; `call` then knows the status, headers and body.
    """
    # Unless a worker warmed it, the import must not hold up everybody else on this loop.
    lib = library() if library.cache_info().currsize else await asyncio.to_thread(library)
    base_url = (model.base_url or DEFAULT_BASE_URL[model.kind]).rstrip("/")
    key = model.api_key.reveal() or NO_KEY
    idle_s = model.idle_timeout_s or settings.PROVIDER_CHUNK_TIMEOUT_S
    timeout = httpx.Timeout(idle_s, connect=CONNECT_TIMEOUT_S)
    if model.kind is ProviderKind.ANTHROPIC:
        base_url = messages_url(base_url)
    client = None
    if model.kind is ProviderKind.OPENAI:
        client = lib.openai_client(
            api_key=key, base_url=base_url, max_retries=0, http_client=_make_client()
        )
    token = _current.set((call, timeout))
    try:
        response = await lib.acompletion(
            model=f"{_ROUTE[model.kind]}/{model.api_model}",
            api_base=base_url,
            api_key=key,
            timeout=timeout,
            stream=True,
            stream_options={"include_usage": True},
            num_retries=0,
            max_retries=0,
            client=client,
            # Else a call with tools imports a web framework and a gateway for MCP, 0.7 s and 60 MB,
            # to see whether one of the tools is of that gateway. Ours never are.
            _skip_mcp_handler=True,
            **arguments,
        )
    finally:
        _current.reset(token)
    return _chunks_of(response, model.kind)


def _chunks_of(response: Any, kind: ProviderKind) -> AsyncIterator[Any]:
    """Choose the cheapest way to read what litellm opened.

    Its wrapper costs four times its inner iterator, which is public by name but not documented; so
    the wrapper is the fall-back, for a route that has none (the Responses bridge) or loses it.
    """
    inner = getattr(response, "completion_stream", None)
    http = getattr(inner, "http_response", None) or getattr(inner, "response", None)
    if kind is not ProviderKind.ANTHROPIC and isinstance(http, httpx.Response):
        return read_chunks(http)
    if inner is not None and hasattr(inner, "reasoning_content_chunks"):
        # Collecting them makes litellm run a tokenizer over all reasoning at the end of the stream.
        inner.reasoning_content_chunks = _Discard()
    iterator: AsyncIterator[Any] = aiter(inner if inner is not None else response)
    return iterator


class _Discard(list[str]):
    """A list that stays empty."""

    def append(self, _item: str, /) -> None:
        """Forget it."""
