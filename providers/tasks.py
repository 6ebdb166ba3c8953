from __future__ import annotations

from celery import shared_task
from django.conf import settings

from providers.litellm_client import library
from providers.warm import kinds_in_use, warm


@shared_task(name="providers.warm_up")
def warm_up() -> None:
    """Load what the first call of a real model needs, if a team has one."""
    kinds = kinds_in_use()
    if not kinds:
        return
    # litellm serves all kinds; the rehearsal takes memory that the embedded server should not.
    library()
    if not settings.EMBEDDED:
        warm(kinds)
