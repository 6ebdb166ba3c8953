"""`/global/ready`: whether this server can do its work now, for load balancers and containers.

Unlike `/global/health`, which says that the process answers, it fails while something that work
needs is missing. It never waits for what hangs.
"""

from __future__ import annotations

import asyncio
import shutil
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass

from django.conf import settings
from django.db import Error as DatabaseFault
from django.db import connection
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from opencode_web.lib.db import in_db
from opencode_web.lib.errors import AppError
from opencode_web.lib.json import JsonObject
from opencode_web.lib.redis_library import redis_errors, redis_library
from opencode_web.metrics import require_operator
from opencode_web.upkeep import has_pending_migrations
from sessions.models import ServerProcess
from sessions.processes import living_processes

# What takes longer counts as failed. The image's HEALTHCHECK waits 4 s for all of it.
LIMIT_S = 1.5
# Answers are this old at most, however often somebody asks.
CACHE_S = 2.0


@dataclass(frozen=True)
class Check:
    """Whether one thing works. Only operators read the detail."""

    ok: bool
    detail: str = ""


Checks = dict[str, Check]


def check_database() -> Checks:
    """Three things in one, because they need the same connection."""
    try:
        migrated = not has_pending_migrations()
        kinds = (ServerProcess.Kind.WORKER, ServerProcess.Kind.ALL)
        workers = living_processes().filter(kind__in=kinds).count() if migrated else 0
    except DatabaseFault as exc:
        return {"database": Check(False, type(exc).__name__)}
    finally:
        connection.close()
    return {
        "database": Check(True, connection.vendor),
        "migrations": Check(migrated, "" if migrated else "Run `manage.py migrate`."),
        "worker": Check(workers > 0, f"{workers} online"),
    }


def check_bus() -> Checks:
    """Ask Redis; within one process there is nothing to fail."""
    if settings.EMBEDDED:
        return {"bus": Check(True, "in memory")}
    client = redis_library().Redis.from_url(
        settings.REDIS_URL, socket_timeout=LIMIT_S, socket_connect_timeout=LIMIT_S
    )
    try:
        client.ping()
    except redis_errors() as exc:
        # Its text may quote the address, and that a password.
        return {"bus": Check(False, type(exc).__name__)}
    finally:
        client.close()
    return {"bus": Check(True, "Redis")}


def check_disk() -> Checks:
    """Look at the space that commands have to leave free where the server writes."""
    try:
        free_bytes = shutil.disk_usage(settings.DATA_DIR).free
        if settings.WORKTREES_DIR.exists():
            free_bytes = min(free_bytes, shutil.disk_usage(settings.WORKTREES_DIR).free)
    except OSError as exc:
        return {"disk": Check(False, exc.strerror or type(exc).__name__)}
    free_mb = free_bytes // 1024**2
    return {"disk": Check(free_mb >= settings.SANDBOX_FREE_DISK_MB, f"{free_mb} MB free")}


class Probe:
    """One of these checks, of which at most one is under way."""

    def __init__(self, names: tuple[str, ...], check: Callable[[], Checks]) -> None:
        self._names = names
        self._check = check
        self._running: Future[Checks] | None = None

    async def run(self) -> Checks:
        """Returns: what came of it within `LIMIT_S`; what is not known counts as failed."""
        if self._running is None or self._running.done():
            self._running = _in_thread(self._check)
        found: Checks = {}
        try:
            async with asyncio.timeout(LIMIT_S):
                found = await asyncio.shield(asyncio.wrap_future(self._running))
        except TimeoutError:
            found = {self._names[0]: Check(False, f"No answer within {LIMIT_S:g} s.")}
        return {name: found.get(name, Check(False, "Not known.")) for name in self._names}


def _in_thread(check: Callable[[], Checks]) -> Future[Checks]:
    """Not on a pool: what hangs must hold up neither requests nor the end of the process."""
    future: Future[Checks] = Future()

    def run() -> None:
        try:
            future.set_result(check())
        finally:
            if not future.done():
                future.set_result({})

    threading.Thread(target=run, name="ready", daemon=True).start()
    return future


class Readiness:
    """All checks, run once for all who ask at the same time."""

    def __init__(self, probes: tuple[Probe, ...]) -> None:
        self._probes = probes
        self._task: asyncio.Task[Checks] | None = None
        self._begun_at = 0.0

    async def checks(self) -> Checks:
        """Returns: what the checks have found within the last `CACHE_S`."""
        now = asyncio.get_running_loop().time()
        if self._task is None or (self._task.done() and now - self._begun_at > CACHE_S):
            self._task, self._begun_at = asyncio.create_task(self._run()), now
        return await asyncio.shield(self._task)

    async def _run(self) -> Checks:
        found: Checks = {}
        for checks in await asyncio.gather(*(probe.run() for probe in self._probes)):
            found |= checks
        return found


readiness = Readiness(
    (
        Probe(("database", "migrations", "worker"), check_database),
        Probe(("bus",), check_bus),
        Probe(("disk",), check_disk),
    )
)


@require_safe
@never_cache
async def ready(request: HttpRequest) -> JsonResponse:
    """200 or 503. Everybody learns what fails, and operators why."""
    checks = await readiness.checks()
    ok = all(check.ok for check in checks.values())
    body: JsonObject = {"ready": ok, "checks": {name: check.ok for name, check in checks.items()}}
    if await _is_operator(request):
        body["details"] = {name: check.detail for name, check in checks.items()}
    return JsonResponse(body, status=200 if ok else 503)


async def _is_operator(request: HttpRequest) -> bool:
    if not request.headers.get("Authorization") and not request.COOKIES:
        return False
    try:
        async with asyncio.timeout(LIMIT_S):
            await in_db(require_operator, request)
    except (AppError, DatabaseFault, TimeoutError):
        return False
    return True
