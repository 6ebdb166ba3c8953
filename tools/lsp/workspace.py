"""What the tools of one session ask of language servers. Never fails a call that changes files."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from opencode_web.lib.json import JsonObject, JsonValue
from tools.errors import ToolError
from tools.lsp.client import Client
from tools.lsp.diagnostics import (
    ERROR,
    MAX_OTHER_FILES,
    Diagnostic,
    merge,
    report,
    to_metadata,
)
from tools.lsp.pool import Job, OnState, Pool, Running
from tools.lsp.positions import split_lines
from tools.lsp.roots import find_root, folders_above
from tools.lsp.spec import ServerSpec
from tools.paths import Located, read_bytes
from tools.programs import find_command, find_python
from tools.sandbox.base import Sandbox
from tools.sandbox.bubblewrap import BubblewrapSandbox
from tools.text_file import decode_text, displayable

# Larger files are data.
MAX_BYTES = 1024 * 1024
_MAX_FILES = 32
# Of one file: languages have one to three.
_MAX_SERVERS = 8


@dataclass(frozen=True)
class Findings:
    """What is wrong after a change, by file. `others` are reports about files not changed."""

    found: dict[Path, tuple[Diagnostic, ...]] = field(default_factory=dict)
    reports: dict[Path, str] = field(default_factory=dict)
    others: tuple[str, ...] = ()

    @property
    def metadata(self) -> JsonObject:
        """Returns: what clients show."""
        return to_metadata(self.found)


NOTHING = Findings()


@dataclass(frozen=True)
class Opened:
    """The servers that have a file open with this text."""

    clients: list[Client]
    text: str


@dataclass(frozen=True)
class Workspace:
    """The servers of a session that may run over its worktree, whose path has no links."""

    pool: Pool
    sandbox: BubblewrapSandbox
    worktree: Path
    specs: Sequence[ServerSpec]
    on_state: OnState

    @classmethod
    def of(
        cls, pool: Pool, sandbox: Sandbox, specs: Sequence[ServerSpec], on_state: OnState
    ) -> Workspace | None:
        """Returns: None where no server can run: there are none, or the sandbox has no walls."""
        if not specs or not isinstance(sandbox, BubblewrapSandbox):
            return None
        return cls(pool, sandbox, sandbox.layout.worktree, specs, on_state)

    def warm(self, located: Located) -> None:
        """Start the servers for a file that was read, and open it, without waiting."""
        if self._wants(located):
            self.pool.spawn(self._warm(located))

    async def diagnose(self, files: Sequence[Located], *, others: bool = False) -> Findings:
        """Say what is wrong after files were changed; less when servers are slow.

        `others`: also what is known of files that were not changed.
        """
        wanted = [one for one in files[:_MAX_FILES] if self._wants(one)]
        if not wanted:
            return NOTHING
        every = await asyncio.gather(*(self._diagnose(one) for one in wanted))
        found = {one.path: some for one, (some, _) in zip(wanted, every, strict=True)}
        lines = {one.path: text for one, (_, text) in zip(wanted, every, strict=True)}
        reports = {path: report(path, some, lines[path]) for path, some in found.items()}
        reports = {path: text for path, text in reports.items() if text}
        if not others:
            return Findings(found, reports)
        elsewhere = self._errors_elsewhere({one.real for one in wanted})
        told = await asyncio.to_thread(self._reports, elsewhere)
        found |= {path: elsewhere[path] for path in told}
        return Findings(found, reports, tuple(told.values()))

    @asynccontextmanager
    async def clients(self, located: Located) -> AsyncIterator[Opened]:
        """Have the servers for a file, with the file open.

        Raises: ToolError when there are none, or none works.
        """
        servers = await self._servers(located) if self._wants(located) else []
        if not servers:
            raise ToolError("No LSP server available for this file type.")
        text = await asyncio.to_thread(_text_of, located)
        with ExitStack() as held:
            for one in servers:
                held.enter_context(one.in_use())
            ready = [one async for one in _ready(servers, None)]
            if not ready:
                names = ", ".join(one.job.spec.id for one in servers)
                raise ToolError(f"The language server of this file does not work: {names}.")
            for client in ready:
                client.open(located.real, text)
            yield Opened(ready, text)

    def _wants(self, located: Located) -> bool:
        return not located.managed and any(spec.is_for(located.real) for spec in self.specs)

    async def _warm(self, located: Located) -> None:
        try:
            async with self.clients(located):
                pass
        except (ToolError, OSError):
            return  # whoever asks for something is told

    async def _diagnose(self, located: Located) -> tuple[tuple[Diagnostic, ...], list[str]]:
        try:
            text = await asyncio.to_thread(_text_of, located)
        except (ToolError, OSError):
            return (), []
        servers = await self._servers(located)
        with ExitStack() as held:
            for one in servers:
                held.enter_context(one.in_use())
            ready = [client async for client in _ready(servers, self.pool.patience.ready_s)]
            lists = await asyncio.gather(*(client.diagnose(located.real, text) for client in ready))
        return merge(*(one or () for one in lists)), split_lines(text)

    async def _servers(self, located: Located) -> list[Running]:
        jobs = await asyncio.to_thread(lambda: list(self._jobs(located)))
        found = (self.pool.get(job, self.on_state) for job in jobs[:_MAX_SERVERS])
        return [one for one in found if one is not None]

    def _jobs(self, located: Located) -> list[Job]:
        jobs = []
        folders = list(folders_above(located.real, self.worktree))
        for spec in self.specs:
            if not spec.is_for(located.real):
                continue
            root = find_root(spec, located.real, self.worktree)
            argv = find_command(spec.commands, folders) if root else None
            if root is not None and argv is not None:
                options = _options(spec, folders)
                jobs.append(Job(self.sandbox, spec, root, argv, options))
        return jobs

    def _errors_elsewhere(self, changed: set[Path]) -> dict[Path, tuple[Diagnostic, ...]]:
        """Returns: what servers know of other files that have errors, the newest first."""
        known: dict[Path, tuple[Diagnostic, ...]] = {}
        for client in self.pool.clients(self.sandbox.layout.session_dir):
            for path, found in client.known().items():
                known[path] = merge(known.pop(path, ()), found)
        return {
            path: found
            for path, found in reversed(known.items())
            if path not in changed
            and path.is_relative_to(self.worktree)
            and any(one.severity == ERROR for one in found)
        }

    def _reports(self, found: dict[Path, tuple[Diagnostic, ...]]) -> dict[Path, str]:
        told: dict[Path, str] = {}
        for path, some in found.items():
            if len(told) == MAX_OTHER_FILES:
                break
            name = path.relative_to(self.worktree).as_posix()
            try:
                text = _text_of(Located(self.worktree, path, path, name))
            except FileNotFoundError:
                continue
            except (ToolError, OSError):
                text = ""
            told[path] = report(path, some, split_lines(text))
        return told


async def _ready(servers: Sequence[Running], wait_s: float | None) -> AsyncIterator[Client]:
    """Yields: the clients of servers that have started in time."""
    if servers:
        await asyncio.wait([one.ready for one in servers], timeout=wait_s)
    for one in servers:
        if one.ready.done() and (client := one.ready.result()) is not None:
            yield client


def _options(spec: ServerSpec, folders: Sequence[Path]) -> str:
    if not spec.python or (python := find_python(folders)) is None:
        return spec.initialization
    given: dict[str, JsonValue] = {"pythonPath": python, **spec.options}
    return json.dumps(given, sort_keys=True)


def _text_of(located: Located) -> str:
    """Raises: ToolError, OSError."""
    return displayable(decode_text(read_bytes(located, max_bytes=MAX_BYTES))[0])
