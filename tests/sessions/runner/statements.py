"""Every SQL statement that asynchronous code has made through the bridge, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection

from opencode_web.lib import db


@contextmanager
def recorded_statements() -> Iterator[list[str]]:
    """Each thread of the pool has a connection of its own, so all of them are watched."""
    statements: list[str] = []

    def note(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if not sql.startswith("BEGIN"):  # PostgreSQL's driver sends its own
            statements.append(sql)
        return execute(sql, params, many, context)

    real = db._call

    def call(fn: Callable[[], Any]) -> Any:
        with connection.execute_wrapper(note):
            return real(fn)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(db, "_call", call)
        yield statements
