"""Web, workers and beat as child processes of `up`: scale-out on one host."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Mapping
from multiprocessing.process import BaseProcess

_STOP_TIMEOUT_S = 12
# A child that ends sooner than this after its start will not be helped by another start.
_MIN_LIFE_S = 5
_POLL_S = 0.2
# Until pages are served: somebody waits for them.
_START_POLL_S = 0.02
_STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_PR_SET_PDEATHSIG = 1
_PR_SET_NAME = 15

_forks = multiprocessing.get_context("fork")


class Supervisor:
    """Forks the children, starts one again that died, and stops them all.

    The first of the programs is started alone; the others follow when it listens, so that nobody
    waits longer for the first page because of them. `lock` is an open file that no child may keep.
    """

    def __init__(self, programs: Mapping[str, Callable[[], None]], *, lock: int = -1) -> None:
        self._programs = programs
        self._lock = lock
        self._children: dict[str, BaseProcess] = {}
        self._started: dict[str, float] = {}
        self._stop = threading.Event()

    def run(self, host: str, port: int, *, ready: Callable[[], None]) -> str:
        """`ready` is called when the first program listens, before the others are started.

        Returns: why it ended by itself; empty after SIGINT or SIGTERM.
        """
        for number in _STOP_SIGNALS:
            signal.signal(number, lambda *_: self._stop.set())
        first, *others = self._programs
        self._start(first)
        failure = ""
        while not failure and not self._stop.wait(_POLL_S if not others else _START_POLL_S):
            if others and _answers(host, port):
                ready()
                for name in others:
                    self._start(name)
                others = []
            failure = self._restart_dead()
        self._stop_all()
        return failure

    def _start(self, name: str) -> None:
        child = _forks.Process(target=self._live, args=(name,), name=name)
        # A signal that reached the child before it has handlers of its own would get lost in ours.
        signal.pthread_sigmask(signal.SIG_BLOCK, _STOP_SIGNALS)
        try:
            child.start()
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOP_SIGNALS)
        self._children[name] = child
        self._started[name] = time.monotonic()

    def _live(self, name: str) -> None:
        """Runs in the child."""
        # Ctrl+C of the terminal reaches the supervisor only, which stops them in order.
        os.setsid()
        if self._lock >= 0:
            os.close(self._lock)
        if sys.platform == "linux":
            _set_up_process(name)
        for number in _STOP_SIGNALS:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOP_SIGNALS)
        self._programs[name]()

    def _restart_dead(self) -> str:
        for name, child in self._children.items():
            if child.exitcode is None:
                continue
            # Killed from outside is no reason not to start again, however soon it was.
            was_killed = child.exitcode < 0
            if not was_killed and time.monotonic() - self._started[name] < _MIN_LIFE_S:
                return f"The {name} process ended with code {child.exitcode} at its start."
            self._start(name)
        return ""

    def _stop_all(self) -> None:
        """Web first, so that nothing new comes in while the workers hand over what they do."""
        for child in self._children.values():
            child.terminate()
        deadline = time.monotonic() + _STOP_TIMEOUT_S
        for child in self._children.values():
            child.join(max(0.1, deadline - time.monotonic()))
            if child.exitcode is None and child.pid is not None:
                os.killpg(child.pid, signal.SIGKILL)
                child.join()


def _answers(host: str, port: int) -> bool:
    local = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - looked up
    try:
        socket.create_connection((local, port), timeout=1).close()
    except OSError:
        return False
    return True


def _set_up_process(name: str) -> None:
    """If the supervisor is killed, its children must not go on alone; `top` shows them by name."""
    libc = ctypes.CDLL(None)
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    libc.prctl(_PR_SET_NAME, f"ocw-{name}".encode())
