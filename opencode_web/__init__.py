"""The composition root: settings, URLs, ASGI, the Celery app.

It wires the apps and owns no models.
"""

from __future__ import annotations

import sys

from opencode_web.celery import app as celery_app

__all__ = ["celery_app"]

# httpx imports its command line wherever click and rich are installed, and nothing here runs it.
sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]  # None: as if it were missing
