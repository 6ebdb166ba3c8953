"""The children of the supervisor: web, beat and workers, as forks of one process.

The application is imported once, by the process that is forked; each child then has it at no cost
of time, and shares its memory. So nothing here may start a thread or open a connection before the
fork.
"""

from __future__ import annotations

import importlib
import socket
from collections.abc import Callable
from functools import partial

from django.conf import settings

from opencode_web.celery import app
from opencode_web.lib.importing import without_collections
from sessions.wake import local_queue

Program = Callable[[], None]

# By name, because the supervisor imports them at two moments of its own choice.
_OF_WEB = ("opencode_web.lib.redis_layer", "sessions.consumers")
_OF_CELERY = (
    "celery.apps.beat",
    "celery.apps.worker",
    "celery.concurrency.thread",
    "celery.worker.consumer.consumer",
    "kombu.transport.redis",
    "opencode_web.work",
)


def programs_of(host: str, port: int, *, workers: int) -> dict[str, Program]:
    """Returns: by name, in the order in which they are stopped; the web server is the first."""
    node = socket.gethostname()
    return {
        "web": partial(_serve, host, port),
        "beat": _beat,
        **{f"worker-{n}": partial(_work, f"worker{n}@{node}") for n in range(1, workers + 1)},
    }


def preload_web() -> None:
    """Import pages and routes. Daphne is left to the child: its reactor must not be shared."""
    _preload((*_OF_WEB, settings.ROOT_URLCONF))


def preload_workers() -> None:
    """Import what workers and beat need besides."""
    _preload(_OF_CELERY)


def _preload(names: tuple[str, ...]) -> None:
    # A collection in a child would also write to what it shares, and so copy it.
    with without_collections():
        for name in names:
            importlib.import_module(name)


def _serve(host: str, port: int) -> None:
    application = importlib.import_module("opencode_web.asgi").application
    server = importlib.import_module("opencode_web.web").WebServer(
        application, host=host, port=port
    )
    failure = server.serve()
    if failure:
        raise SystemExit(failure)


def _beat() -> None:
    app.Beat(loglevel="WARNING", quiet=True).run()


def _work(node: str) -> None:
    worker = app.Worker(
        hostname=node,
        pool="threads",
        concurrency=settings.WORKER_CONCURRENCY,
        queues=[local_queue()],
        loglevel="WARNING",
        without_mingle=True,
        without_gossip=True,
        quiet=True,
    )
    worker.start()
    raise SystemExit(worker.exitcode)
