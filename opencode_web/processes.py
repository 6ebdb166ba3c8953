"""Web, workers and beat as child processes of `up`: scale-out on one host."""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable

from django.conf import settings

from sessions.wake import local_queue

_STOP_TIMEOUT_S = 12
# A child that ends sooner than this after its start will not be helped by another start.
_MIN_LIFE_S = 5
_POLL_S = 0.2
_PR_SET_PDEATHSIG = 1


def commands_of(host: str, port: int, *, workers: int) -> dict[str, list[str]]:
    """Returns: the command of every child by its name, in the order in which they are stopped."""
    celery = [sys.executable, "-m", "celery", "--quiet", "-A", "opencode_web"]
    web = [sys.executable, "-m", "daphne", "-v", "0", "-b", host, "-p", str(port)]
    return {
        "web": [*web, "opencode_web.asgi:application"],
        "beat": [*celery, "beat", "--loglevel", "WARNING", "--pidfile="],
        **{
            f"worker-{number}": [
                *celery,
                "worker",
                *("-P", "threads", "-c", str(settings.WORKER_CONCURRENCY)),
                *("-n", f"worker{number}@%h", "-Q", local_queue()),
                *("--loglevel", "WARNING", "--without-mingle", "--without-gossip"),
            ]
            for number in range(1, workers + 1)
        },
    }


class Supervisor:
    """Starts the children, starts one again that died, and stops them all."""

    def __init__(self, commands: dict[str, list[str]]) -> None:
        self._commands = commands
        self._children: dict[str, subprocess.Popen[bytes]] = {}
        self._started: dict[str, float] = {}
        self._stop = threading.Event()

    def run(self, host: str, port: int, *, ready: Callable[[], None]) -> str:
        """Returns: why it ended by itself; empty after SIGINT or SIGTERM."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: self._stop.set())
        for name in self._commands:
            self._start(name)
        announced, failure = False, ""
        while not failure and not self._stop.wait(_POLL_S):
            if not announced and _answers(host, port):
                announced = True
                ready()
            failure = self._restart_dead()
        self._stop_all()
        return failure

    def _start(self, name: str) -> None:
        self._children[name] = subprocess.Popen(  # noqa: S603 - our own commands
            self._commands[name],
            cwd=settings.BASE_DIR,
            stdin=subprocess.DEVNULL,
            # Ctrl+C of the terminal reaches this process only, which stops them in order.
            start_new_session=True,
            preexec_fn=_die_with_parent if sys.platform == "linux" else None,
        )
        self._started[name] = time.monotonic()

    def _restart_dead(self) -> str:
        for name, child in self._children.items():
            if child.poll() is None:
                continue
            # Killed from outside is no reason not to start again, however soon it was.
            was_killed = child.returncode < 0
            if not was_killed and time.monotonic() - self._started[name] < _MIN_LIFE_S:
                return f"The {name} process ended with code {child.returncode} at its start."
            self._start(name)
        return ""

    def _stop_all(self) -> None:
        """Web first, so that nothing new comes in while the workers hand over what they do."""
        for child in self._children.values():
            child.terminate()
        deadline = time.monotonic() + _STOP_TIMEOUT_S
        for child in self._children.values():
            try:
                child.wait(max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()


def _answers(host: str, port: int) -> bool:
    local = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - looked up
    try:
        socket.create_connection((local, port), timeout=1).close()
    except OSError:
        return False
    return True


def _die_with_parent() -> None:
    """Runs in the child: if this process is killed, the children must not go on alone."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
