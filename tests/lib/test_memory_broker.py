from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest
from kombu import Connection, Consumer, Producer, Queue

from opencode_web.lib.memory_broker import Transport

QUEUE = Queue("doorbell", routing_key="doorbell")


@pytest.fixture
def connection() -> Iterator[Connection]:
    with Connection("memory://", transport=Transport) as connection:
        yield connection


def test_a_consumer_that_waits_is_woken_by_a_message(connection: Connection) -> None:
    heard: list[object] = []

    def ring() -> None:
        time.sleep(0.1)
        with Connection("memory://", transport=Transport) as other:
            Producer(other.channel()).publish("ring", routing_key="doorbell", declare=[QUEUE])

    with Consumer(
        connection.channel(), [QUEUE], on_message=lambda message: heard.append(message.payload)
    ):
        thread = threading.Thread(target=ring)
        thread.start()
        connection.drain_events(timeout=20)
        thread.join()
    assert heard == ["ring"]


def test_a_wait_for_nothing_ends(connection: Connection) -> None:
    with Consumer(connection.channel(), [QUEUE]), pytest.raises(TimeoutError):
        connection.drain_events(timeout=0.05)
