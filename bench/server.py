from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from bench.api import Address, Json
from bench.processes import Child
from bench.repository import Repository


@dataclass(frozen=True)
class SignIn:
    """How a browser reaches our server."""

    email: str
    password: str


@dataclass(frozen=True)
class Server:
    """A server that is set up and can be started any number of times, on the same data."""

    key: str
    title: str
    address: Address
    command: list[str]
    env: dict[str, str]
    cwd: Path
    log: Path
    # The first thing that a browser would load.
    page: str
    repository: Repository
    # Makes so many more repositories known to the server, while it is not running.
    add_repositories: Callable[[int], list[Repository]]
    # Makes the repository of many files known, likewise.
    add_large: Callable[[], Repository]
    sign_in: SignIn | None = None
    # Stores an exported session while the server is not running, where its API has no such route.
    import_session: Callable[[Json], None] | None = None
    # Measures our snapshots in a folder, in a process of its own.
    measure_snapshots: Callable[[str], Json] | None = None
    # After many rows at once: what a database does by itself within a minute.
    settle_database: Callable[[], None] = lambda: None
    others: Callable[[], list[psutil.Process]] = field(default=list)

    @property
    def is_ours(self) -> bool:
        return self.sign_in is not None

    def start(self) -> Child:
        return Child(self.command, env=self.env, cwd=self.cwd, log=self.log, others=self.others)


def opencode_config(endpoint: str) -> Json:
    """Settings in the shape of opencode.json, the same for every server."""
    return {
        "share": "disabled",
        "autoupdate": False,
        "model": "bench/scripted",
        "small_model": "bench/scripted",
        "permission": dict.fromkeys(("read", "grep", "glob", "list", "edit", "bash"), "allow"),
        "provider": {
            "bench": {
                "npm": "@ai-sdk/openai-compatible",
                "name": "Scripted endpoint",
                "options": {"baseURL": endpoint, "apiKey": "not-a-key"},
                "models": {
                    "scripted": {
                        "name": "Scripted",
                        "tool_call": True,
                        "limit": {"context": 200_000, "output": 16_000},
                    }
                },
            }
        },
    }
