"""Which addresses this server may send requests to, wherever the request comes from."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from concurrent.futures import ThreadPoolExecutor
from functools import partial

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

PRIVATE = "This server does not allow private or loopback addresses here."


def check_address(address: Address, *, allow_private: bool) -> None:
    """Judge one address. Raises: RefusedAddress."""
    address = _unwrap(address)
    if any(address in network for network in _NEVER if network.version == address.version):
        raise RefusedAddress("Link-local, metadata and multicast addresses are not allowed.")
    if not allow_private and not _is_public(address):
        raise RefusedAddress(PRIVATE)


def _is_public(address: Address) -> bool:
    if isinstance(address, ipaddress.IPv6Address) and address not in _GLOBAL_UNICAST:
        return False
    return address.is_global


def _unwrap(address: Address) -> Address:
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
