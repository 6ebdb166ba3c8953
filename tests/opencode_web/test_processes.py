from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from opencode_web.processes import Supervisor, commands_of
from tests.opencode_web.server import free_port

LISTEN = """
import socket, sys, time, pathlib, os
pathlib.Path(sys.argv[2]).open("a").write(f"{os.getpid()}\\n")
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
time.sleep(600)
"""


@pytest.fixture(autouse=True)
def own_signals() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def short_lives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("opencode_web.processes._MIN_LIFE_S", 0)


def started(log: Path, count: int) -> list[int]:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        lines = log.read_text().split() if log.exists() else []
        if len(lines) >= count:
            return [int(line) for line in lines]
        time.sleep(0.02)
    raise AssertionError(f"{count} starts were expected")


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_it_starts_a_dead_child_again_and_stops_them_all(tmp_path: Path, short_lives: None) -> None:
    port, log, ready = free_port(), tmp_path / "log", threading.Event()
    supervisor = Supervisor({"web": [sys.executable, "-c", LISTEN, str(port), str(log)]})

    def kill_then_stop() -> None:
        ready.wait(20)
        os.kill(started(log, 1)[0], signal.SIGKILL)
        started(log, 2)
        os.kill(os.getpid(), signal.SIGTERM)

    thread = threading.Thread(target=kill_then_stop)
    thread.start()
    assert supervisor.run("127.0.0.1", port, ready=ready.set) == ""
    thread.join()
    pids = started(log, 2)
    assert len(pids) == 2
    assert not any(is_alive(pid) for pid in pids)


def test_a_child_that_cannot_start_ends_everything(tmp_path: Path) -> None:
    log = tmp_path / "log"
    supervisor = Supervisor(
        {
            "web": [sys.executable, "-c", LISTEN, str(free_port()), str(log)],
            "worker-1": [sys.executable, "-c", "raise SystemExit(3)"],
        }
    )
    failure = supervisor.run("127.0.0.1", 1, ready=lambda: None)
    assert failure == "The worker-1 process ended with code 3 at its start."
    assert not log.exists() or not any(is_alive(pid) for pid in started(log, 1))


def test_there_is_one_web_one_beat_and_the_wanted_workers() -> None:
    commands = commands_of("127.0.0.1", 4096, workers=3)
    assert list(commands) == ["web", "beat", "worker-1", "worker-2", "worker-3"]
    assert "sessions.local" in commands["worker-2"]
    assert (
        len(
            {
                command[command.index("-n") + 1]
                for name, command in commands.items()
                if "worker" in name
            }
        )
        == 3
    )
