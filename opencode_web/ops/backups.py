"""The backups of each host, and which host needs a newer one."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.http import HttpResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from opencode_web.ops.access import operator_view
from sessions.jobs.sweep import hosts_with_files
from sessions.models import Backup
from teams.http import UserRequest, show

SHOWN = 30


@dataclass(frozen=True)
class HostBackup:
    """The newest backup of a host that has files. `is_old`: it is older than is allowed."""

    host: str
    newest: Backup | None
    is_old: bool


@dataclass(frozen=True)
class Backups:
    """Units: hours; 0 where no age is too old."""

    hosts: list[HostBackup]
    rows: list[Backup]
    max_age_h: int


def load_backups() -> Backups:
    """Two queries."""
    rows = list(Backup.objects.order_by("-taken_at"))
    max_age_h = settings.BACKUP_MAX_AGE_H
    oldest = timezone.now() - timedelta(hours=max_age_h)
    hosts = []
    for host in hosts_with_files():
        newest = next((row for row in rows if row.host == host and not row.problem), None)
        is_old = bool(max_age_h) and (newest is None or newest.taken_at < oldest)
        hosts.append(HostBackup(host, newest, is_old))
    return Backups(hosts, rows[:SHOWN], max_age_h)


@require_GET
@never_cache
@operator_view
def backups(request: UserRequest) -> HttpResponse:
    """Show what was backed up, and warn where that is old."""
    return show(request, "ops/backups.html", "ops/_backups.html", {"backups": load_backups()})
