"""The Celery tasks of this app: nothing but calls. A message may come twice or never."""

from __future__ import annotations

from datetime import datetime

from celery import shared_task

from teams.actions.attempts import prune_attempts
from teams.actions.audit import sign_heads
from teams.actions.break_glass import end_over
from teams.actions.budgets import note_budgets, settle_lost_calls
from teams.actions.emergency_mail import mail_owners
from teams.actions.idempotency import prune_keys
from teams.actions.resets import mail_reset
from teams.models import Role, Team


@shared_task(name="teams.prune_keys")
def prune() -> None:
    """Forget the answers of writes that nobody may send again any more, and old failed sign-ins."""
    prune_keys()
    prune_attempts()


@shared_task(name="teams.mail_reset")
def mail_password_reset(email: str) -> None:
    """Mail a link to reset a password to whoever has an account with the address."""
    mail_reset(email)


@shared_task(name="teams.mail_emergency")
def mail_emergency(team: str, operator: str, role: str, reason: str, until: str) -> None:
    """Mail the owners of a team that an operator got into it."""
    found = Team.objects.get(pk=team)
    at = datetime.fromisoformat(until)
    mail_owners(found, operator=operator, role=Role(role), reason=reason, until=at)


@shared_task(name="teams.end_emergencies")
def end_emergencies() -> None:
    """Remove the operators from teams whose time is over."""
    end_over()


@shared_task(name="teams.sign_audit")
def sign_audit() -> None:
    """Check the audit trail, and sign it once a day."""
    sign_heads()


@shared_task(name="teams.note_budgets")
def note() -> None:
    """Keep that budgets have come near to their ends."""
    note_budgets()


@shared_task(name="teams.settle_lost_calls")
def settle_lost() -> None:
    """Count the calls of models whose process has died, where no drain takes them over."""
    settle_lost_calls()
