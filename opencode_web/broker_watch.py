"""What a worker does while its broker is away: it looks for runnable sessions in the database.

The queue is a doorbell. When nobody can ring, workers open the door every second; while the broker
answers, the database is not asked.
"""

from __future__ import annotations

import logging
import threading
import time
from functools import cache
from typing import Any

import redis
from django.conf import settings
from django.db import Error, connection
from redis.backoff import NoBackoff
from redis.retry import Retry

from opencode_web.work import run_runnable

logger = logging.getLogger(__name__)

# Between two looks at the broker, and at the database while it is away.
LOOK_S = 1.0
# How long the broker may be silent.
SILENT_S = 5.0


class BrokerWatch:
    """A thread of a worker process."""

    def __init__(self) -> None:
        # Celery's, once it consumes.
        self.consumer: Any = None
        self._client = redis.Redis.from_url(
            settings.REDIS_URL,
            socket_timeout=LOOK_S,
            socket_connect_timeout=LOOK_S,
            retry=Retry(NoBackoff(), 0),
        )
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._live, name="broker-watch", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def end(self) -> None:
        """Begin nothing more."""
        self._end.set()

    def _live(self) -> None:
        heard, is_away = time.monotonic(), False
        while not self._end.wait(LOOK_S):
            if self._is_heard():
                heard = time.monotonic()
            if (time.monotonic() - heard >= SILENT_S) != is_away:
                is_away = not is_away
                logger.warning("broker.%s", "away" if is_away else "back")
            if is_away:
                self._find_work()

    def _is_heard(self) -> bool:
        # After an outage Celery connects again with pauses of up to half a minute.
        if self.consumer is None or self.consumer.connection is None:
            return False
        try:
            return bool(self._client.ping())
        except redis.RedisError:
            return False

    def _find_work(self) -> None:
        try:
            run_runnable()
        except Error as exc:
            logger.warning("broker.find_failed", exc_info=exc)
        finally:
            connection.close()


@cache
def broker_watch() -> BrokerWatch:
    """Returns: the one of this worker process."""
    return BrokerWatch()
