"""One line for an outage, then one with a count for each interval that it lasts.

A database, Redis or disk that is away fails everything at once, hundreds of times a second and from
other packages as well; a traceback each would fill the disk and hide all else. What failed is told
by the exception of a log record, so whoever logs one needs to know nothing of this.
"""

from __future__ import annotations

import copy
import logging
import os
import threading
import time
from dataclasses import dataclass, field

from django.db import InterfaceError, OperationalError

from opencode_web.lib.disk import causes_of, is_disk_full

EVERY_S = 30.0
# What SQLite says of our own faults, by an exception that else means that it is away.
_OURS = "no such"
# Not imported: the embedded server has no need of these packages.
_REDIS = {
    ("redis.exceptions", "ConnectionError"),
    ("redis.exceptions", "TimeoutError"),
    ("kombu.exceptions", "OperationalError"),
}
_UNAVAILABLE = 503


@dataclass
class _Outage:
    level: int
    began: float = field(default_factory=time.monotonic)
    failures: int = 1
    # Since the newest line.
    untold: int = 0


class OutageHandler(logging.StreamHandler):  # type: ignore[type-arg]  # generic in the stubs only
    """Writes to the console. Failures of a service that is away are counted."""

    def __init__(self) -> None:
        super().__init__()
        self._outages: dict[str, _Outage] = {}
        # A fork has no timers of its parent.
        os.register_at_fork(after_in_child=self._outages.clear)

    def emit(self, record: logging.LogRecord) -> None:
        """The handler's lock is held."""
        service = service_of(record)
        if service is None:
            super().emit(record)
        elif (outage := self._outages.get(service)) is not None:
            outage.failures += 1
            outage.untold += 1
            outage.level = max(outage.level, record.levelno)
        else:
            self._outages[service] = _Outage(record.levelno)
            super().emit(_in_one_line(record))
            self._tell_later(service)

    def _tell_later(self, service: str) -> None:
        timer = threading.Timer(EVERY_S, self._tell, args=(service,))
        timer.daemon = True
        timer.start()

    def _tell(self, service: str) -> None:
        self.acquire()
        try:
            outage = self._outages.get(service)
            if outage is None:
                return
            seconds = round(time.monotonic() - outage.began)
            if outage.untold:
                text = f"outage.lasts service={service} failures={outage.untold} seconds={seconds}"
                outage.untold = 0
                self._tell_later(service)
            else:
                text = f"outage.over service={service} failures={outage.failures} seconds={seconds}"
                del self._outages[service]
            made = logging.makeLogRecord(
                {"name": __name__, "levelno": outage.level, "msg": text}
                | {"levelname": logging.getLevelName(outage.level)}
            )
            super().emit(made)
        finally:
            self.release()


def service_of(record: logging.LogRecord) -> str | None:
    """Returns: what is away by the exception of a record, or by the answer to a request."""
    if record.name.startswith("celery.") and "Trying again" in record.getMessage():
        return "redis"
    if record.exc_info and (exc := record.exc_info[1]) is not None:
        if is_disk_full(exc):
            return "disk"
        # Celery's beat raises it for whatever has failed, without naming that as the cause.
        if type(exc).__name__ == "SchedulingError":
            exc = exc.__context__ or exc
        # What failed while an outage was handled is a fault of ours, so only causes count.
        return next((found for one in causes_of(exc) if (found := _service_behind(one))), None)
    if record.name == "django.request" and getattr(record, "status_code", 0) == _UNAVAILABLE:
        return "requests"
    return None


def _service_behind(exc: BaseException) -> str | None:
    if isinstance(exc, OperationalError | InterfaceError):
        return None if str(exc).startswith(_OURS) else "database"
    kinds = {(kind.__module__, kind.__name__) for kind in type(exc).__mro__}
    return "redis" if kinds & _REDIS else None


def _in_one_line(record: logging.LogRecord) -> logging.LogRecord:
    """Returns: a copy, for other handlers have their own; its traceback gives way to its text."""
    line = copy.copy(record)
    line.msg, line.args = record.getMessage().partition("\n")[0], ()
    if record.exc_info and (exc := record.exc_info[1]) is not None:
        said = str(exc).partition("\n")[0]
        line.msg += f" {type(exc).__name__}: {said}"
    line.exc_info = line.exc_text = None
    return line
