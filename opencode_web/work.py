"""Take and give up the work of a worker, as both the embedded server and `celery worker` do it."""

from __future__ import annotations

from sessions.clone import cancel_clones
from sessions.runner import shutdown
from sessions.runner.lease import release_all


def release_work() -> None:
    """Free what a dead process held. Only for a server that knows itself to be the only one."""
    release_all()


def stop_work() -> None:
    """Cancel every drain and clone of this process: others, or the next start, go on with them."""
    cancel_clones()
    shutdown()
