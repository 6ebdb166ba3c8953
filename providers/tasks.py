from __future__ import annotations

from celery import shared_task

from opencode_web.lib.outbound import ssl_context
from providers.actions.sign_ins import prune_attempts
from providers.catalog_refresh import is_due, refresh_from_address
from providers.listings import refresh_stale_listings


@shared_task(name="providers.warm_up")
def warm_up() -> None:
    """Read the certificates of the system, which the first call of a model would wait for."""
    ssl_context()


@shared_task(name="providers.refresh_catalog")
def refresh_catalog() -> None:
    """Look for a newer catalog of models, where this host may and once it is time."""
    if is_due():
        refresh_from_address()


@shared_task(name="providers.refresh_listings")
def refresh_listings() -> None:
    """Forget sign-ins that have ended, and ask again for lists of models that are old."""
    prune_attempts()
    refresh_stale_listings()
