from __future__ import annotations

from celery import shared_task

from opencode_web.lib.outbound import ssl_context


@shared_task(name="providers.warm_up")
def warm_up() -> None:
    """Read the certificates of the system, which the first call of a model would wait for."""
    ssl_context()
