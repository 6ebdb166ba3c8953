"""The Celery app. Apps never import it: tasks are `@shared_task` and are sent by name."""

from __future__ import annotations

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "opencode_web.settings")

app = Celery("opencode_web")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.conf.update(
    task_ignore_result=True,
    task_acks_late=True,
    worker_prefetch_multiplier=1,
    worker_hijack_root_logger=False,
    broker_connection_retry_on_startup=True,
    task_default_queue="sessions",
    beat_schedule={
        "wake-runnable-sessions": {"task": "sessions.wake_runnable", "schedule": 5.0},
    },
)
app.autodiscover_tasks(["sessions", "teams", "providers"])
