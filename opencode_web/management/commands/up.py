from __future__ import annotations

import importlib
import os
import sys
from argparse import ArgumentParser
from typing import Any
from urllib.parse import quote

from django.conf import settings
from django.core.management.base import BaseCommand
from django.db import connections

from opencode_web.checks import TAG, require_sound_settings
from opencode_web.lib.importing import without_collections
from opencode_web.lib.signals import keep_ignored_signals
from opencode_web.preflight import (
    StartError,
    prepare_host,
    require_free_port,
)
from opencode_web.processes import Supervisor
from opencode_web.programs import preload_web, preload_workers, programs_of
from opencode_web.setup_key import ensure_setup_key
from opencode_web.upkeep import collect_static_if_changed, migrate_if_needed
from sessions.actions.recovery import release_dead_leases
from teams.models import User
from tools.sandbox.select import probe

_ANY_ADDRESS = {"0.0.0.0", "::", ""}  # noqa: S104 - compared with, not bound to


class Command(BaseCommand):
    help = (
        "Start the server in this process, or in child processes with REDIS_URL and "
        "--workers. Press Ctrl+C to stop it."
    )
    requires_system_checks = [TAG]

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default=settings.LISTEN_HOST, help="Address to listen on.")
        parser.add_argument(
            "--port", default=settings.LISTEN_PORT, type=int, help="Port to listen on."
        )
        parser.add_argument(
            "--workers", type=int, default=0, help="Number of worker processes. Needs REDIS_URL."
        )

    def check(self, *args: Any, **options: Any) -> None:
        """Tell errors in a sentence each; what are only warnings Django shows as ever."""
        require_sound_settings()
        super().check(*args, **options)

    def handle(self, *args: Any, host: str, port: int, workers: int, **options: Any) -> None:
        keep_ignored_signals()
        try:
            # Held until the process ends.
            self._lock = prepare_host()
            if workers and settings.EMBEDDED:
                raise StartError(
                    "--workers needs REDIS_URL and DATABASE_URL: see docker/env.example."
                )
            require_free_port(host, port)
            # Links name where it listens, unless there is a PUBLIC_URL.
            settings.LISTEN_HOST, settings.LISTEN_PORT = host, port
            migrate_if_needed()
            collect_static_if_changed()
            failure = self._serve(host, port, workers)
        except StartError as exc:
            failure = str(exc)
        if failure:
            self.stderr.write(failure)
            sys.exit(1)

    def _serve(self, host: str, port: int, workers: int) -> str:
        def announce() -> None:
            self._say(f"OpenCode Web {settings.VERSION} is running: {self._address(host, port)}")
            connections.close_all()
            report = probe()
            self._say("Sandbox: ready." if report.ok else f"Sandbox: {report.sentence}")
            self._say("Press Ctrl+C to stop the server.")

        def announce_and_preload() -> None:
            announce()
            preload_workers()

        # The command's own checks have run; celery would run all of Django's once more.
        os.environ.setdefault("CELERY_SKIP_CHECKS", "1")
        if settings.EMBEDDED:
            # Nobody may see or prompt a session that still counts as held by a dead process.
            release_dead_leases()
            # By name: the supervisor must not import daphne, see `preload_web`.
            with without_collections():
                embedded = importlib.import_module("opencode_web.embedded")
            return str(embedded.serve(host, port, ready=announce))
        connections.close_all()
        preload_web()
        supervisor = Supervisor(programs_of(host, port, workers=workers or 1), lock=self._lock)
        return supervisor.run(host, port, ready=announce_and_preload)

    def _address(self, host: str, port: int) -> str:
        name = "127.0.0.1" if host in _ANY_ADDRESS else f"[{host}]" if ":" in host else host
        base = settings.PUBLIC_URL or f"http://{name}:{port}{settings.BASE_PATH}"
        if User.objects.exists():
            return base
        return f"{base}/setup?key={quote(ensure_setup_key())}"

    def _say(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()
