"""What callers are told while the database is away or the disk full, for pages and the API."""

from __future__ import annotations

import logging

from django.db import InterfaceError, OperationalError

from opencode_web.lib.disk import DISK_FULL, is_disk_full
from opencode_web.lib.errors import Unavailable

logger = logging.getLogger(__name__)

RETRY_AFTER_S = 2


_DATABASE = (
    "The database does not answer at the moment, or is too busy. Nothing is lost: try again in "
    "a few seconds, with the same message id if you sent a prompt."
)


def find_outage(error: Exception) -> Unavailable | None:
    """Log a database that does not answer or a disk that is full.

    Returns: what the caller is told; None where the error says nothing of the kind.
    """
    if is_disk_full(error):
        message = DISK_FULL.worded()
    elif isinstance(error, OperationalError | InterfaceError):
        message = _DATABASE
    else:
        return None
    # The driver's text, which names hosts and statements, is for the log only.
    logger.warning("request.outage", exc_info=error)
    return Unavailable(message)
