"""Which addresses this server may send requests to, and which requests to it are of one client."""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import idna

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

# Link-local addresses serve cloud credentials to whoever asks from the host itself; so do these few
# others.
_NEVER = tuple(
    ipaddress.ip_network(network)
    for network in (
        "169.254.0.0/16",  # IPv4 link-local; AWS, Azure, Google, OpenStack metadata
        "fe80::/10",  # IPv6 link-local
        "fd00:ec2::/32",  # AWS metadata over IPv6
        "fd20:ce::/32",  # Google metadata over IPv6
        "100.100.100.200/32",  # Alibaba Cloud metadata
        "168.63.129.16/32",  # Azure wire server
        "224.0.0.0/4",
        "ff00::/8",
        "255.255.255.255/32",
    )
)
# IPv6 addresses whose last 32 bits are an IPv4 address that a translator on the way connects to.
_TRANSLATED = tuple(
    ipaddress.IPv6Network(network)
    for network in (
        "64:ff9b::/96",  # NAT64
        "64:ff9b:1::/96",  # the first of the NAT64 prefixes for local use
        "::ffff:0:0:0/96",  # IPv4-translated (RFC 2765)
        "::/96",  # IPv4-compatible, deprecated; unspecified and loopback fall out below
    )
)
# All that has been given out of IPv6 as global unicast. Python calls more than this global.
_GLOBAL_UNICAST = ipaddress.IPv6Network("2000::/3")


class RefusedAddress(ValueError):
    """The server must not send requests there; the message says why in words for a person."""


# Of their own: whoever chooses the name may have it answered as late as they like, and what else is
# done in threads must not wait for that.
_lookups = ThreadPoolExecutor(32, thread_name_prefix="names")

MAX_HOST_CHARS = 253
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
# Programs take such a last part for (a part of) an IPv4 address: 127.1, 0x7f000001, 2130706433.
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")


def is_public(address: Address) -> bool:
    """Whether everybody can reach it.

    Raises: RefusedAddress for one that is never connected to.
    """
    address = unwrap(address)
    if any(address in network for network in _NEVER if network.version == address.version):
        raise RefusedAddress("Link-local, metadata and multicast addresses are not allowed.")
    if isinstance(address, ipaddress.IPv6Address) and address not in _GLOBAL_UNICAST:
        return False
    return address.is_global


def is_never_open(network: ipaddress.IPv4Network | ipaddress.IPv6Network) -> bool:
    """Whether nothing in it is ever connected to, whatever is listed."""
    first, last = unwrap(network[0]), unwrap(network[-1])
    return any(first in each and last in each for each in _NEVER)


def unwrap(address: Address) -> Address:
    """The IPv4 address that an IPv6 one stands for, if it does: ::ffff:a.b.c.d, 6to4, NAT64."""
    if isinstance(address, ipaddress.IPv4Address) or int(address) <= 1:
        return address
    if any(address in network for network in _TRANSLATED):
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or address


async def resolve(host: str, port: int) -> list[Address]:
    """Look a name up. Returns: its addresses, IPv4 first. Raises: OSError when it has none."""
    loop = asyncio.get_running_loop()
    try:
        found = await loop.run_in_executor(
            _lookups, partial(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
        )
    except UnicodeError as exc:
        raise OSError(f"{host} is no name of a host") from exc
    # IPv4 first: a host with a broken IPv6 route would otherwise wait for its time-out on every
    # call.
    texts = sorted({str(info[4][0]).partition("%")[0] for info in found}, key=lambda t: ":" in t)
    return [ipaddress.ip_address(text) for text in texts]


def parse_address(host: str) -> Address | None:
    """Returns: the address that a host's name spells out, or None for a name to be resolved."""
    try:
        return ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return None


def split_port(text: str) -> tuple[str, int | None]:
    """Split `host:port`; an IPv6 address with a port is in brackets. Raises: ValueError."""
    if parse_address(text) is not None:
        return text, None
    host, colon, port = text.rpartition(":")
    if not colon or text.endswith("]"):
        return text, None
    if not (port.isascii() and port.isdecimal() and 0 < int(port[:6]) < 65_536):
        raise ValueError(
            f"{text[:MAX_HOST_CHARS]!r} is no host: write the name alone, or host:port."
        )
    return host, int(port)


def normal_host(host: str) -> str:
    """Returns: the one spelling of a host: small letters, ASCII, no dot at its end, no brackets.

    Raises: ValueError.
    """
    if "%" in host:
        raise ValueError("it may not have a % in it")
    bare = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    address = parse_address(bare)
    if address is not None:
        return str(address)
    name = _ascii(host.lower()).removesuffix(".")
    labels = name.split(".")
    if len(name) > MAX_HOST_CHARS or not all(_LABEL.fullmatch(label) for label in labels):
        raise ValueError("its parts are letters, digits and hyphens")
    if _NUMBER.fullmatch(labels[-1]):
        raise ValueError("it ends in a number, as only an address does")
    return name


def _ascii(name: str) -> str:
    if name.isascii():
        return name
    try:
        return idna.encode(name, uts46=True).decode("ascii")
    except (idna.IDNAError, UnicodeError) as exc:
        raise ValueError("it is no international name") from exc


def client_network(address: str) -> str:
    """Returns: the address by which a client is counted; of IPv6 its /64 network."""
    parsed = parse_address(address)
    if parsed is None:
        return address[:45]
    if parsed.version == 4:
        return str(parsed)
    mapped = parsed.ipv4_mapped
    return str(mapped or ipaddress.ip_network((parsed, 64), strict=False).network_address)
