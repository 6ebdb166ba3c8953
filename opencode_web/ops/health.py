"""Whether what the server stands on works: database, Redis, disks, providers, and the doctor."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from django.conf import settings
from django.db import connection
from django.utils import timezone
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from opencode_web.diagnosis import Finding, diagnose
from opencode_web.lib.redis_library import redis_errors, redis_library
from providers.condition import resting_accounts
from providers.tally import Hour, add_up
from sessions.present.plugins import InstalledPlugin, OpsPlugin, installed_rows, known_plugins
from sessions.processes import told_tallies

# Below this share of free space a disk is nearly full.
LOW_DISK = 0.1
# Above this share of failed calls a provider is in trouble.
BAD_RATE = 0.2
# A round trip that takes longer is slow.
SLOW_MS = 100
_REDIS_S = 2.0


@dataclass(frozen=True)
class Service:
    """Something that answers, or not. `problem` is empty when it does. Units: milliseconds."""

    name: str
    detail: str
    took_ms: float
    problem: str = ""
    size_bytes: int | None = None

    @property
    def is_slow(self) -> bool:
        return self.took_ms > SLOW_MS


@dataclass(frozen=True)
class Disk:
    """Where files lie, on the host of the process that answers."""

    name: str
    folder: str
    free_bytes: int
    total_bytes: int

    @property
    def is_low(self) -> bool:
        return self.free_bytes < LOW_DISK * self.total_bytes


@dataclass(frozen=True)
class Provider:
    """How the calls of a provider have ended within an hour.

    `resting`: accounts that are not called now, because their last calls have failed.
    """

    name: str
    hour: Hour
    resting: int = 0

    @property
    def percent(self) -> int:
        return round(100 * self.hour.failed / self.hour.calls) if self.hour.calls else 0

    @property
    def is_bad(self) -> bool:
        return self.hour.failed > BAD_RATE * self.hour.calls


@dataclass(frozen=True)
class Health:
    """What can be asked quickly."""

    services: list[Service]
    disks: list[Disk]
    providers: list[Provider]
    plugins: list[OpsPlugin]
    installed: list[InstalledPlugin]


def load_health() -> Health:
    """Six queries."""
    services = [_database()]
    if not settings.EMBEDDED:
        services.append(_redis())
    folders = {_("Data"): settings.DATA_DIR, _("Worktrees"): settings.WORKTREES_DIR}
    disks = [_disk(name, folder) for name, folder in folders.items() if folder.exists()]
    return Health(services, disks, _providers(), known_plugins(), installed_rows())


def _database() -> Service:
    # Whoever comes here has asked it already: that it answers is no question.
    began = time.monotonic()
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    took_ms = _since(began)
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SELECT pg_database_size(current_database())")
        else:
            cursor.execute(
                "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"
            )
        (size_bytes,) = cursor.fetchone()
    name = "PostgreSQL" if connection.vendor == "postgresql" else "SQLite"
    return Service(_("Database"), name, took_ms, size_bytes=size_bytes)


def _redis() -> Service:
    began = time.monotonic()
    client = redis_library().Redis.from_url(
        settings.REDIS_URL, socket_timeout=_REDIS_S, socket_connect_timeout=_REDIS_S
    )
    problem = ""
    try:
        client.ping()
    except redis_errors() as exc:
        # Its text may quote the address, and that a password.
        problem = type(exc).__name__
    finally:
        client.close()
    return Service("Redis", _("live updates and doorbells"), _since(began), problem)


def _disk(name: str, folder: Path) -> Disk:
    usage = shutil.disk_usage(folder)
    return Disk(name, str(folder), usage.free, usage.total)


def _providers() -> list[Provider]:
    hours, resting = add_up(told_tallies()), resting_accounts()
    names = sorted(hours.keys() | resting.keys())
    return [Provider(name, hours.get(name, Hour()), resting.get(name, 0)) for name in names]


def _since(began: float) -> float:
    return (time.monotonic() - began) * 1000


@dataclass(frozen=True)
class Diagnosis:
    """What the doctor has found, and when."""

    at: datetime
    findings: list[Finding]

    @property
    def age_s(self) -> float:
        return (timezone.now() - self.at).total_seconds()


class Examination:
    """The doctor's findings, kept for a while: some take seconds, and many may ask at once."""

    def __init__(self, examine: Callable[[], list[Finding]] = diagnose) -> None:
        self._examine = examine
        self._lock = threading.Lock()
        # By the language that they are worded in.
        self._latest: dict[str, Diagnosis] = {}

    def findings(self, *, at_most_s: float) -> Diagnosis:
        """Returns: findings that are not older; who comes meanwhile waits for the same ones."""
        with self._lock:
            language = get_language() or ""
            latest = self._latest.get(language)
            if latest is None or latest.age_s > at_most_s:
                found = [_quiet(finding) for finding in self._examine()]
                latest = self._latest[language] = Diagnosis(timezone.now(), found)
            return latest


def _quiet(finding: Finding) -> Finding:
    """What is wrong with rules may quote them, and they are a team's."""
    if finding.name != "rules" or finding.ok:
        return finding
    detail = _("Some rules are invalid. Run `manage.py doctor` to list them.")
    return Finding(finding.name, finding.ok, finding.required, detail)


examination = Examination()
