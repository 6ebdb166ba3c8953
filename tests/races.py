from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from time import monotonic

from django.db import connection, connections, transaction

PATIENCE_S = 20


def race(first: Callable[[], object], second: Callable[[], object]) -> list[BaseException | None]:
    """Run `second` while the transaction of `first` is open. Returns: what each has raised.

    On PostgreSQL the first commits once the other one waits for a lock, or is through. SQLite lets
    in one writer: there the second waits for the commit, whatever it does.
    """
    began, ended = threading.Event(), threading.Event()

    def lead() -> None:
        with transaction.atomic():
            first()
            began.set()
            if connection.vendor == "postgresql":
                _await_waiter(ended)

    def follow() -> None:
        began.wait(PATIENCE_S)
        try:
            second()
        finally:
            ended.set()

    with ThreadPoolExecutor(2) as pool:
        runs = [pool.submit(_closing, one) for one in (lead, follow)]
        return [run.exception() for run in runs]


def _await_waiter(ended: threading.Event) -> None:
    until = monotonic() + PATIENCE_S
    while not ended.wait(0.01) and monotonic() < until:
        with connection.cursor() as cursor:
            # A transaction sees the activity as it first looked at it, until it forgets that.
            cursor.execute("SELECT pg_stat_clear_snapshot()")
            cursor.execute(
                "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' "
                "AND datname = current_database()"
            )
            if cursor.fetchone():
                return


def _closing(run: Callable[[], None]) -> None:
    try:
        run()
    finally:
        connections.close_all()
