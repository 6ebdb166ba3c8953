"""Which hosts a clone may reach: an address makes the server send requests from where it stands.

The names are resolved here, once, and git is told the addresses: what a name means to it cannot be
another thing than what was judged.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass, field
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from django.conf import settings

from opencode_web.lib.addresses import RefusedAddress, check_address, resolve

_PORTS = {"http": 80, "https": 443, "ssh": 22}
_NEVER = "This server does not clone from link-local, metadata or multicast addresses."
_PRIVATE = "This server does not clone from private or loopback addresses."
_UNKNOWN = "The host of this address is not known, or this server has no network."


class AddressRefused(Exception):
    """The message says why, for people."""


@dataclass(frozen=True)
class Pin:
    """What makes git, or its ssh, connect to the judged addresses and to nothing else."""

    config: dict[str, str] = field(default_factory=dict)
    ssh_options: tuple[str, ...] = ()


async def pin_address(url: str) -> Pin:
    """Resolve and judge the host of a clone. Raises: AddressRefused."""
    parts = urlsplit(url)
    if parts.scheme not in _PORTS:
        return Pin()
    host, port = parts.hostname or "", parts.port or _PORTS[parts.scheme]
    if parts.scheme != "ssh" and _is_proxied(parts.scheme, parts.netloc):
        # The proxy resolves the name, and this host may know no names at all.
        if _is_literal(host):
            _judge([host])
        return Pin()
    addresses = await _resolve(host, port)
    _judge(addresses)
    if parts.scheme == "ssh":
        # The host's key stays filed under its name.
        alias = host if port == _PORTS["ssh"] else f"[{host}]:{port}"
        return Pin(ssh_options=(f"HostName={addresses[0]}", f"HostKeyAlias={alias}"))
    if _is_literal(host):
        return Pin()
    listed = ",".join(f"[{text}]" if ":" in text else text for text in addresses)
    return Pin(config={"http.curloptResolve": f"{host}:{port}:{listed}"})


def _judge(addresses: Iterable[str]) -> None:
    for text in addresses:
        address = ipaddress.ip_address(text)
        try:
            check_address(address, allow_private=True)
        except RefusedAddress as exc:
            raise AddressRefused(_NEVER) from exc
        try:
            check_address(address, allow_private=settings.GIT_ALLOW_PRIVATE)
        except RefusedAddress as exc:
            raise AddressRefused(_PRIVATE) from exc


async def _resolve(host: str, port: int) -> list[str]:
    try:
        # IPv4 first: ssh is given one address only, and a route for IPv6 is often broken.
        return [str(address) for address in await resolve(host, port)]
    except OSError as exc:
        raise AddressRefused(_UNKNOWN) from exc


def _is_proxied(scheme: str, netloc: str) -> bool:
    proxies = getproxies()
    given = proxies.get(scheme) or proxies.get("all")
    return bool(given) and not proxy_bypass(netloc)


def _is_literal(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
