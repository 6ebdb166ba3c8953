from __future__ import annotations

import shutil
import signal
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import redis

from opencode_web import broker_watch
from opencode_web.broker_watch import BrokerWatch
from tests.chaos.target import start_redis
from tests.e2e.installation import free_port
from tests.e2e.rest import wait_for

pytestmark = pytest.mark.skipif(shutil.which("redis-server") is None, reason="no redis-server")


class Finder:
    """Counts the looks into the database."""

    def __init__(self) -> None:
        self.looks = 0
        self.looked = threading.Event()

    def __call__(self) -> None:
        self.looks += 1
        self.looked.set()


@pytest.fixture
def server(settings: Any, tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    port = free_port()
    settings.REDIS_URL = f"redis://127.0.0.1:{port}/0"
    process = start_redis(port, tmp_path)
    client = redis.Redis(port=port)
    wait_for(lambda: _answers(client))
    client.close()
    yield process
    process.kill()
    process.wait(10)


def _answers(client: redis.Redis) -> bool:
    try:
        return bool(client.ping())
    except redis.RedisError:
        return False


@pytest.fixture
def finder(monkeypatch: pytest.MonkeyPatch) -> Finder:
    made = Finder()
    monkeypatch.setattr(broker_watch, "run_runnable", made)
    monkeypatch.setattr(broker_watch, "LOOK_S", 0.05)
    monkeypatch.setattr(broker_watch, "SILENT_S", 0.4)
    return made


@pytest.fixture
def watch(server: subprocess.Popen[bytes], finder: Finder) -> Iterator[BrokerWatch]:
    made = BrokerWatch()
    made.consumer = SimpleNamespace(connection=object())
    made.start()
    yield made
    made.end()


def test_the_database_is_looked_at_only_while_the_broker_is_silent(
    watch: BrokerWatch, server: subprocess.Popen[bytes], finder: Finder
) -> None:
    assert not finder.looked.wait(1.0)
    server.send_signal(signal.SIGSTOP)
    assert finder.looked.wait(10)
    server.send_signal(signal.SIGCONT)
    wait_for(lambda: _rests(finder))


def _rests(finder: Finder) -> bool:
    finder.looked.clear()
    return not finder.looked.wait(0.5)


def test_it_is_looked_at_until_celery_consumes_again(watch: BrokerWatch, finder: Finder) -> None:
    connection, watch.consumer.connection = watch.consumer.connection, None
    assert finder.looked.wait(10)
    watch.consumer.connection = connection
    wait_for(lambda: _rests(finder))


def test_a_worker_that_starts_without_a_broker_looks_into_the_database(
    settings: Any, finder: Finder
) -> None:
    settings.REDIS_URL = f"redis://127.0.0.1:{free_port()}/0"
    watch = BrokerWatch()
    watch.start()
    assert finder.looked.wait(10)
    watch.end()
