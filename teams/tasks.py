"""The Celery tasks of this app: nothing but calls. A message may come twice or never."""

from __future__ import annotations

from celery import shared_task

from teams.actions.budget_notices import note_budgets
from teams.actions.idempotency import prune_keys


@shared_task(name="teams.prune_keys")
def prune() -> None:
    """Forget the answers of writes that nobody may send again any more."""
    prune_keys()


@shared_task(name="teams.note_budgets")
def note() -> None:
    """Keep that budgets have come near to their ends."""
    note_budgets()
