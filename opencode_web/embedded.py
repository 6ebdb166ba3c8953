"""The embedded server: web, worker and beat in one process.

Order of a start: release what a dead process held (`up` does), listen, then take work. Order of a
stop: accept nothing more, hand drains and clones over, end worker and beat, end what is left of
children.
"""

from __future__ import annotations

import importlib
import threading
import time
from collections.abc import Callable
from typing import Any

from django.urls import get_resolver

from opencode_web.asgi import application
from opencode_web.lib.importing import without_collections
from opencode_web.web import WebServer, kill_children

# The worker imports much; whoever waits for the first page goes first.
_WORKER_DELAY_S = 0.1


def serve(host: str, port: int, *, ready: Callable[[], None]) -> str:
    """Serve until SIGINT or SIGTERM. Must run in the main thread.

    `ready` is called in a thread of its own as soon as pages are served.
    Returns: why the server could not listen or go on; empty after a stop that was asked for.
    """
    server = WebServer(application, host=host, port=port)
    background = _Background(on_death=lambda: server.fail("The worker ended by itself."))

    def on_listening() -> None:
        threading.Thread(target=ready, name="ready", daemon=True).start()
        # Routes and views are imported now, not at somebody's first request.
        with without_collections():
            get_resolver().url_patterns  # noqa: B018
        background.start()

    failure = server.serve(listening=on_listening)
    background.stop()
    kill_children()
    return failure


class _Background:
    """The thread in which worker and beat are imported and live."""

    def __init__(self, *, on_death: Callable[[], None]) -> None:
        self._on_death = on_death
        self._running: Any = None  # opencode_web.background.Background
        self._stopping = False
        self._thread = threading.Thread(target=self._live, name="worker", daemon=True)

    def start(self) -> None:
        """Returns at once: the first page does not wait for the worker."""
        self._thread.start()

    def _live(self) -> None:
        time.sleep(_WORKER_DELAY_S)
        try:
            # By name, because the worker, the runner and its tools take longer to import than the
            # web server.
            with without_collections():
                module = importlib.import_module("opencode_web.background")
            self._running = module.Background()
            if not self._stopping:
                self._running.run()
        finally:
            # Pages without a worker would look as if they worked.
            if not self._stopping:
                self._on_death()

    def stop(self) -> None:
        """Cancel what runs and end both. Blocks until then."""
        self._stopping = True
        if self._running is not None:
            self._running.stop()
