"""Commands without a boundary, for an operator who trusts every member and model."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import signal
from asyncio.subprocess import Process
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tools.redaction import NO_SECRETS, Redactor
from tools.sandbox.base import Command, Exit, OnOutput, SandboxError
from tools.sandbox.environment import SYSTEM_PATH, build_environment
from tools.sandbox.mounts import prepare_session_dir
from tools.sandbox.process import follow, standard_input
from tools.sandbox.redacted import RedactedOutput
from tools.sandbox.trees import add_tree

_GRACE_S = 1.0
_QUIET_ROUNDS = 3
_ROUND_S = 0.01
# Inherited by every process of a command: finds those that left its process group.
_MARK = "OPENCODE_WEB_COMMAND"


@dataclass(frozen=True)
class UnsafeSandbox:
    """A plain child process with a clean environment; files and network are the server's."""

    session_dir: Path
    redactor: Redactor = NO_SECRETS
    name: str = "unsafe"
    isolated: bool = False

    @property
    def refusal(self) -> str | None:
        return None

    async def run(self, command: Command, *, on_output: OnOutput) -> Exit:
        """Run a command; ends every process that carries its mark before it returns or raises.

        Raises: SandboxError when the command could not be started.
        """
        await asyncio.to_thread(prepare_session_dir, self.session_dir)
        mark = secrets.token_hex(16)
        environment = build_environment(
            home=str(self.session_dir / "home"),
            tmp=str(self.session_dir / "tmp"),
            path=SYSTEM_PATH,
            extra={**self.redactor.lent, **command.env},
        )
        redacted = RedactedOutput(self.redactor, on_output)
        ended = await follow(
            lambda output: _start(command, output, {**environment, _MARK: mark}),
            timeout_s=command.timeout_s,
            on_output=redacted,
            end=lambda process: _end(process, mark),
        )
        await redacted.finish()
        return ended


async def _start(command: Command, output: int, environment: dict[str, str]) -> Process:
    with standard_input(command.stdin) as stdin:
        try:
            process = await asyncio.create_subprocess_exec(
                *command.argv,
                cwd=command.cwd,
                stdin=stdin,
                stdout=output,
                stderr=output,
                env=environment,
                start_new_session=True,
            )
        except (OSError, ValueError) as exc:
            raise SandboxError(f"the command could not be started: {exc}") from exc
    add_tree(process, partial(_signal_group, process.pid, signal.SIGKILL))
    return process


async def _end(process: Process, mark: str) -> None:
    if process.returncode is None:
        _signal_group(process.pid, signal.SIGTERM)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(process.wait()), _GRACE_S)
    _signal_group(process.pid, signal.SIGKILL)
    # Until it is quiet for a while: a process may fork, or be between two programs, where it shows
    # no environment, while the list is read.
    quiet = 0
    while quiet < _QUIET_ROUNDS:
        killed = await asyncio.to_thread(_kill_marked, f"{_MARK}={mark}".encode())
        quiet = 0 if killed else quiet + 1
        await asyncio.sleep(_ROUND_S)
    await process.wait()


def _signal_group(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)


def _kill_marked(mark: bytes) -> int:
    found = 0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark not in (folder / "environ").read_bytes().split(b"\0"):
                continue
            os.kill(int(folder.name), signal.SIGKILL)
        except (ProcessLookupError, FileNotFoundError, PermissionError):
            continue
        found += 1
    return found
