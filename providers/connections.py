"""Changes of where a cloud account is, and what becomes of its keys then."""

from __future__ import annotations

from collections.abc import Mapping

from django.db import transaction
from django.utils.translation import gettext as _

from opencode_web.lib.errors import Conflict, Invalid
from opencode_web.lib.json import JsonObject
from providers.account_settings import kind_settings
from providers.actions import account_place as account_place
from providers.actions import (
    forget_bounds,
    forget_moved_keys,
    forget_test,
    fresh_row,
    lock_provider,
)
from providers.clouds import Cloud, checked_connection, resource_of
from providers.credentials import put_account
from providers.kinds import ProviderKind
from providers.models import ProviderConfig
from teams.audit import AuditAction, record
from teams.models import User


def row_cloud(row: ProviderConfig) -> Cloud | None:
    """Returns: what the account of a provider has beside a key; None for a plain key."""
    return kind_settings(row.provider_id, ProviderKind(row.kind))


@transaction.atomic
def update_connection(
    row: ProviderConfig,
    *,
    actor: User | None,
    connection: Mapping[str, str],
    seen: Mapping[str, str] | None = None,
    key: str = "",
    secrets: Mapping[str, str],
    ip: str | None = None,
) -> ProviderConfig:
    """Replace where a cloud account is, and its keys when others are given.

    Keys belong to the place that they were given for: once a setting that decides it gets another
    value all of them are removed, before others that come with it are stored. A setting that had
    none decides nothing, so to fill it in removes nothing.

    `seen` is what the page showed, if it was a page.

    Raises: Invalid for what cannot be right; Conflict when it is not as it was seen; NotFound.
    """
    locked = lock_provider(row)
    cloud = row_cloud(locked)
    if cloud is None:
        raise Invalid(_("This provider only needs an address and a key."))
    before = account_place(locked)
    after = checked_connection(cloud, connection, key=key, secrets=secrets)
    if seen is not None and cloud.kept(seen) != before:
        raise Conflict(
            _("The connection settings of %(name)s have changed. Check them, then save again.")
            % {"name": locked.name}
        )
    if resource_of(locked.base_url) not in ("", after.get("resourceName", "")):
        locked.base_url = ""
    locked.connection = after
    locked.save(update_fields=["connection", "base_url"])
    removed = forget_moved_keys(locked, before=before)
    given = put_account(locked, key=key, secrets=secrets, actor=actor)
    changed = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    if changed:
        forget_test(locked)
        forget_bounds(locked)
    data: JsonObject = {
        "provider": row.provider_id,
        "connection": [*sorted(changed)],
        "key_removed": removed,
    }
    if given:
        data["key"] = "set"
        data["names"] = [*sorted(name for name in secrets if secrets[name])]
    record(AuditAction.PROVIDER_UPDATED, actor=actor, team=row.team, target=row, data=data, ip=ip)
    return fresh_row(row)
