"""Say how much a key may be used."""

from __future__ import annotations

from django.db import transaction
from django.utils.translation import gettext as _

from opencode_web.lib.errors import Invalid, NotFound
from opencode_web.lib.json import JsonObject
from providers.actions.rows import lock_provider
from providers.credentials import forget_prefetched
from providers.models import Credential, ProviderConfig
from teams.audit import AuditAction, record
from teams.models import User

_MAX = 2**31 - 1


@transaction.atomic
def limit_key(
    row: ProviderConfig,
    key_id: int,
    *,
    actor: User | None,
    max_calls: int | None = None,
    tokens_per_minute: int | None = None,
    ip: str | None = None,
) -> Credential:
    """Say how many calls a key may have at once, and tokens in a minute; None is no limit.

    Raises: Invalid for a limit that is none; NotFound.
    """
    for limit in (max_calls, tokens_per_minute):
        if limit is not None and not 0 < limit <= _MAX:
            raise Invalid(_("A limit must be a whole number above 0."))
    keys = lock_provider(row).credentials.select_for_update()
    credential = keys.filter(pk=key_id).first()
    if credential is None:
        raise NotFound("Key", str(key_id))
    credential.max_calls, credential.tokens_per_minute = max_calls, tokens_per_minute
    credential.save(update_fields=["max_calls", "tokens_per_minute"])
    forget_prefetched(row)
    data: JsonObject = {
        "provider": row.provider_id,
        "key": "limited",
        "last4": credential.last4,
        "max_calls": max_calls,
        "tokens_per_minute": tokens_per_minute,
    }
    record(AuditAction.PROVIDER_UPDATED, actor=actor, team=row.team, target=row, data=data, ip=ip)
    return credential
