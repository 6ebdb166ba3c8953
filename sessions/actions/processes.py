"""What processes say of themselves, and what operators ask of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models.functions import Now

from opencode_web.lib.build import build_id
from sessions.models import ServerProcess
from sessions.processes import process_name

# A process that was not seen for so long has gone without a word.
FORGOTTEN_AFTER_S = 3600


@dataclass(frozen=True)
class Vitals:
    """What a process is like now.

    `growing`: sessions whose text grows in it; `providers`: how its calls of models have ended;
    `plugins`: what the packages beside the server do in it.
    """

    memory_bytes: int | None
    sockets: int = 0
    growing: tuple[str, ...] = ()
    providers: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    plugins: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


@transaction.atomic
def register_process(kind: ServerProcess.Kind, vitals: Vitals) -> None:
    """Say that this process has begun. It knows nothing of what was asked of an earlier one."""
    gone = Now() - timedelta(seconds=FORGOTTEN_AFTER_S)
    ServerProcess.objects.filter(seen_at__lt=gone).delete()
    ServerProcess.objects.filter(pk=process_name()).delete()
    ServerProcess.objects.create(
        name=process_name(),
        kind=kind,
        host=settings.HOST_NAME,
        version=settings.VERSION,
        build=build_id(),
        started_at=Now(),
        seen_at=Now(),
        memory_bytes=vitals.memory_bytes,
        sockets=vitals.sockets,
        growing=list(vitals.growing),
        providers=vitals.providers,
        plugins=vitals.plugins,
    )


def note_heartbeat(vitals: Vitals, *, drains: bool) -> bool | None:
    """Say that this process lives. `drains`: it has heard that it shall take up no session.

    Returns: whether it shall drain; None when nobody knows it any more, so that it has to register.
    """
    mine = ServerProcess.objects.filter(pk=process_name())
    if not mine.update(
        seen_at=Now(),
        memory_bytes=vitals.memory_bytes,
        sockets=vitals.sockets,
        growing=list(vitals.growing),
        providers=vitals.providers,
        plugins=vitals.plugins,
        drain_heard=drains,
    ):
        return None
    return mine.exclude(drain_since=None).exists()


def forget_process() -> None:
    """Say that this process ends."""
    ServerProcess.objects.filter(pk=process_name()).delete()
