"""Have the database forget on disk, too, what was deleted from it."""

from __future__ import annotations

import logging
import time
from pathlib import Path

from django.db import connection

from opencode_web.lib.removals import SCRATCH_PREFIX

logger = logging.getLogger(__name__)

_TRIES = 20
_WAIT_S = 0.5


def scrub_database() -> None:
    """Rewrite SQLite's file without its free pages and the index's old segments; have PostgreSQL
    free the space of deleted rows. Must be called outside of a transaction.

    What PostgreSQL keeps in its pages and its WAL until it writes over them is out of our reach:
    `VACUUM FULL` rewrites the pages. Backups are not changed.
    """
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("VACUUM")
            return
        _remove_copies(Path(connection.settings_dict["NAME"]))
        cursor.execute(
            "INSERT INTO agent_sessions_part_text (agent_sessions_part_text) VALUES ('optimize')"
        )
        cursor.execute("VACUUM")
        for _ in range(_TRIES):
            # Readers hold the log back for moments.
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            if not cursor.fetchone()[0]:
                return
            time.sleep(_WAIT_S)
    logger.warning("erasure.wal_kept")


def _remove_copies(database: Path) -> None:
    """Those of backups that were killed: while one is made, nothing is erased."""
    for left in database.parent.glob(f"{SCRATCH_PREFIX}{database.name}*"):
        left.unlink(missing_ok=True)
