from __future__ import annotations

import errno
import io
import logging
import socket
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, ClassVar

import kombu.exceptions
import pytest
from celery import Celery
from celery.beat import Scheduler
from celery.schedules import schedule
from django.db import OperationalError
from redis.exceptions import ConnectionError as RedisDown

from opencode_web.lib import outage_log
from opencode_web.lib.outage_log import OutageHandler
from opencode_web.lib.redis_layer import RedisLayer

logger = logging.getLogger("tests.outage")


class Interval:
    """A timer that runs out when the test says so."""

    running: ClassVar[list[Interval]] = []

    def __init__(self, interval_s: float, function: Callable[[str], None], args: Any) -> None:
        assert interval_s == outage_log.EVERY_S
        self.daemon = False
        self._end = partial(function, *args)

    def start(self) -> None:
        assert self.daemon
        self.running.append(self)

    @classmethod
    def end(cls) -> None:
        cls.running.pop()._end()


class Beat(Scheduler):
    """Finds its broker away."""

    def send_task(self, *_: Any, **__: Any) -> None:
        raise kombu.exceptions.OperationalError("away")


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], list[str]]]:
    """What the console of a server says."""
    Interval.running.clear()
    monkeypatch.setattr(outage_log.threading, "Timer", Interval)
    handler, stream = OutageHandler(), io.StringIO()
    handler.setStream(stream)
    handler.setFormatter(logging.Formatter("%(levelname)s %(message)s"))
    logger.addHandler(handler)
    monkeypatch.setattr(logger, "propagate", False)
    yield lambda: stream.getvalue().splitlines()
    logger.removeHandler(handler)


def fail(error: Exception, *, of: str = "bus.publish_failed") -> None:
    try:
        raise error
    except type(error) as exc:
        logger.warning("%s group=%s", of, "team.1", exc_info=exc)


@pytest.mark.parametrize(
    ("error", "service"),
    [
        (RedisDown("Error 111 connecting to redis"), "redis"),
        (kombu.exceptions.OperationalError("Error 111"), "redis"),
        (OperationalError("server closed the connection\n\tunexpectedly"), "database"),
        (OSError(errno.ENOSPC, "No space left on device"), "disk"),
        (OperationalError("database or disk is full"), "disk"),
    ],
)
def test_an_outage_is_one_line_and_then_a_count(
    lines: Callable[[], list[str]], error: Exception, service: str
) -> None:
    for number in range(50):
        fail(error, of="bus.publish_failed" if number % 2 else "drain.failed")
    (line,) = lines()
    assert line.startswith("WARNING drain.failed group=team.1")
    assert line.endswith(f"{type(error).__name__}: {str(error).splitlines()[0]}")
    Interval.end()
    assert lines()[1].startswith(f"WARNING outage.lasts service={service} failures=49 seconds=")
    Interval.end()
    assert lines()[2].startswith(f"WARNING outage.over service={service} failures=50 seconds=")
    assert Interval.running == []
    fail(error)
    assert lines()[3].startswith("WARNING bus.publish_failed")


def test_two_services_are_told_apart(lines: Callable[[], list[str]]) -> None:
    for _ in range(3):
        fail(RedisDown("away"))
        fail(OperationalError("away"))
    assert len(lines()) == 2


async def test_what_the_bus_raises_without_redis_counts_as_its_outage(
    lines: Callable[[], list[str]],
) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        layer = RedisLayer(hosts=[f"redis://127.0.0.1:{closed.getsockname()[1]}"])
        for _ in range(3):
            try:
                await layer.group_send("g", {"type": "bus"})
            except OSError:
                logger.warning("bus.publish_failed group=%s", "g", exc_info=True)
    assert len(lines()) == 1


def test_what_celerys_beat_cannot_send_is_counted(lines: Callable[[], list[str]]) -> None:
    logs, handler = logging.getLogger("celery.beat"), logger.handlers[0]
    beat = Beat(Celery(set_as_current=False), lazy=True)
    logs.addHandler(handler)
    for _ in range(3):
        beat.apply_entry(beat.Entry("wake", "sessions.wake", schedule=schedule(60), app=beat.app))
    logs.removeHandler(handler)
    assert len(lines()) == 1


@pytest.mark.parametrize(
    "error", [ValueError("ours"), OperationalError("no such table: x"), OSError(2, "No such file")]
)
def test_faults_of_ours_keep_their_tracebacks(
    lines: Callable[[], list[str]], error: Exception
) -> None:
    for _ in range(2):
        fail(error)
    assert len([line for line in lines() if line.startswith("Traceback")]) == 2


def test_a_fault_while_an_outage_is_handled_keeps_its_traceback(
    lines: Callable[[], list[str]],
) -> None:
    try:
        try:
            raise OperationalError("away")
        except OperationalError:
            raise KeyError("ours")  # noqa: B904 - as a fault of ours would
    except KeyError:
        logger.exception("drain.failed")
    assert "Traceback (most recent call last):" in lines()


def test_refused_requests_and_celerys_own_tries_are_counted(
    lines: Callable[[], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    handler = logger.handlers[0]
    for name, text, more in [
        ("django.request", "Service Unavailable: /session", {"status_code": 503}),
        ("celery.worker.consumer.consumer", "consumer: Cannot connect. Trying again in 2 s", {}),
    ] * 5:
        handler.handle(
            logging.makeLogRecord(
                {"name": name, "msg": text, "levelno": 40, "levelname": "ERROR", **more}
            )
        )
    assert lines() == [
        "ERROR Service Unavailable: /session",
        "ERROR consumer: Cannot connect. Trying again in 2 s",
    ]
