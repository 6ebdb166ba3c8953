"""The Celery app. Apps never import it: tasks are `@shared_task` and are sent by name."""

from __future__ import annotations

import importlib
import os
from dataclasses import asdict
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

TRANSPORT_ALIASES["memory"] = "opencode_web.lib.memory_broker:Transport"
app = Celery("opencode_web")
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
        "wake-runnable-sessions": {"task": "sessions.wake_runnable", "schedule": 3.0},
        "prepare-forgotten-projects": {"task": "sessions.wake_preparing", "schedule": 30.0},
        "do-forgotten-jobs-of-worktrees": {"task": "sessions.wake_checkouts", "schedule": 15.0},
        "settle-terminals": {"task": "sessions.settle_terminals", "schedule": 5.0},
        "prune-snapshots": {"task": "sessions.prune_hosts", "schedule": 6 * 3600.0},
        "run-schedules": {
            "task": "sessions.run_schedules",
            "schedule": 10.0,
            "options": {"expires": 30.0},
        },
        "deliver-webhooks": {
            "task": "sessions.deliver_webhooks",
            "schedule": 3.0,
            "options": {"expires": 30.0},
        },
        "stream-audit": {
            "task": "sessions.stream_audit",
            "schedule": 3.0,
            "options": {"expires": 30.0},
        },
        "prune-webhook-deliveries": {
            "task": "sessions.prune_webhook_deliveries",
            "schedule": 6 * 3600.0,
        },
        "prune-drafts": {"task": "sessions.prune_drafts", "schedule": 6 * 3600.0},
        "prune-idempotency-keys": {"task": "teams.prune_keys", "schedule": 3600.0},
        "end-emergencies": {
            "task": "teams.end_emergencies",
            "schedule": 15.0,
            "options": {"expires": 15.0},
        },
        "sign-audit": {
            "task": "teams.sign_audit",
            "schedule": 600.0,
            "options": {"expires": 600.0},
        },
        "note-budgets": {
            "task": "teams.note_budgets",
            "schedule": 60.0,
            "options": {"expires": 60.0},
        },
        "settle-lost-calls": {
            "task": "teams.settle_lost_calls",
            "schedule": 60.0,
            "options": {"expires": 60.0},
        },
        "refresh-catalog": {
            "task": "providers.refresh_catalog",
            "schedule": 3600.0,
            "options": {"expires": 600.0},
        },
        "refresh-lists-of-models": {
            "task": "providers.refresh_listings",
            "schedule": 600.0,
            "options": {"expires": 600.0},
        },
        "sweep-files": {"task": "sessions.sweep_hosts", "schedule": 3600.0},
    },
)
app.autodiscover_tasks(["sessions", "teams", "providers"])


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
