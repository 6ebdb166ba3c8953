"""Write down that calls have failed, and that they go well again."""

from __future__ import annotations

import logging
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from providers.account_model import AccountModel
from providers.health import PROBE_S, Fault, Part, blamed, next_opening
from providers.llm.errors import ProviderError
from providers.models import Circuit, Credential, ProviderConfig

logger = logging.getLogger(__name__)

_ROWS: dict[Part, type[Circuit]] = {Part.ADDRESS: ProviderConfig, Part.KEY: Credential}


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
    row_id = model.credential_id if part is Part.KEY else model.account_id
    if part is None or row_id is None:
        return None
    row = _ROWS[part]._default_manager.select_for_update().filter(pk=row_id).first()
    now = timezone.now()
    # What was under way when it opened says nothing new.
    if row is None or (not tried and row.open_until is not None and row.open_until > now):
        return part
    # One team's bad request must not close an address to all teams.
    is_common = isinstance(row, ProviderConfig) and not (row.team_id or row.owner_id)
    if is_common and not tried and session_id and row.failed_by == session_id:
        return part
    row.failures += 1
    row.failure, row.failed_by = type(error).__name__, session_id
    row.open_until = next_opening(part, row.failures, error, others=model.others, now=now)
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


@transaction.atomic
def note_success(model: AccountModel) -> None:
    """Close what has failed before, as a call has gone well."""
    for fault in model.faults:
        rows = _ROWS[fault.part]._default_manager.filter(pk=fault.id)
        if rows.update(failures=0, failure="", failed_by="", open_until=None):
            logger.info("circuit.closed %s=%s", fault.part.value, fault.id)
