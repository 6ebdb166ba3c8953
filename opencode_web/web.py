"""Daphne in a process of ours: how it is started, and how it stops."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from daphne.endpoints import build_endpoint_description_strings
from daphne.server import Server
from twisted.internet import defer, reactor

from opencode_web.lib.unread_answers import pieces_of, wait_for_reader

logger = logging.getLogger(__name__)

# A stop that hangs is cut off; whatever was cut is recovered from the log at the next start.
STOP_TIMEOUT_S = 8
_CONNECTIONS_TIMEOUT_S = 2


class WebServer(Server):  # type: ignore[misc]  # daphne ships no types
    """Daphne in this process, which stops without waiting for open streams."""

    def __init__(self, application: Any, *, host: str, port: int) -> None:  # an ASGI application
        endpoints = build_endpoint_description_strings(host=host, port=port)
        super().__init__(application, endpoints=endpoints, signal_handlers=False)
        self.failure = ""

    async def handle_reply(self, protocol: Any, message: dict[str, Any]) -> None:
        """Unlike the base class, let the application wait for a client that does not read."""
        for piece in pieces_of(message):
            await wait_for_reader(protocol)
            await super().handle_reply(protocol, piece)

    def serve(self, *, listening: Callable[[], None] = lambda: None) -> str:
        """Serve until SIGINT or SIGTERM. Must run in the main thread.

        `listening` is called on the reactor's thread as soon as the port is open.
        Returns: why the server could not listen or go on; empty after a stop that was asked for.
        """

        def on_signal(*_: object) -> None:
            deadline = threading.Timer(STOP_TIMEOUT_S, _give_up)
            deadline.daemon = True
            deadline.start()
            reactor.callFromThread(self.stop)

        def on_running() -> None:
            if not self.failure:
                listening()

        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, on_signal)
        reactor.callWhenRunning(on_running)
        self.run()
        return self.failure

    def listen_error(self, failure: Any) -> None:  # twisted's Failure
        self.fail(failure.getErrorMessage())

    def fail(self, reason: str) -> None:
        """Stop, and say why. From any thread."""
        self.failure = self.failure or reason
        reactor.callFromThread(self.stop)

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
