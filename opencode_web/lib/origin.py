"""Where a change comes from: the address, the program and the API token of the request in hand.

The edges set it once for each request, socket and task, and it goes along into threads and tasks.
What is recorded reads it from here, so that no caller can forget to hand it on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from ipaddress import ip_address
from typing import ParamSpec, TypeVar

from opencode_web.lib.text import clean_text

P = ParamSpec("P")
T = TypeVar("T")

CLIENT_CHARS = 200


@dataclass(slots=True)
class Origin:
    """`client` is the user agent. `user_id` is known once the request is authenticated: one object
    goes along into all threads of the request, so it is learnt there, too."""

    ip: str | None = None
    client: str = ""
    user_id: int | None = None
    token_id: str = ""

    def __post_init__(self) -> None:
        self.client = clean_text(self.client)[:CLIENT_CHARS]
        try:
            # Behind a proxy it is whatever a header says.
            address = ip_address(self.ip.partition("%")[0]) if self.ip else None
            mapped = getattr(address, "ipv4_mapped", None)
            self.ip = str(mapped or address) if address else None
        except ValueError:
            self.ip = None


_current: ContextVar[Origin | None] = ContextVar("origin", default=None)


def current_origin() -> Origin | None:
    """Returns: None outside of requests: in commands, and in work that nobody asked for."""
    return _current.get()


def identify(user_id: int, *, token_id: str = "") -> None:
    """Note who makes the request in hand."""
    origin = _current.get()
    if origin is not None:
        origin.user_id, origin.token_id = user_id, token_id


def set_origin(origin: Origin | None) -> None:
    """For edges that have no block to do the work in."""
    _current.set(origin)


@contextmanager
def originating(origin: Origin | None) -> Iterator[None]:
    """Have what happens inside come from there."""
    token = _current.set(origin)
    try:
        yield
    finally:
        _current.reset(token)


def carried(fn: Callable[P, T]) -> Callable[P, T]:
    """Returns: the function as called from here, for a thread that has a context of its own."""
    origin = _current.get()

    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        with originating(origin):
            return fn(*args, **kwargs)

    return call
