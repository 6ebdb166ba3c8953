"""Which hosts a clone may reach: an address makes the server send requests from where it stands.

The names are resolved here, once, and git is told the addresses: what a name means to it cannot be
another thing than what was judged.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from opencode_web.lib.addresses import RefusedAddress, resolve
from opencode_web.lib.outbound import log_failure
from opencode_web.lib.outbound_policy import require_open
from sessions.git.clone_errors import UNREACHED

_PORTS = {"http": 80, "https": 443, "ssh": 22}


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
    is_proxied = parts.scheme != "ssh" and _is_proxied(parts.scheme, parts.netloc)
    try:
        addresses = await _resolve(host, port)
        await require_open(host, port, map(ipaddress.ip_address, addresses))
    except (OSError, RefusedAddress) as exc:
        if is_proxied and isinstance(exc, OSError):
            # The proxy resolves the name, and this host may know no names at all.
            return Pin()
        log_failure(host, port, exc)
        raise AddressRefused(UNREACHED) from exc
    if is_proxied:
        return Pin()
    if parts.scheme == "ssh":
        # The host's key stays filed under its name.
        alias = host if port == _PORTS["ssh"] else f"[{host}]:{port}"
        return Pin(ssh_options=(f"HostName={addresses[0]}", f"HostKeyAlias={alias}"))
    if _is_literal(host):
        return Pin()
    listed = ",".join(f"[{text}]" if ":" in text else text for text in addresses)
    return Pin(config={"http.curloptResolve": f"{host}:{port}:{listed}"})


async def _resolve(host: str, port: int) -> list[str]:
    # IPv4 first: ssh is given one address only, and a route for IPv6 is often broken.
    return [str(address) for address in await resolve(host, port)]


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
