"""Which hosts a command may reach. Pure: names are compared, nothing is looked up.

A pattern is a name (`example.org`), the names below one (`*.example.org`, not the name itself),
every name (`*`) or an address, each with a port of its own if it says so. An address is reached
only where it is listed itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from opencode_web.lib.addresses import MAX_HOST_CHARS, normal_host, parse_address, split_port
from opencode_web.lib.outbound_policy import AllowedPlace

DEFAULT_PORTS = frozenset({80, 443})
MAX_PATTERNS = 200
_ANY = "*"


class Reach(StrEnum):
    """How far commands reach, the least first."""

    NONE = "none"
    ALLOW_LIST = "allow-list"
    OPEN = "open"

    @property
    def rank(self) -> int:
        """Its place in the order."""
        return list(Reach).index(self)


@dataclass(frozen=True)
class Target:
    """Where a command wants to go. `host` is in its normal form; see `parse_target`."""

    host: str
    port: int

    @property
    def is_address(self) -> bool:
        return parse_address(self.host) is not None

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


@dataclass(frozen=True)
class HostPattern:
    """`host` is a name or an address, `*.` and a name, or `*`. Without a port 80 and 443 count."""

    host: str
    port: int | None = None

    def matches(self, target: Target) -> bool:
        """Whether the target is meant."""
        ports = DEFAULT_PORTS if self.port is None else {self.port}
        return target.port in ports and self._names(target)

    def _names(self, target: Target) -> bool:
        if self.host.startswith(_ANY):
            # What follows the asterisk begins with a dot: evilexample.org is not below example.org.
            return not target.is_address and target.host.endswith(self.host[1:])
        return target.host == self.host

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port is None else f"{host}:{self.port}"


@dataclass(frozen=True)
class HostList:
    """The patterns of one level. `owner` is who can change it: "server", "team" or "project"."""

    owner: str
    patterns: tuple[HostPattern, ...]


@dataclass(frozen=True)
class HostRules:
    """What a command may reach: what every one of the lists allows, and the policy for outgoing
    connections, which opens `places` besides.
    """

    lists: tuple[HostList, ...]
    places: tuple[AllowedPlace, ...] = ()

    def refusal(self, target: Target) -> str:
        """Say why a target may not be reached, and who can change that; "" when it may."""
        for one in self.lists:
            if not any(pattern.matches(target) for pattern in one.patterns):
                return f"{target} is not on the {one.owner}'s list of hosts that commands may reach"
        return "" if self.lists else f"{target} may not be reached: no host is allowed"


def parse_target(host: str, port: int) -> Target:
    """Raises: ValueError for what is neither a name nor an address."""
    if not 0 < port < 65_536:
        raise ValueError(f"{port} is no port")
    return Target(normal_host(host), port)


def parse_patterns(texts: Sequence[str]) -> tuple[HostPattern, ...]:
    """Read patterns, without those that are there twice. Raises: ValueError naming a wrong one."""
    if len(texts) > MAX_PATTERNS:
        raise ValueError(f"There may be {MAX_PATTERNS} hosts at most.")
    return tuple(dict.fromkeys(parse_pattern(text) for text in texts))


def parse_pattern(text: str) -> HostPattern:
    """Raises: ValueError saying how it has to be written."""
    host, port = split_port(text.strip())
    try:
        if host == _ANY:
            return HostPattern(_ANY, port)
        wild = host.startswith("*.")
        name = normal_host(host[2:] if wild else host)
        if wild and parse_address(name) is not None:
            raise ValueError("an address has nothing below it")
    except ValueError as exc:
        raise ValueError(
            f"{text[:MAX_HOST_CHARS]!r} is no host: {exc}. Write a name such as example.org, "
            "*.example.org for all names below it, or host:port."
        ) from exc
    return HostPattern(f"*.{name}" if wild else name, port)
