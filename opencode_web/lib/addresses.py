"""Which addresses this server may send requests to, wherever the request comes from."""

from __future__ import annotations

import ipaddress

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
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


class RefusedAddress(ValueError):
    """The server must not send requests there; the message says why in words for a person."""


PRIVATE = "This server does not allow private or loopback addresses here."


def check_address(address: Address, *, allow_private: bool) -> None:
    """Judge one address. Raises: RefusedAddress."""
    address = _unwrap(address)
    if any(address in network for network in _NEVER if network.version == address.version):
        raise RefusedAddress("Link-local, metadata and multicast addresses are not allowed.")
    if not allow_private and not address.is_global:
        raise RefusedAddress(PRIVATE)


def _unwrap(address: Address) -> Address:
    """The IPv4 address that an IPv6 one stands for, if it does: ::ffff:a.b.c.d, 6to4, NAT64."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or address


def parse_address(host: str) -> Address | None:
    """Returns: the address that a host's name spells out, or None for a name to be resolved."""
    try:
        return ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return None
