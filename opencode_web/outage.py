"""What callers are told while the database is away or too busy, for pages and the API alike."""

from __future__ import annotations

import logging

from opencode_web.lib.errors import Unavailable

logger = logging.getLogger(__name__)

RETRY_AFTER_S = 2


def database_outage(error: Exception) -> Unavailable:
    """Log a database that does not answer. Returns: what the caller is told."""
    # The driver's text names hosts and statements.
    logger.warning("database.unavailable %s", error)
    return Unavailable(
        "The database does not answer at the moment, or is too busy. Nothing is lost: try again in "
        "a few seconds, with the same message id if you sent a prompt."
    )
