"""The processes of the installation, as they know themselves and each other."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterable
from datetime import timedelta

from django.db.models import QuerySet
from django.db.models.functions import Now

from providers.tally import Tally
from sessions.models import ServerProcess

# A process says that it lives every five seconds; whoever was silent for so long is gone.
LIVES_S = 15.0

_HOST = socket.gethostname()


def process_name() -> str:
    """The name of this process in its leases and its heartbeat, for people who look for it."""
    return f"{_HOST}:{os.getpid()}"  # asked anew: workers are forks of a process that has this


def living_processes() -> QuerySet[ServerProcess]:
    """Returns: those that have said lately that they live."""
    return ServerProcess.objects.filter(seen_at__gte=Now() - timedelta(seconds=LIVES_S))


def told_tallies() -> Iterable[Tally]:
    """Returns: what each of them has counted of its calls of models."""
    rows = living_processes().exclude(providers={})
    return rows.values_list("providers", flat=True)
