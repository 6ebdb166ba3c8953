from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypeAlias

from opencode_web.lib.reasons import Cause
from tools.redaction import NO_SECRETS, Redactor

OnOutput: TypeAlias = Callable[[bytes], Awaitable[None]]


class SandboxError(Exception):
    """The sandbox itself could not run the command. The message says why, for people and models."""


@dataclass(frozen=True)
class Command:
    """A program to run. `cwd` lies in the worktree; `env` is added to the sandbox's own.

    `stdin` is what it reads from its standard input, which is at its end without.
    """

    argv: tuple[str, ...]
    cwd: Path
    timeout_s: float | None
    env: Mapping[str, str] = field(default_factory=dict)
    network: bool = False
    stdin: bytes = b""


@dataclass(frozen=True)
class Exit:
    """How a command ended. `code` is None after a time-out, 128 + n after signal n.

    `stopped` says what it was stopped for when it exceeded a limit: a `StopReason`.
    `refused` are sentences about hosts that it was kept from.
    """

    code: int | None
    timed_out: bool
    duration_s: float
    stopped: Cause | None = None
    refused: tuple[str, ...] = ()


class Sandbox(Protocol):
    """Runs commands for one session."""

    @property
    def name(self) -> str: ...

    @property
    def isolated(self) -> bool:
        """Whether a command is kept from the rest of the machine."""
        ...

    @property
    def redactor(self) -> Redactor:
        """The secrets that commands have in their environment, and nothing may show."""
        ...

    @property
    def refusal(self) -> str | None:
        """Why no command can run here, and what to do about it; None when commands run."""
        ...

    async def run(self, command: Command, *, on_output: OnOutput) -> Exit:
        """Run a command and hand its output over as it comes, stdout and stderr interleaved.

        Must have ended every process of the command when it returns, and also when it is cancelled.

        Raises: SandboxError when the command could not be started; asyncio.CancelledError.
        """
        ...


@dataclass(frozen=True)
class RefusingSandbox:
    """Stands where no sandbox works: it runs nothing and says why."""

    reason: str
    redactor: Redactor = NO_SECRETS
    name: str = "none"
    isolated: bool = True

    @property
    def refusal(self) -> str | None:
        return self.reason

    async def run(self, command: Command, *, on_output: OnOutput) -> Exit:
        raise SandboxError(self.reason)
