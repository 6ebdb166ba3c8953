"""The Celery app. Apps never import it: tasks are `@shared_task` and are sent by name."""

from __future__ import annotations

import importlib
import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from celery import Celery
from celery.signals import (
    beat_init,
    before_task_publish,
    task_postrun,
    task_prerun,
    worker_init,
    worker_ready,
    worker_shutting_down,
)
from django.conf import settings
from kombu.transport import TRANSPORT_ALIASES

from opencode_web.checks import require_sound_settings
from opencode_web.lib.origin import Origin, current_origin, set_origin
from opencode_web.lib.signals import keep_ignored_signals

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "opencode_web.settings")


def _beat(task: str, every_s: float, *, expires_s: float | None = None) -> dict[str, Any]:
    """Returns: an entry of the beat. A message that nobody took by `expires_s` is dropped."""
    entry: dict[str, Any] = {"task": task, "schedule": every_s}
    return entry if expires_s is None else {**entry, "options": {"expires": expires_s}}


TRANSPORT_ALIASES["memory"] = "opencode_web.lib.memory_broker:Transport"
app = Celery("opencode_web")
# It has put the current folder in front, which can be a repository that has a `sessions.py`, too.
sys.path.remove(str(Path.cwd()))
if (_root := str(Path(__file__).resolve().parent.parent)) not in sys.path:
    sys.path.insert(0, _root)
app.config_from_object("django.conf:settings", namespace="CELERY")
app.conf.update(
    task_ignore_result=True,
    # The queue is a doorbell: a message that is lost with its worker is rung again by the beat.
    # Unacknowledged ones would be put back when the broker goes away, and kombu ends the worker
    # over that (AttributeError in Channel.close, kombu 5.6).
    task_acks_late=False,
    broker_connection_max_retries=None,
    worker_prefetch_multiplier=1,
    worker_hijack_root_logger=False,
    broker_connection_retry_on_startup=True,
    beat_schedule={
        "wake-runnable-sessions": _beat("sessions.wake_runnable", 3.0),
        "prepare-forgotten-projects": _beat("sessions.wake_preparing", 30.0),
        "do-forgotten-jobs-of-worktrees": _beat("sessions.wake_checkouts", 15.0),
        "settle-terminals": _beat("sessions.settle_terminals", 5.0),
        "prune-snapshots": _beat("sessions.prune_hosts", 6 * 3600.0),
        "run-schedules": _beat("sessions.run_schedules", 10.0, expires_s=30.0),
        "deliver-webhooks": _beat("sessions.deliver_webhooks", 3.0, expires_s=30.0),
        "send-notifications": _beat("sessions.send_notifications", 3.0, expires_s=30.0),
        "hear-forges": _beat("sessions.hear_forges", 3.0, expires_s=30.0),
        "answer-forges": _beat("sessions.answer_forges", 3.0, expires_s=30.0),
        "serve-slack": _beat("sessions.serve_slack", 5.0, expires_s=30.0),
        "stream-audit": _beat("sessions.stream_audit", 3.0, expires_s=30.0),
        "prune-webhook-deliveries": _beat("sessions.prune_webhook_deliveries", 6 * 3600.0),
        "revoke-mcp-grants": _beat("sessions.revoke_mcp_grants", 60.0, expires_s=60.0),
        "prune-drafts": _beat("sessions.prune_drafts", 6 * 3600.0),
        "prune-idempotency-keys": _beat("teams.prune_keys", 3600.0),
        "end-emergencies": _beat("teams.end_emergencies", 15.0, expires_s=15.0),
        "sign-audit": _beat("teams.sign_audit", 600.0, expires_s=600.0),
        "note-budgets": _beat("teams.note_budgets", 60.0, expires_s=60.0),
        "settle-lost-calls": _beat("teams.settle_lost_calls", 60.0, expires_s=60.0),
        "refresh-catalog": _beat("providers.refresh_catalog", 3600.0, expires_s=600.0),
        "refresh-lists-of-models": _beat("providers.refresh_listings", 600.0, expires_s=600.0),
        "sample-server": _beat("sessions.sample_server", 60.0, expires_s=60.0),
        "expire-change-requests": _beat("sessions.expire_changes", 300.0, expires_s=300.0),
        "apply-retention": _beat("sessions.apply_retention", 600.0, expires_s=600.0),
        "go-on-with-erasures": _beat("sessions.wake_erasures", 30.0, expires_s=30.0),
        "go-on-with-exports": _beat("opencode_web.go_on_with_exports", 30.0, expires_s=30.0),
        "sweep-files": _beat("sessions.sweep_hosts", 3600.0),
    },
)
app.autodiscover_tasks(["sessions", "teams", "providers", "opencode_web.transfer"])


# Of a message: where the request came from that sent it. Celery has a header `origin` of its own.
_REQUESTED_FROM = "requested_from"


@before_task_publish.connect
def _send_origin(headers: dict[str, Any] | None = None, **_: object) -> None:
    if headers is not None and (origin := current_origin()) is not None:
        headers[_REQUESTED_FROM] = asdict(origin)


@task_prerun.connect
def _take_origin(task: Any, **_: object) -> None:  # Celery ships no types
    sent = getattr(task.request, _REQUESTED_FROM, None)
    set_origin(Origin(**sent) if sent else None)


@task_postrun.connect
def _drop_origin(**_: object) -> None:
    set_origin(None)


@worker_init.connect
@beat_init.connect
def _refuse_unsafe_settings(**_: object) -> None:
    require_sound_settings()


# By name: this module is imported before the apps can be.
@worker_init.connect
def _keep_signals(**_: object) -> None:
    keep_ignored_signals()


@worker_init.connect
def _observe(**_: object) -> None:
    importlib.import_module("opencode_web.observation").observe("worker")
    # The embedded server's own worker says this, too, and its broker is in memory.
    if settings.REDIS_URL:
        # The broker may be away already.
        importlib.import_module("opencode_web.broker_watch").broker_watch().start()


@worker_ready.connect
def _begin(sender: object, **_: object) -> None:
    importlib.import_module("opencode_web.broker_watch").broker_watch().consumer = sender
    importlib.import_module("opencode_web.work").begin_work("worker")


@worker_shutting_down.connect
def _hand_over(**_: object) -> None:
    importlib.import_module("opencode_web.broker_watch").broker_watch().end()
    importlib.import_module("opencode_web.work").stop_work()
