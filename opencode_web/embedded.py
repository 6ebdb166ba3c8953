"""The embedded server: web, worker and beat in one process.

Order of a start: listen, then release what a dead process held, then take work. Order of a stop:
accept nothing more, cancel drains and clones, end worker and beat, end what is left of children.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from celery.beat import EmbeddedService, Scheduler
from celery.worker import WorkController
from daphne.endpoints import build_endpoint_description_strings
from daphne.server import Server
from django.conf import settings
from django.db import connections
from django.urls import get_resolver
from twisted.internet import defer, reactor

from opencode_web.celery import app
from sessions.wake import local_queue

logger = logging.getLogger(__name__)

# A stop that hangs is cut off; whatever was cut is recovered from the log at the next start.
STOP_TIMEOUT_S = 8
# The worker imports much; whoever waits for the first page goes first.
_WORKER_DELAY_S = 0.25
_CONNECTIONS_TIMEOUT_S = 2


class WebServer(Server):  # type: ignore[misc]  # daphne ships no types
    """Daphne in this process, which stops without waiting for open streams."""

    def __init__(self, application: Any, *, host: str, port: int) -> None:  # an ASGI application
        endpoints = build_endpoint_description_strings(host=host, port=port)
        super().__init__(application, endpoints=endpoints, signal_handlers=False)
        self.failure = ""

    def listen_error(self, failure: Any) -> None:  # twisted's Failure
        self.fail(failure.getErrorMessage())

    def fail(self, reason: str) -> None:
        """Stop, and say why. Must be called on the reactor's thread."""
        self.failure = self.failure or reason
        self.stop()

    def kill_all_applications(self) -> defer.Deferred[Any]:
        """Unlike the base class, cope with connections that wait for their next request."""
        for listener in self.listeners:
            listener.addCallback(lambda port: port.stopListening())
        running = {
            details["application_instance"]
            for details in self.connections.values()
            if "application_instance" in details and not details["application_instance"].done()
        }
        for task in running:
            task.cancel()
        return defer.Deferred.fromFuture(asyncio.ensure_future(_settle(running)))


async def _settle(tasks: set[asyncio.Task[Any]]) -> None:
    if tasks:
        await asyncio.wait(tasks, timeout=_CONNECTIONS_TIMEOUT_S)


class Background:
    """The Celery worker and beat in threads of this process."""

    def __init__(self, *, on_death: Callable[[], None]) -> None:
        self._on_death = on_death
        self._worker: WorkController | None = None
        self._beat: Any = None  # celery's thread class is private
        self._work: Any = None  # a module
        self._stopping = False
        self._thread = threading.Thread(target=self._live, name="worker", daemon=True)

    def start(self) -> None:
        """Returns at once: the first page does not wait for the worker."""
        self._thread.start()

    def _live(self) -> None:
        try:
            self._run()
        finally:
            # Pages without a worker would look as if they worked.
            if not self._stopping:
                self._on_death()

    def _run(self) -> None:
        # By name, because the runner and its tools take longer to import than the web server.
        self._work = importlib.import_module("opencode_web.work")
        self._work.release_work()
        connections.close_all()
        # Unlike the command `celery worker`, the controller installs no signal handlers.
        self._worker = WorkController(
            app=app,
            pool_cls="threads",
            concurrency=settings.WORKER_CONCURRENCY,
            queues=[local_queue()],
            without_heartbeat=True,
            without_mingle=True,
            without_gossip=True,
        )
        self._beat = EmbeddedService(app, thread=True, scheduler_cls=Scheduler)
        if not self._stopping:
            self._work.warm_up()
            self._beat.start()
            self._worker.start()

    def stop(self) -> None:
        """Cancel what runs and end both. Blocks until then."""
        self._stopping = True
        if self._work is not None:
            self._work.stop_work()
        if self._beat is not None:
            self._beat.service.stop()
        if self._worker is not None:
            self._worker.stop()


def serve(application: Any, *, host: str, port: int, ready: Callable[[], None]) -> str:
    """Serve until SIGINT or SIGTERM. Must run in the main thread.

    `ready` is called in a thread of its own as soon as pages are served.
    Returns: why the server could not listen; empty after a stop that was asked for.
    """
    server = WebServer(application, host=host, port=port)
    background = Background(
        on_death=lambda: reactor.callFromThread(server.fail, "The worker ended by itself.")
    )

    def on_signal(*_: object) -> None:
        deadline = threading.Timer(STOP_TIMEOUT_S, _give_up)
        deadline.daemon = True
        deadline.start()
        reactor.callFromThread(server.stop)

    def on_listening() -> None:
        if not server.failure:
            threading.Thread(target=ready, name="ready", daemon=True).start()
            # Routes and views are imported now, not at somebody's first request.
            get_resolver().url_patterns  # noqa: B018
            # twisted declares its reactor as an interface without `self`.
            reactor.callLater(_WORKER_DELAY_S, background.start)  # type: ignore[arg-type]

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, on_signal)
    reactor.callWhenRunning(on_listening)
    server.run()
    background.stop()
    kill_children()
    return str(server.failure)


def kill_children() -> None:
    """End every process that this one still has started, with all of its descendants."""
    for child in _descendants(os.getpid()):
        try:
            os.kill(child, signal.SIGKILL)
        except ProcessLookupError:
            continue


def _descendants(pid: int) -> list[int]:
    """Linux only; elsewhere nothing can run in the background, for want of a sandbox."""
    found = []
    for listing in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children = [int(child) for child in listing.read_text().split()]
        except OSError:
            continue
        for child in children:
            found += [child, *_descendants(child)]
    return found


def _give_up() -> None:
    logger.warning("server.stop_timeout seconds=%s", STOP_TIMEOUT_S)
    kill_children()
    os._exit(0)
