"""Have a worker load what calls of a model need as soon as somebody is there who may prompt.

It takes seconds of a core and over 100 MB, which a server that nobody uses keeps.
"""

from __future__ import annotations

import logging
from concurrent.futures import Executor

from celery import current_app
from django.http import HttpRequest
from kombu.exceptions import OperationalError

logger = logging.getLogger(__name__)

# The pages of the visit go first; a prompt does not wait for this.
DELAY_S = 1.0


class FirstVisit:
    """Notices the first request of a process by somebody who is signed in."""

    def __init__(self) -> None:
        self._was_seen = False

    def note(self, request: HttpRequest, executor: Executor) -> None:
        """Must be called when the request has been answered. Blocks nobody."""
        # What team_view and the API's authentication leave on a request that they let in.
        if not self._was_seen and (hasattr(request, "access") or hasattr(request, "auth")):
            self._was_seen = True
            executor.submit(_send)


def _send() -> None:
    try:
        current_app.send_task("providers.warm_up", countdown=DELAY_S, ignore_result=True)
    except OperationalError as exc:
        # The first prompt then waits for it.
        logger.warning("warm_up.not_sent", exc_info=exc)
