"""Take and give up the work of a worker, as the embedded server and `celery worker` do it."""

from __future__ import annotations

import logging
import threading
import time

from django.conf import settings
from django.db import connection

from providers.litellm_client import library
from providers.warm import is_wanted, warm
from sessions import clone, runner
from sessions.runner import lease

logger = logging.getLogger(__name__)

_CLONES_TIMEOUT_S = 2.0
_DRAINS_TIMEOUT_S = 5.0
# Importing litellm takes seconds of a core; who waits for the first pages goes first.
_WARM_DELAY_S = 3.0


def release_work() -> None:
    """Free what a dead process held. Only for a server that knows itself to be the only one."""
    lease.release_all()


def stop_work() -> None:
    """Cancel every clone and drain of this process: others, or the next start, go on with them."""
    try:
        clone.cancel_clones(_CLONES_TIMEOUT_S)
        runner.shutdown(_DRAINS_TIMEOUT_S)
    except TimeoutError:
        # Leases run out by themselves; whoever takes them settles what is left open.
        logger.warning("work.stop_timeout")


def warm_up() -> None:
    """Load what the first call of a real model needs, in the background, if a team has one.

    A server on which only the scripted demo is used keeps the memory and the time.
    """
    threading.Thread(target=_warm_up, name="warm-up", daemon=True).start()


def _warm_up() -> None:
    time.sleep(_WARM_DELAY_S)
    try:
        wanted = is_wanted()
    finally:
        connection.close()
    if not wanted:
        return
    if settings.EMBEDDED:
        # The rehearsal would take another 100 MB, and with it more than an idle server may have.
        library()
    else:
        warm()
