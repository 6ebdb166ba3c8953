"""Which options of a model make no difference to what is sent: settings that would have no effect.

Found by sending: a made-up conversation is encoded with an option, without it and with another
value. So nothing has to be kept in step with what protocols and adapters read.
"""

from __future__ import annotations

from dataclasses import replace

from .encoding import prepared
from .errors import ProviderError
from .json import JsonObject, JsonValue
from .messages import (
    AssistantMessage,
    ProviderRequest,
    ResolvedModel,
    Text,
    ToolCall,
    ToolDefinition,
    ToolResultMessage,
    UserMessage,
)
from .route import UnknownAdapter, route_of
from .secret import Secret

_TOOL = ToolDefinition("look", "Look.", {"type": "object", "properties": {}})
_CONVERSATION = (
    UserMessage((Text("Look."),)),
    AssistantMessage((Text("I do."), ToolCall("call_1", "look", {}))),
    ToolResultMessage("call_1", "look", "Nothing."),
    UserMessage((Text("Thanks."),)),
)
# Wherever an account is: no address is asked.
_SECRETS = ("accessToken", "duoToken")
_PLACE = {"region": "us-east-1", "project": "p", "location": "global", "resourceName": "r"}


def unused_options(model: ResolvedModel) -> list[str]:
    """Returns: the names in `model.options` that change nothing of a call, in order.

    Nothing is said of a model that cannot be called.
    """
    place = {**_PLACE, **model.connection}
    secrets = {name: Secret("key") for name in _SECRETS}
    probe = replace(
        model,
        connection=place,
        api_key=Secret("key"),
        secrets=secrets,
        base_url="https://vendor.test",
    )
    try:
        sent = _sent(probe)
        return [name for name in model.options if not _is_used(probe, name, sent)]
    except (UnknownAdapter, ProviderError):
        return []


def _is_used(model: ResolvedModel, name: str, sent: list[JsonObject]) -> bool:
    others = {key: value for key, value in model.options.items() if key != name}
    changed = {**others, name: _another(model.options[name])}
    return any(_sent(replace(model, options=options)) != sent for options in (others, changed))


def _sent(model: ResolvedModel) -> list[JsonObject]:
    request = prepared(
        ProviderRequest(
            model=model,
            system=("Be kind.",),
            messages=_CONVERSATION,
            tools=(_TOOL,),
            session_id="ses_1",
            temperature=0.5,
            top_p=0.5,
        )
    )
    protocol = route_of(request).protocol
    body = protocol.encode(request)
    return [body, dict(protocol.headers(request, body))]


def _another(value: JsonValue) -> JsonValue:
    """Returns: a value of the same kind, which no default has."""
    match value:
        case bool():
            return not value
        case int() | float():
            return value + 1
        case str():
            return f"{value}-other"
        case list():
            return [*value, "other"]
        case dict():
            return {**value, "type": "other", "other": 1}
    return "other"
