from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from opencode_web.lib.json import JsonObject
from tools.sandbox.base import Sandbox


@dataclass(frozen=True)
class PermissionAsk:
    """What a call wants to do. `always` are the patterns that an answer "always" remembers."""

    permission: str
    patterns: tuple[str, ...]
    always: tuple[str, ...] = ("*",)
    metadata: JsonObject = field(default_factory=dict)


class Parked(BaseException):
    """A person has to answer first; after the answer the call is run again from its start.

    Not an Exception: no tool may mistake it for a failure.
    """


class ToolContext(Protocol):
    """What one call may touch. Implemented by the runner.

    A tool must call `ask` before it has any effect, because the call may be executed again with
    the same `call_id` after an answer. A cancel arrives as `asyncio.CancelledError`.
    """

    @property
    def session_id(self) -> str: ...
    @property
    def message_id(self) -> str: ...
    @property
    def call_id(self) -> str: ...
    @property
    def agent(self) -> str: ...
    @property
    def worktree(self) -> Path:
        """Root of the Location; no path may leave it."""
        ...

    @property
    def directory(self) -> Path:
        """Where relative paths start; inside the worktree."""
        ...

    @property
    def output_dir(self) -> Path:
        """Managed Tool Output Files: readable by absolute path, never writable by a parameter."""
        ...

    @property
    def sandbox(self) -> Sandbox: ...

    async def ask(self, ask: PermissionAsk) -> None:
        """Return when the call is allowed.

        Raises: PermissionDenied (a rule), PermissionRejected (a person), Parked (nobody has
        answered yet).
        """
        ...

    async def progress(
        self, *, title: str | None = None, metadata: JsonObject | None = None
    ) -> None:
        """Show the state of a running call. Lossy: may be dropped or throttled."""
        ...
