"""The composition root: settings, URLs, ASGI, the Celery app.

It wires the apps and owns no models.
"""

from __future__ import annotations

from opencode_web.celery import app as celery_app

__all__ = ["celery_app"]
