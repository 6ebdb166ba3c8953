"""Sandboxes that reach a list of hosts, and names that lead to this machine."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

from opencode_web.lib.outbound_policy import parse_place
from tools.sandbox.base import Exit
from tools.sandbox.bubblewrap import BubblewrapSandbox
from tools.sandbox.hosts import HostList, HostRules, parse_patterns
from tools.sandbox.select import select_sandbox

NAMES = {
    "registry.test": ["127.0.0.1"],
    "mirror.registry.test": ["127.0.0.1"],
    "evilregistry.test": ["127.0.0.1"],
    "metadata.test": ["169.254.169.254"],
    "mixed.test": ["203.0.113.9", "10.0.0.1"],
}


Fetch = Callable[..., Awaitable[tuple[str, Exit]]]


def limited(
    worktree: Path, session_dir: Path, *patterns: str, private: bool = True
) -> BubblewrapSandbox:
    places = (parse_place("127.0.0.0/8"),) if private else ()
    rules = HostRules((HostList("team", parse_patterns(patterns)),), places)
    sandbox = select_sandbox(worktree=worktree, session_dir=session_dir, network=False, hosts=rules)
    assert isinstance(sandbox, BubblewrapSandbox)
    return sandbox
