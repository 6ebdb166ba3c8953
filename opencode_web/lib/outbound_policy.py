"""The one policy for outgoing connections: public addresses are open, private ones are closed.

Operators open private places with ALLOWED_PRIVATE_ADDRESSES, and on a page of their console, whose
rows the app below `teams` provides. Metadata and link-local addresses stay closed, whatever is
listed.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from django.conf import settings
from django.utils.translation import gettext as _

from opencode_web.lib.addresses import (
    Address,
    RefusedAddress,
    is_public,
    normal_host,
    parse_address,
    split_port,
    unwrap,
)
from opencode_web.lib.db import in_db

_LOOPBACK = ipaddress.IPv4Address("127.0.0.1")


class ClosedPlace(RefusedAddress):
    """A private place that no operator has opened. `place` is how they would list it."""

    def __init__(self, place: str) -> None:
        super().__init__(
            _(
                "This server does not connect to private addresses unless an operator allows them: "
                "{place}."
            ).format(place=place)
        )
        self.place = place


@dataclass(frozen=True)
class AllowedPlace:
    """`host` is a name, or a network of addresses. Without a port every port is meant."""

    host: str | ipaddress.IPv4Network | ipaddress.IPv6Network
    port: int | None = None

    def covers(self, host: str, port: int, address: Address | None) -> bool:
        """Whether `address` may be connected to where `host` and `port` were asked for."""
        if self.port not in (None, port):
            return False
        if isinstance(self.host, str):
            return host.rstrip(".").lower() == self.host
        return address is not None and address in self.host

    def __str__(self) -> str:
        host = str(self.host)
        if not isinstance(self.host, str) and self.host.num_addresses == 1:
            host = str(self.host.network_address)
        if self.port is None:
            return host
        return f"[{host}]:{self.port}" if ":" in host else f"{host}:{self.port}"


def parse_place(text: str) -> AllowedPlace:
    """Read `localhost:11434`, `10.0.0.0/8:443`, `[::1]:80`, `git.lan`. Raises: ValueError."""
    network = _network(text)
    if network is not None:
        return AllowedPlace(network)
    host, port = split_port(text.strip())
    network = _network(host)
    return AllowedPlace(normal_host(host) if network is None else network, port)


def _network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network | None:
    try:
        return ipaddress.ip_network(text.strip().removeprefix("[").removesuffix("]"), strict=False)
    except ValueError:
        return None


@lru_cache(maxsize=8)
def _parse_all(texts: tuple[str, ...]) -> tuple[AllowedPlace, ...]:
    return tuple(parse_place(text) for text in texts)


def places_of_settings() -> tuple[AllowedPlace, ...]:
    """What ALLOWED_PRIVATE_ADDRESSES lists. Raises: ValueError, which a system check reports."""
    return _parse_all(tuple(settings.ALLOWED_PRIVATE_ADDRESSES))


_rows: list[Callable[[], Iterable[str]]] = []


def read_rows_with(read: Callable[[], Iterable[str]]) -> None:
    """Name what reads the operators' rows; it makes one query."""
    _rows[:] = [read]


def _places_of_rows() -> tuple[AllowedPlace, ...]:
    return _parse_all(tuple(text for read in _rows for text in read()))


def _still_closed(
    host: str, port: int, addresses: Iterable[Address], places: Sequence[AllowedPlace]
) -> list[Address]:
    private = [unwrap(address) for address in addresses if not is_public(address)]
    return [
        address
        for address in private
        if not any(place.covers(host, port, address) for place in places)
    ]


async def require_open(
    host: str, port: int, addresses: Iterable[Address], *, also: Sequence[AllowedPlace] = ()
) -> None:
    """Judge all addresses of a host before any of them is connected to.

    The rows are read each time, so what operators change counts at once in every process; public
    addresses cost no query. `also`: places that are open to this caller.

    Raises: RefusedAddress.
    """
    closed = _still_closed(host, port, addresses, (*also, *places_of_settings()))
    if closed and _still_closed(host, port, closed, await in_db(_places_of_rows)):
        raise ClosedPlace(place_text(host, port))


def require_open_text(host: str, port: int) -> None:
    """Judge what somebody typed, as far as it says an address itself. Other names are judged when
    they are resolved for a connection.

    Raises: RefusedAddress.
    """
    address = _address_in(host)
    if address is None:
        return
    closed = _still_closed(host, port, [address], places_of_settings())
    if closed and _still_closed(host, port, closed, _places_of_rows()):
        raise ClosedPlace(place_text(host, port))


def is_listed(host: str, port: int) -> bool:
    """Whether operators have listed this host itself; secrets may then go there without TLS."""
    return any(_cover(places(), host, port) for places in (places_of_settings, _places_of_rows))


async def ais_listed(host: str, port: int) -> bool:
    """As `is_listed`, from asynchronous code."""
    return _cover(places_of_settings(), host, port) or _cover(
        await in_db(_places_of_rows), host, port
    )


def _cover(places: Iterable[AllowedPlace], host: str, port: int) -> bool:
    address = _address_in(host)
    return any(place.covers(host, port, address) for place in places)


def _address_in(host: str) -> Address | None:
    name = host.rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return _LOOPBACK
    return parse_address(host)


def place_text(host: str, port: int) -> str:
    """Returns: `host:port`, as it can be listed."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
