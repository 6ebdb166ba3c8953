"""What a request becomes, without sending it: for whoever counts or compares."""

from __future__ import annotations

from .errors import ProviderError
from .families.sampling import with_sampling
from .json import JsonObject, JsonValue
from .limits import OUTPUT_OPTIONS
from .messages import ProviderRequest
from .protocols.chat import Chat
from .repairs import repair
from .route import UnknownAdapter, route_of


def prepared(request: ProviderRequest) -> ProviderRequest:
    """Returns: the request as protocols are given it."""
    return with_sampling(repair(request))


def encode(request: ProviderRequest) -> JsonObject:
    """Returns: the body that is sent; that of Chat Completions where nobody knows the way."""
    request = prepared(request)
    try:
        protocol = route_of(request).protocol
    except (UnknownAdapter, ProviderError):
        protocol = Chat()
    return protocol.encode(request)


def sent_limit(body: JsonObject) -> int | None:
    """Returns: the longest answer that a body asks for, as its wire calls it. Units: tokens."""
    places: list[JsonValue] = [body, body.get("generationConfig"), body.get("inferenceConfig")]
    for place in places:
        for name in OUTPUT_OPTIONS:
            if isinstance(place, dict) and isinstance(limit := place.get(name), int):
                return limit
    return None
