"""Worker and beat of the embedded server, which imports this module once pages are served."""

from __future__ import annotations

from typing import Any

from celery.beat import EmbeddedService, Scheduler
from celery.worker import WorkController
from django.conf import settings

from opencode_web import work
from opencode_web.celery import app
from sessions.models import ServerProcess
from sessions.wake import local_queue


class Background:
    """The Celery worker in the thread that runs this, and beat in one of its own."""

    def __init__(self) -> None:
        self._worker: WorkController | None = None
        self._beat: Any = None  # celery's thread class is private
        self._stopping = False

    def run(self) -> None:
        """Take work until it is stopped, first what an earlier process has left."""
        work.begin_work(ServerProcess.Kind.ALL)
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
            self._beat.start()
            self._worker.start()

    def stop(self) -> None:
        """Cancel what runs and end both. Blocks until then."""
        self._stopping = True
        work.stop_work()
        if self._beat is not None:
            self._beat.service.stop()
        if self._worker is not None:
            self._worker.stop()
