"""Take and give up the work of a worker, as the embedded server and `celery worker` do it."""

from __future__ import annotations

import logging

from django.conf import settings

from sessions import clone, runner
from sessions.runner import lease

logger = logging.getLogger(__name__)

_CLONES_TIMEOUT_S = 2.0
_DRAINS_TIMEOUT_S = 3.0


def release_work() -> None:
    """Free what a dead process held. Only for a server that knows itself to be the only one."""
    lease.release_all()


def stop_work() -> None:
    """Hand every clone and drain of this process over to others, or to the next start."""
    try:
        clone.cancel_clones(_CLONES_TIMEOUT_S)
        runner.shutdown(grace_s=settings.STOP_GRACE_S, timeout_s=_DRAINS_TIMEOUT_S)
    except TimeoutError:
        # Leases run out by themselves; whoever takes them settles what is left open.
        logger.warning("work.stop_timeout")
