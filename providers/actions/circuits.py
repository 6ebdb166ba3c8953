"""Write down that calls have failed, and that they go well again."""

from __future__ import annotations

import logging
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from providers.account_model import AccountModel
from providers.health import (
    FIRST_REST_S,
    PROBE_S,
    Fault,
    Part,
    blamed,
    is_hurried,
    is_sure,
    next_opening,
)
from providers.llm.errors import ProviderError
from providers.models import Credential, ProviderConfig
from teams.models import Team

logger = logging.getLogger(__name__)

_ROWS: dict[Part, type[ProviderConfig | Credential]] = {
    Part.ADDRESS: ProviderConfig,
    Part.KEY: Credential,
}


def claim_probe(fault: Fault) -> bool:
    """Let one call of all processes try a circuit whose rest is over. Returns: whether this one."""
    until = timezone.now() + timedelta(seconds=PROBE_S)
    rows = _ROWS[fault.part]._default_manager.filter(pk=fault.id, open_until=fault.open_until)
    return bool(rows.update(open_until=until))


@transaction.atomic
def note_failure(
    model: AccountModel, error: ProviderError, *, session_id: str, tried: bool
) -> Part | None:
    """Count a failure against what it speaks against.

    `tried`: the call was the one that a half-open circuit has let through.

    Returns: what that was.
    """
    part = blamed(error, others=model.others)
    if is_hurried(error, model.timeouts, usual_s=settings.PROVIDER_CHUNK_TIMEOUT_S):
        return None
    row_id = model.credential_id if part is Part.KEY else model.account_id
    if part is None or row_id is None:
        return None
    row = _ROWS[part]._default_manager.select_for_update().filter(pk=row_id).first()
    now = timezone.now()
    # What was under way when it opened says nothing new.
    if row is None or (not tried and row.open_until is not None and row.open_until > now):
        return part
    is_shared = model.is_of_instance and _has_several_teams(row)
    reporter = f"{model.team_id} {model.user_id or ''}".strip() if is_shared else session_id
    of_all = is_shared or (model.is_of_instance and part is Part.ADDRESS)
    if of_all and _is_repeated(row, error, reporter):
        if tried:
            row.open_until = now + timedelta(seconds=FIRST_REST_S)
            row.save(update_fields=["open_until"])
        return part
    needs_another = is_shared and _is_alone(row, error)
    row.failures += 1
    row.failure, row.failed_by = type(error).__name__, reporter
    opening = next_opening(part, row.failures, error, others=model.others, now=now)
    row.open_until = None if needs_another else opening
    row.save(update_fields=["failures", "failure", "failed_by", "open_until"])
    if row.open_until is not None:
        logger.warning(
            "circuit.opened %s=%s provider=%s failures=%d until=%s",
            part.value,
            row_id,
            model.ref.provider_id,
            row.failures,
            row.open_until.isoformat(timespec="seconds"),
        )
    return part


def _has_several_teams(row: ProviderConfig | Credential) -> bool:
    account = row if isinstance(row, ProviderConfig) else row.provider
    teams = Team.objects.all() if account.for_all_teams else account.shared_with.all()
    return teams[1:2].exists()


def _is_repeated(row: ProviderConfig | Credential, error: ProviderError, reporter: str) -> bool:
    """Whether the same team, person or session met the failure before: it may be theirs alone."""
    return not is_sure(error) and not set(reporter.split()).isdisjoint(row.failed_by.split())


def _is_alone(row: ProviderConfig | Credential, error: ProviderError) -> bool:
    """Whether nobody else has met a failure: then it closes nothing to the others yet."""
    return not is_sure(error) and not row.failures


@transaction.atomic
def note_success(model: AccountModel) -> None:
    """Close what has failed before, as a call has gone well, and keep when the first one did."""
    if model.is_unproven and model.account_id is not None:
        fresh = ProviderConfig.objects.filter(pk=model.account_id, answered_at=None)
        fresh.update(answered_at=timezone.now())
    for fault in model.faults:
        rows = _ROWS[fault.part]._default_manager.filter(pk=fault.id)
        if rows.update(failures=0, failure="", failed_by="", open_until=None):
            logger.info("circuit.closed %s=%s", fault.part.value, fault.id)
