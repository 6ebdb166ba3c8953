"""The client library of Redis, loaded by servers that have Redis only.

It brings OpenTelemetry with it, and both together are 5 % of the start of a server without Redis.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType


def redis_library() -> ModuleType:
    """Load the package `redis`."""
    return importlib.import_module("redis")


def redis_errors(*others: type[Exception]) -> tuple[type[Exception], ...]:
    """Returns: for an `except`, `others` and the base of its errors while it is loaded."""
    library = sys.modules.get("redis")
    return (*others, library.RedisError) if library else others
