"""How one model is called: its protocol, where it is served, and how a request proves who asks.

    Route   protocol + address + auth + headers, made by an adapter for one request; what has to be
            asked or loaded before that (a token for a key) is its `prepare`
    Adapter a function from a request to its route; registered under the name of an SDK package

A new provider is a new adapter: no protocol changes for it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field

import httpx

from .errors import ProviderError
from .events import StreamEvent
from .framing import Framing, sse
from .json import JsonObject
from .messages import ProviderRequest
from .secret import Secret

Auth = Callable[[httpx.Request], None]
"""Sets the headers of a request whose address and body are complete."""


class Decoder(ABC):
    """State of one answer. It is fed frames and then asked for the end."""

    @abstractmethod
    def feed(self, frame: JsonObject) -> Iterator[StreamEvent]:
        """Yield the events of one frame; often none. Raises: StreamError."""

    @abstractmethod
    def end(self) -> Iterator[StreamEvent]:
        """Yield what closes the stream, which is exactly one `Finished` or `Failed` at last."""


class Protocol(ABC):
    """One wire format. Instances differ only in the dialect that an adapter gives them."""

    framing: Framing = staticmethod(sse)

    @abstractmethod
    def encode(self, request: ProviderRequest) -> JsonObject:
        """Returns: the body. The same request gives the same bytes."""

    @abstractmethod
    def decoder(self, request: ProviderRequest) -> Decoder:
        """Returns: a reader of the answer."""

    def headers(self, request: ProviderRequest, body: JsonObject) -> Mapping[str, str]:
        """Returns: headers that the wire wants beside the route's.

        They go before those of the settings, which a protocol may take up in them.
        """
        return {}

    def is_end(self, error: ProviderError) -> bool:
        """Whether what looks like an error is how this wire says that nothing is left to say."""
        return False


Prepare = Callable[[httpx.AsyncBaseTransport], Awaitable["Route"]]
"""Returns the route that is called. Asks over the given transport and nothing else, if it has to.

Raises: ProviderError.
"""


@dataclass(frozen=True, slots=True)
class Route:
    """Where and how a request is sent. `url` is complete, unless the route has to be prepared."""

    protocol: Protocol
    url: str
    auth: Auth
    headers: Mapping[str, str] = field(default_factory=dict)
    prepare: Prepare | None = None
    # Kept out of errors, beside those of the model: what the preparation has got.
    secrets: tuple[Secret, ...] = ()


Adapter = Callable[[ProviderRequest], Route]
_adapters: dict[tuple[str, str], Adapter] = {}


class UnknownAdapter(LookupError):
    """No adapter is registered under this name."""


def register(npm: str, adapter: Adapter, *, provider_id: str = "") -> None:
    """Have models of this SDK package called by `adapter`; the last one given counts.

    With `provider_id` only those of one provider, whose package says less than its name.
    """
    _adapters[npm, provider_id] = adapter


def has_adapter(npm: str) -> bool:
    """Whether models of this SDK package can be called, whoever serves them."""
    return (npm, "") in _adapters


def known_adapters() -> list[str]:
    """Returns: the SDK packages whose models can be called."""
    return [npm for npm, provider_id in _adapters if not provider_id]


def route_of(request: ProviderRequest) -> Route:
    """Raises: UnknownAdapter; BadRequest for a connection that lacks something."""
    npm, provider_id = request.model.npm, request.model.ref.provider_id
    adapter = _adapters.get((npm, provider_id)) or _adapters.get((npm, ""))
    if adapter is None:
        raise UnknownAdapter(npm)
    return adapter(request)
