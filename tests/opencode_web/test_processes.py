from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from opencode_web.processes import Supervisor
from opencode_web.programs import programs_of
from tests.opencode_web.server import ROOT, environment, free_port


def listen(port: int, log: Path) -> None:
    with log.open("a") as file:
        file.write(f"{os.getpid()}\n")
    with socket.create_server(("127.0.0.1", port)):
        time.sleep(600)


def note(log: Path) -> None:
    with log.open("a") as file:
        file.write(f"{os.getpid()}\n")
    time.sleep(600)


def fail() -> None:
    raise SystemExit(3)


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


def stop_after(act: Callable[[], object]) -> threading.Thread:
    def run() -> None:
        try:
            act()
        finally:
            os.kill(os.getpid(), signal.SIGTERM)

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def test_it_starts_a_dead_child_again_and_stops_them_all(tmp_path: Path, short_lives: None) -> None:
    port, log = free_port(), tmp_path / "log"
    supervisor = Supervisor({"web": partial(listen, port, log)})

    def kill() -> None:
        os.kill(started(log, 1)[0], signal.SIGKILL)
        started(log, 2)

    thread = stop_after(kill)
    assert supervisor.run("127.0.0.1", port, ready=int) == ""
    thread.join()
    pids = started(log, 2)
    assert len(pids) == 2
    assert not any(is_alive(pid) for pid in pids)


def test_the_others_are_started_when_the_first_listens(tmp_path: Path) -> None:
    port, log, other = free_port(), tmp_path / "log", tmp_path / "other"
    supervisor = Supervisor({"web": partial(listen, port, log), "beat": partial(note, other)})
    before: list[bool] = []
    thread = stop_after(lambda: started(other, 1))
    assert supervisor.run("127.0.0.1", port, ready=lambda: before.append(other.exists())) == ""
    thread.join()
    assert before == [False]
    assert not is_alive(started(other, 1)[0])


def test_nothing_else_is_started_while_the_first_does_not_listen(tmp_path: Path) -> None:
    web, other = tmp_path / "web", tmp_path / "other"
    supervisor = Supervisor({"web": partial(note, web), "beat": partial(note, other)})
    thread = stop_after(lambda: (started(web, 1), time.sleep(0.3)))
    assert supervisor.run("127.0.0.1", free_port(), ready=lambda: None) == ""
    thread.join()
    assert not other.exists()


def test_a_child_that_cannot_start_ends_everything(tmp_path: Path) -> None:
    port, log = free_port(), tmp_path / "log"
    supervisor = Supervisor({"web": partial(listen, port, log), "worker-1": fail})
    failure = supervisor.run("127.0.0.1", port, ready=lambda: None)
    assert failure == "The worker-1 process ended with code 3 at its start."
    assert not is_alive(started(log, 1)[0])


def test_a_child_has_its_own_name_and_session_and_not_the_lock(tmp_path: Path) -> None:
    port, seen = free_port(), tmp_path / "seen"
    with (tmp_path / "lock").open("w") as lock:

        def look() -> None:
            name = Path("/proc/self/comm").read_text().strip()
            held = Path(f"/proc/self/fd/{lock.fileno()}").exists()
            draft = seen.with_suffix(".draft")
            draft.write_text(f"{name} {os.getsid(0) == os.getpid()} {held}")
            draft.rename(seen)
            time.sleep(600)

        def wait() -> None:
            deadline = time.monotonic() + 20
            while not seen.exists() and time.monotonic() < deadline:
                time.sleep(0.02)

        programs = {"web": partial(listen, port, tmp_path / "log"), "worker-1": look}
        thread = stop_after(wait)
        assert Supervisor(programs, lock=lock.fileno()).run("127.0.0.1", port, ready=int) == ""
        thread.join()
        assert not lock.closed
        os.fstat(lock.fileno())
    assert seen.read_text() == "ocw-worker-1 True False"


def test_there_is_one_web_one_beat_and_the_wanted_workers() -> None:
    programs = programs_of("127.0.0.1", 4096, workers=3)
    assert list(programs) == ["web", "beat", "worker-1", "worker-2", "worker-3"]


# In a process of its own: this one has long imported everything.
PRELOAD = """
import sys, threading, django
django.setup()
from django.db import connections
from opencode_web.programs import preload_web, preload_workers
preload_web()
assert "opencode_web.api" in sys.modules and "opencode_web.work" not in sys.modules
preload_workers()
assert "opencode_web.work" in sys.modules
print(threading.active_count(), "twisted" in sys.modules, "litellm" in sys.modules,
      any(one.connection for one in connections.all()))
"""


def test_what_is_shared_by_forks_has_no_thread_no_connection_and_no_reactor(tmp_path: Path) -> None:
    env = environment(
        tmp_path, DJANGO_SETTINGS_MODULE="opencode_web.settings", REDIS_URL="redis://127.0.0.1:1/0"
    )
    done = subprocess.run(
        [sys.executable, "-c", PRELOAD], cwd=ROOT, env=env, capture_output=True, text=True
    )
    assert done.stdout == "1 False False False\n", done.stderr


SELDOM_USED = ("litellm", "redis", "opentelemetry", "rapidfuzz", "PIL", "sessions.api.openapi")


def test_a_server_without_redis_starts_without_what_few_requests_use(tmp_path: Path) -> None:
    code = (
        "import sys, opencode_web.asgi, opencode_web.urls\n"
        f"print([name for name in {SELDOM_USED} if name in sys.modules])"
    )
    env = environment(tmp_path, DJANGO_SETTINGS_MODULE="opencode_web.settings")
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=env, capture_output=True, text=True
    )
    assert done.stdout == "[]\n", done.stderr
