from __future__ import annotations

from urllib.parse import urlsplit

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from opencode_web.lib.addresses import RefusedAddress
from opencode_web.lib.crypto import encrypt
from opencode_web.lib.errors import Invalid
from opencode_web.lib.json import JsonObject
from opencode_web.lib.text import is_secret_text
from providers.addresses import check_base_url
from providers.credentials import MAX_KEY_CHARS, MIN_CHARS_FOR_LAST4
from sessions.config.web_search import KEYLESS
from sessions.models import TeamSearch
from teams.access import TeamAccess, require_role
from teams.audit import AuditAction, record
from teams.models import Role, Team
from tools.search.engine import NAMES, EngineKind


@transaction.atomic
def set_up_search(
    access: TeamAccess, *, kind: EngineKind, address: str = "", key: str = "", ip: str | None = None
) -> TeamSearch:
    """Choose the search engine of a team. Without `key` the one that is stored stays.

    Not so for another engine or another host: whoever may change the address could otherwise have
    the key sent to a server of their own and read it there.

    Raises: Invalid for an unusable address or key; Forbidden below admin.
    """
    require_role(access, Role.ADMIN)
    # The team's row, since there may be none of its own yet.
    Team.objects.select_for_update().get(pk=access.team.pk)
    row = TeamSearch.objects.filter(team=access.team).first()
    address, key = _checked_address(address), _checked_key(key)
    if kind is EngineKind.SEARXNG and not address:
        raise Invalid(_("SearXNG needs an address."), field="address")
    moved = row is None or row.kind != kind or _host(row.address) != _host(address)
    row = row or TeamSearch(team=access.team)
    if moved or kind is EngineKind.SEARXNG:
        row.secret = row.last4 = ""
    if key and kind is not EngineKind.SEARXNG:
        row.secret = encrypt(key)
        row.last4 = key[-4:] if len(key) >= MIN_CHARS_FOR_LAST4 else ""
    if not row.secret and kind not in KEYLESS:
        raise Invalid(_("{name} needs a key.").format(name=NAMES[kind]), field="key")
    row.kind, row.address = kind.value, address
    row.updated_by, row.updated_at = access.user, timezone.now()
    row.save()
    data: JsonObject = {"engine": row.kind, "address": address, "with_key": bool(row.secret)}
    record(
        AuditAction.SEARCH_SET_UP,
        actor=access.user,
        team=access.team,
        target=access.team,
        data=data,
        ip=ip,
    )
    return row


@transaction.atomic
def switch_search_off(access: TeamAccess, *, ip: str | None = None) -> None:
    """Erase the choice and its key. Raises: Forbidden below admin."""
    require_role(access, Role.ADMIN)
    if TeamSearch.objects.filter(team=access.team).delete()[0]:
        record(
            AuditAction.SEARCH_SWITCHED_OFF,
            actor=access.user,
            team=access.team,
            target=access.team,
            ip=ip,
        )


def _checked_address(address: str) -> str:
    if not address.strip():
        return ""
    try:
        return check_base_url(address)
    except RefusedAddress as exc:
        raise Invalid(str(exc), field="address") from exc


def _checked_key(key: str) -> str:
    key = key.strip()
    if not is_secret_text(key, max_chars=MAX_KEY_CHARS):
        raise Invalid(_("A key must be printable text without line breaks."), field="key")
    return key


def _host(address: str) -> tuple[str, str]:
    parts = urlsplit(address)
    return parts.scheme, parts.netloc
