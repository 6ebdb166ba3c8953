"""IBM watsonx.ai and SAP AI Core, whose wires are none of ours: litellm knows what they write.

Of litellm nothing is used but what turns a body of Chat Completions into theirs and their answer
back: functions from values to values. It opens no connection, knows no address and no key, and its
settings are none of the environment's. What is sent goes the way of all other calls, over the given
transport, without redirects.

It is loaded with the first call of such a model, in a thread: that takes 2 to 3 s and 165 MB once.

Source: https://cloud.ibm.com/apidocs/watsonx-ai#text-chat-stream;
https://api.sap.com/api/ORCHESTRATION_API_v2/overview
"""

from __future__ import annotations

import asyncio
import importlib
import json
import logging
import os
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import Any
from urllib.parse import urlsplit

import httpx

from ..auth import bearer, header
from ..errors import RefusedRequest
from ..events import StreamEvent
from ..exchange import Exchange
from ..framing import DONE, UNREADABLE, StreamError
from ..json import JsonObject, dump
from ..messages import ProviderRequest
from ..protocols.chat import Chat, ChatDecoder, Dialect
from ..protocols.fields import object_at, text_at
from ..route import Auth, Route, register
from ..secret import Secret
from ..texts import gettext_noop
from .bedrock import REGION

NOT_INSTALLED = gettext_noop(
    "This provider needs litellm, which is not installed on this server. Ask an "
    "operator to install it."
)
BAD_REGION = gettext_noop(
    "The region of this watsonx.ai provider is not valid. Use a name such as us-south or eu-de."
)
NO_PROJECT = gettext_noop("watsonx.ai needs a project. Set `project` in the provider's settings.")
BAD_SERVICE_KEY = gettext_noop(
    "Enter the service key of an SAP AI Core instance as one line of JSON with "
    "clientid, clientsecret, url and serviceurls.AI_API_URL."
)
NO_DEPLOYMENT = gettext_noop(
    "SAP AI Core has no running deployment of the orchestration service for this key. "
    "Start one, or set its address as the base URL."
)
# Set before it is loaded: it would fetch a list of prices, and read a file `.env`.
_SETTINGS = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_MODE": "PRODUCTION"}
_LOGGERS = ("LiteLLM", "LiteLLM Proxy", "LiteLLM Router")
# What litellm raises for frames that it does not expect; its own words are of no use to anybody.
_MALFORMED = (ValueError, TypeError, LookupError, AttributeError)
_HOUR_S = 3_600.0
# What a variable begins with in SAP's templates.
_OPENING = "{{?"
_IBM_CLOUD = ".ml.cloud.ibm.com"
_IBM_TOKENS = "https://iam.cloud.ibm.com/identity/token"
_IBM_GRANT = "urn:ibm:params:oauth:grant-type:apikey"
_DIALECT = Dialect(reasoning_field=None, keeps_unknown_options=False)
_exchange = Exchange()

Read = Callable[[JsonObject], list[JsonObject]]
"""From a frame of the vendor to chunks of Chat Completions. Raises: StreamError."""


@lru_cache
def load(module: str, name: str) -> Any:  # Any: litellm has no types that hold
    """Returns: one of litellm's classes, made. Raises: RefusedRequest where it is not installed."""
    os.environ.update(_SETTINGS)
    try:
        found = importlib.import_module(f"litellm.llms.{module}")
    except ImportError as exc:
        raise RefusedRequest(NOT_INSTALLED) from exc
    package: Any = importlib.import_module("litellm")
    package.telemetry = False
    package.suppress_debug_info = True
    for logger in _LOGGERS:
        # What it logs quotes requests.
        logging.getLogger(logger).setLevel(logging.CRITICAL)
    return getattr(found, name)()


class Translated(Chat):
    """Chat Completions that litellm writes in another way."""

    def __init__(self, config: Any, fields: JsonObject, read: Read) -> None:
        super().__init__(_DIALECT)
        self._config = config
        self._fields = fields
        self._read = read

    def encode(self, request: ProviderRequest) -> JsonObject:
        """Returns: the body."""
        # A copy, for what is given is changed.
        options: Any = json.loads(dump(super().encode(request)))
        messages = options.pop("messages")
        model = options.pop("model")
        known = self._config.map_openai_params(options, {}, model, True)
        body = self._config.transform_request(model, messages, {**known, **self._fields}, {}, {})
        written: JsonObject = json.loads(dump(body))
        return written

    def decoder(self, request: ProviderRequest) -> ChatDecoder:
        """Returns: a reader of the answer."""
        return TranslatedDecoder(self._read)


class TranslatedDecoder(ChatDecoder):
    """Reads what litellm makes of each frame."""

    def __init__(self, read: Read) -> None:
        super().__init__()
        self._translate = read

    def feed(self, frame: JsonObject) -> Iterator[StreamEvent]:
        """Yield the events of one frame. Raises: StreamError."""
        try:
            chunks = [frame] if frame is DONE else self._translate(frame)
        except _MALFORMED as exc:
            raise StreamError({"message": UNREADABLE}) from exc
        for chunk in chunks:
            yield from super().feed(chunk)


class Watsonx(Translated):
    """The address says that the answer is streamed, and the model has another name."""

    def encode(self, request: ProviderRequest) -> JsonObject:
        """Returns: the body."""
        body = super().encode(request)
        return {name: value for name, value in body.items() if name not in {"model", "stream"}}


class Orchestrated(Translated):
    """SAP's orchestration: it is told to stream in its own place, and takes texts for templates."""

    def encode(self, request: ProviderRequest) -> JsonObject:
        """Returns: the body."""
        body = super().encode(request)
        written = dump(body)
        if _OPENING in written:
            # What looks like a variable in what somebody has said is that text, and no variable.
            body = json.loads(written.replace(_OPENING, f"{_OPENING}opening}}}}"))
            body["placeholder_values"] = {"opening": _OPENING}
        object_at(body, "config")["stream"] = {"enabled": True}
        return body


def _watsonx(request: ProviderRequest) -> Route:
    model = request.model
    region = model.connection.get("region") or "us-south"
    base = (model.base_url or f"https://{region}{_IBM_CLOUD}").rstrip("/")
    if not REGION.fullmatch(region):
        raise RefusedRequest(BAD_REGION)
    project = model.connection.get("project", "")
    if not project and not model.api_model.startswith("deployment/"):
        raise RefusedRequest(NO_PROJECT)
    return Route(
        Chat(_DIALECT), base, bearer(model.api_key), prepare=partial(_prepare_watsonx, request)
    )


async def _prepare_watsonx(request: ProviderRequest, transport: httpx.AsyncBaseTransport) -> Route:
    base, model = _watsonx(request).url, request.model
    module = "watsonx.chat.transformation"
    config = await asyncio.to_thread(load, module, "IBMWatsonXChatConfig")
    url = config.get_complete_url(base, None, model.api_model, {}, {}, stream=True)
    is_deployed = model.api_model.startswith("deployment/")
    project = model.connection.get("project", "")
    fields: JsonObject = {} if is_deployed else {"model_id": model.api_model, "project_id": project}
    auth, token = await _ibm_auth(request, base, transport)
    parser = config.get_model_response_iterator(iter(()), sync_stream=True)
    protocol = Watsonx(config, fields, partial(_read_watsonx, parser))
    return Route(protocol, url, auth, secrets=token)


async def _ibm_auth(
    request: ProviderRequest, base: str, transport: httpx.AsyncBaseTransport
) -> tuple[Auth, tuple[Secret, ...]]:
    """IBM's cloud wants a token for a key; a cluster of one's own takes the key itself."""
    if token := request.model.secrets.get("accessToken"):
        return bearer(token), ()
    key = request.model.api_key
    if not (urlsplit(base).hostname or "").endswith(_IBM_CLOUD):
        return header("authorization", key, prefix="ZenApiKey "), ()
    form = {"grant_type": _IBM_GRANT, "apikey": key.reveal()}
    call = httpx.Request("POST", _IBM_TOKENS, data=form)
    answer = await _exchange.ask(call, transport, request, lifetime_s=_HOUR_S)
    token = Secret(text_at(answer, "access_token"))
    return bearer(token), (token,)


def _read_watsonx(parser: Any, frame: JsonObject) -> list[JsonObject]:
    if frame.get("errors"):
        raise StreamError(frame)
    chunk: JsonObject = parser.chunk_parser(frame).model_dump(exclude_none=True)
    return [chunk]


def _sap(request: ProviderRequest) -> Route:
    _service_key(request)
    base = (request.model.base_url or "").rstrip("/")
    return Route(Chat(_DIALECT), base, bearer(Secret("")), prepare=partial(_prepare_sap, request))


async def _prepare_sap(request: ProviderRequest, transport: httpx.AsyncBaseTransport) -> Route:
    key = _service_key(request)
    config = await asyncio.to_thread(load, "sap.chat.transformation", "GenAIHubOrchestrationConfig")
    lines = await asyncio.to_thread(importlib.import_module, "litellm.llms.sap.chat.handler")
    token = await _sap_token(key, request, transport)
    api = text_at(object_at(key, "serviceurls"), "AI_API_URL").rstrip("/")
    base = (request.model.base_url or "").rstrip("/")
    base = base or await _deployment(api, token, request, transport)
    protocol = Orchestrated(config, {}, partial(_read_sap, lines.SAPStreamIterator))
    headers = {"ai-resource-group": "default", "ai-client-type": "OpenCode Web"}
    secrets = (token, Secret(text_at(key, "clientsecret")))
    return Route(protocol, f"{base}/v2/completion", bearer(token), headers, secrets=secrets)


def _service_key(request: ProviderRequest) -> JsonObject:
    """Raises: RefusedRequest."""
    try:
        key = json.loads(request.model.api_key.reveal())
    except ValueError:
        key = None
    if not isinstance(key, dict) or not text_at(object_at(key, "serviceurls"), "AI_API_URL"):
        raise RefusedRequest(BAD_SERVICE_KEY)
    if not all(text_at(key, name) for name in ("clientid", "clientsecret", "url")):
        raise RefusedRequest(BAD_SERVICE_KEY)
    return key


async def _sap_token(
    key: JsonObject, request: ProviderRequest, transport: httpx.AsyncBaseTransport
) -> Secret:
    url = text_at(key, "url").rstrip("/").removesuffix("/oauth/token")
    form = {
        "grant_type": "client_credentials",
        "client_id": text_at(key, "clientid"),
        "client_secret": text_at(key, "clientsecret"),
    }
    call = httpx.Request("POST", f"{url}/oauth/token", data=form)
    answer = await _exchange.ask(call, transport, request, lifetime_s=_HOUR_S)
    return Secret(text_at(answer, "access_token"))


async def _deployment(
    api: str, token: Secret, request: ProviderRequest, transport: httpx.AsyncBaseTransport
) -> str:
    """Returns: where orchestration runs, the newest of several. Raises: ProviderError."""
    group = request.model.headers.get("ai-resource-group", "default")
    call = httpx.Request(
        "GET",
        f"{api.removesuffix('/v2')}/v2/lm/deployments?scenarioId=orchestration&status=RUNNING",
        headers={"ai-resource-group": group, "authorization": f"Bearer {token.reveal()}"},
    )
    answer = await _exchange.ask(call, transport, request, lifetime_s=_HOUR_S)
    resources = answer.get("resources")
    listed = (
        [one for one in resources if isinstance(one, dict)] if isinstance(resources, list) else []
    )
    # The token goes nowhere but to the host that the key names.
    found = [
        (text_at(one, "createdAt"), text_at(one, "deploymentUrl"))
        for one in listed
        if urlsplit(text_at(one, "deploymentUrl")).netloc == urlsplit(api).netloc
    ]
    if not found:
        raise RefusedRequest(NO_DEPLOYMENT)
    return max(found)[1].rstrip("/")


def _read_sap(
    lines: Callable[[Iterator[str]], Iterator[Any]], frame: JsonObject
) -> list[JsonObject]:
    if "code" in frame:
        raise StreamError(frame)
    return [chunk.model_dump(exclude_none=True) for chunk in lines(iter([json.dumps(frame)]))]


register("watsonx-ai-provider", _watsonx)
register("@jerome-benoit/sap-ai-provider-v2", _sap)
