"""The servers that run in this process: started when they are needed, ended when they are not."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

from opencode_web.lib.json import JsonObject
from tools.lsp.client import Client
from tools.lsp.connection import ServerGone, ServerRefusal
from tools.lsp.framing import ProtocolFault
from tools.lsp.patience import Patience
from tools.lsp.spec import ServerSpec
from tools.sandbox.base import Command, SandboxError
from tools.sandbox.bubblewrap import BubblewrapSandbox
from tools.sandbox.service import Service, open_service

logger = logging.getLogger(__name__)

IDLE_S = 600.0
# A server that failed is not tried again at every edit; what is wrong may be mended by then.
BROKEN_S = 600.0
# How often a server that runs is told of again: what is not told of has gone with its process.
BEAT_S = 300.0
_MAX_BROKEN = 256
_USUAL = Patience()


class Status(StrEnum):
    """What became of a server."""

    CONNECTED = "connected"
    ERROR = "error"
    GONE = "gone"


@dataclass(frozen=True)
class ServerState:
    """Tells a session how a server of it is. `root` is absolute, `reason` of an error."""

    id: str
    root: Path
    status: Status
    reason: str = ""


OnState = Callable[[ServerState], Awaitable[None]]


@dataclass(frozen=True)
class Job:
    """What to start: equal ones share a server."""

    sandbox: BubblewrapSandbox
    spec: ServerSpec
    root: Path
    argv: tuple[str, ...]
    initialization: str

    @property
    def options(self) -> JsonObject:
        """What the server is told when it starts."""
        options: JsonObject = json.loads(self.initialization)
        return options

    def inside(self) -> BubblewrapSandbox:
        """The sandbox of a server: what the session has, but nothing of the project to change."""
        layout = replace(self.sandbox.layout, read_only=True)
        return replace(self.sandbox, layout=layout, network=False)


@dataclass
class Running:
    """A server that starts or runs. `ready` gets its client, or None when it failed."""

    job: Job
    ready: asyncio.Future[Client | None]
    used_at: float = field(default_factory=time.monotonic)
    users: int = 0
    closing: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] | None = None

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Keep it from being ended for somebody else."""
        self.users += 1
        try:
            yield
        finally:
            self.users -= 1
            self.used_at = time.monotonic()


class Pool:
    """At most `limit` servers, each ended after `idle_s` without use. For one loop."""

    def __init__(self, limit: int, *, idle_s: float = IDLE_S, patience: Patience = _USUAL) -> None:
        self._limit = limit
        self._idle_s = idle_s
        self.patience = patience
        self._running: dict[Job, Running] = {}
        self._broken: OrderedDict[Job, float] = OrderedDict()
        self._tasks: set[asyncio.Task[None]] = set()

    def __len__(self) -> int:
        return len(self._running)

    def get(self, job: Job, on_state: OnState) -> Running | None:
        """Get a server, which may still be starting.

        Returns: None when it has failed lately, or there is no room and all others are in use.
        """
        if (running := self._running.get(job)) is not None:
            return running
        if time.monotonic() - self._broken.get(job, -BROKEN_S) < BROKEN_S or not self._make_room():
            return None
        running = Running(job, asyncio.get_running_loop().create_future())
        self._running[job] = running
        running.task = self.spawn(self._live(running, on_state))
        return running

    def spawn(self, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        """Do something beside the calls; it is awaited or cancelled when the pool is closed."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def clients(self, session_dir: Path) -> list[Client]:
        """Returns: the servers of a session that have started."""
        ready = [one.ready.result() for one in self._of(session_dir) if one.ready.done()]
        return [client for client in ready if client is not None]

    def _of(self, session_dir: Path) -> list[Running]:
        return [
            one
            for job, one in self._running.items()
            if job.sandbox.layout.session_dir == session_dir
        ]

    async def close_session(self, session_dir: Path) -> None:
        """End the servers of a session, and wait until no process of them is left."""
        mine = self._of(session_dir)
        for one in mine:
            one.closing.set()
        if tasks := [one.task for one in mine if one.task is not None]:
            await asyncio.wait(tasks)

    async def close(self) -> None:
        """End all servers, and wait for that."""
        for one in self._running.values():
            one.closing.set()
        if self._tasks:
            await asyncio.wait(set(self._tasks))

    def _make_room(self) -> bool:
        if len(self._running) < self._limit:
            return True
        idle = [one for one in self._running.values() if not one.users]
        if not idle:
            return False
        oldest = min(idle, key=lambda one: one.used_at)
        oldest.closing.set()
        # Its task ends it soon; until then it no longer counts.
        del self._running[oldest.job]
        return True

    async def _live(self, running: Running, on_state: OnState) -> None:
        job = running.job
        state = ServerState(job.spec.id, job.root, Status.GONE)
        try:
            reason = await self._serve(running, on_state)
        except (SandboxError, ServerRefusal, ProtocolFault, ServerGone) as exc:
            reason = str(exc)
        except TimeoutError:
            reason = f"it did not answer within {self.patience.start_s:.0f} s"
        except Exception:  # the edge of one language server: it must not end a session's turn
            logger.exception("lsp.failed server=%s", job.spec.id)
            reason = "a fault in this server, which was logged"
        finally:
            if self._running.get(job) is running:
                del self._running[job]
            if not running.ready.done():
                running.ready.set_result(None)
        if reason:
            reason = job.spec.redact(reason)
            logger.warning("lsp.ended server=%s %s", job.spec.id, reason)
            self._broken[job] = time.monotonic()
            if len(self._broken) > _MAX_BROKEN:
                self._broken.popitem(last=False)
            state = replace(state, status=Status.ERROR, reason=reason)
        await on_state(state)

    async def _serve(self, running: Running, on_state: OnState) -> str:
        """Returns: why it ended by itself; nothing when it was ended."""
        job = running.job
        command = Command(job.argv, job.root, None, env=dict(job.spec.env))
        async with open_service(job.inside(), command) as service:
            client = Client(service, root=job.root, options=job.options, patience=self.patience)
            serving = asyncio.create_task(client.connection.serve())
            starting = asyncio.create_task(client.initialize())
            closing = asyncio.create_task(running.closing.wait())
            tasks = {serving, starting, closing}
            try:
                done, _ = await asyncio.wait(
                    tasks, timeout=self.patience.start_s, return_when=asyncio.FIRST_COMPLETED
                )
                if closing in done:
                    return ""
                if serving in done:
                    return await _why(serving, service)
                if starting not in done:
                    raise TimeoutError
                starting.result()
                running.ready.set_result(client)
                running.used_at = time.monotonic()
                await self._until_over(running, serving, closing, on_state)
                return await _why(serving, service) if serving.done() else ""
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.wait(tasks)

    async def _until_over(
        self,
        running: Running,
        serving: asyncio.Task[None],
        closing: asyncio.Task[bool],
        on_state: OnState,
    ) -> None:
        state = ServerState(running.job.spec.id, running.job.root, Status.CONNECTED)
        while True:
            left_s = running.used_at + self._idle_s - time.monotonic()
            if left_s <= 0 and not running.users:
                return
            await on_state(state)
            done, _ = await asyncio.wait(
                {serving, closing},
                timeout=min(max(left_s, 1.0), BEAT_S),
                return_when=asyncio.FIRST_COMPLETED,
            )
            if done:
                return


async def _why(serving: asyncio.Task[None], service: Service) -> str:
    failure = serving.exception()
    if isinstance(failure, ProtocolFault):
        return str(failure)
    if failure is not None:
        raise failure
    return service.stopped or await service.last_words() or "it ended by itself"
