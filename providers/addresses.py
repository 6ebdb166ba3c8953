"""Which addresses a team may point a provider at: a base URL makes the server send requests."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit, urlunsplit

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
_NEVER_NAMES = frozenset({"metadata", "metadata.google.internal", "instance-data"})
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


class RefusedAddress(ValueError):
    """The server must not send requests there; the message says why in words for a person."""


def check_base_url(url: str, *, allow_private: bool) -> str:
    """Return the base URL without trailing slash, query and fragment.

    Names are judged again when they are resolved for a connection (`transport.py`): what a name
    means can change between this check and the call.

    Raises: RefusedAddress when it is not an http(s) address that a provider may have.
    """
    try:
        parts = urlsplit(url.strip())
        host, _ = parts.hostname or "", parts.port
    except ValueError as exc:
        raise RefusedAddress("This is not a valid address.") from exc
    if parts.scheme not in {"http", "https"} or not host:
        raise RefusedAddress("The address has to start with http:// or https:// and name a host.")
    if parts.username is not None or parts.password is not None:
        raise RefusedAddress("Leave user name and password out of the address; set the key below.")
    if host.rstrip(".").lower() in _NEVER_NAMES:
        raise RefusedAddress("This address belongs to the cloud host's metadata service.")
    if host.rstrip(".").lower() == "localhost" and not allow_private:
        raise RefusedAddress(_PRIVATE)
    literal = _parse(host)
    if literal is not None:
        check_address(literal, allow_private=allow_private)
    return urlunsplit((parts.scheme, parts.netloc, parts.path.rstrip("/"), "", ""))


_PRIVATE = "This server does not allow providers on private or loopback addresses."


def check_address(address: Address, *, allow_private: bool) -> None:
    """Judge one address. Raises: RefusedAddress."""
    address = _unwrap(address)
    if any(address in network for network in _NEVER if network.version == address.version):
        raise RefusedAddress("Link-local, metadata and multicast addresses are not allowed.")
    if not allow_private and not address.is_global:
        raise RefusedAddress(_PRIVATE)


def _unwrap(address: Address) -> Address:
    """The IPv4 address that an IPv6 one stands for, if it does: ::ffff:a.b.c.d, 6to4, NAT64."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or address


def _parse(host: str) -> Address | None:
    try:
        return ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return None
