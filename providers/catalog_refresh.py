"""A newer catalog, from models.dev or a file, checked before it replaces the one in use."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from dataclasses import dataclass

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from opencode_web.lib.json import JsonObject
from opencode_web.lib.outbound import FetchError, open_page
from providers.actions import bind_addresses
from providers.catalog_changes import (
    Changes,
    RefusedCatalog,
    check_catalog,
    compare,
    keep_addresses,
    moved_places,
)
from providers.catalog_file import (
    MAX_BYTES,
    Api,
    parse_api,
    read_all,
    read_head,
    refreshed_path,
    write_catalog,
)
from teams.audit import AuditAction, record
from teams.models import AuditEntry

logger = logging.getLogger(__name__)

TIMEOUT_S = 60.0
_USER_AGENT = "opencode-web"
CATALOG_ACTIONS = (AuditAction.CATALOG_REFRESHED, AuditAction.CATALOG_REFUSED)


@dataclass(frozen=True, slots=True)
class Fetched:
    """What an address has answered; `etag` is "" where it gives none."""

    api: Api
    etag: str


async def fetch_catalog(url: str, *, etag: str = "") -> Fetched | None:
    """Get models.dev's data, through the policy for outgoing connections.

    Returns: None when it is still what `etag` was given for.
    Raises: FetchError; RefusedCatalog for something else.
    """
    headers = {"user-agent": _USER_AGENT, **({"if-none-match": etag} if etag else {})}
    async with open_page(url, headers=headers, timeout_s=TIMEOUT_S) as (_, response):
        if response.status_code == 304:
            return None
        if response.status_code != 200:
            raise FetchError(f"the server answered {response.status_code}")
        content = bytearray()
        async for chunk in response.aiter_bytes():
            content += chunk
            if len(content) > MAX_BYTES:
                raise FetchError("the answer is too large for a catalog")
        return Fetched(parse_api(bytes(content)), response.headers.get("etag", ""))


def is_due() -> bool:
    """Whether the configured address should be asked again."""
    if not settings.MODELS_URL or settings.MODELS_REFRESH_HOURS <= 0:
        return False
    path = refreshed_path()
    age_s = time.time() - path.stat().st_mtime if path.exists() else None
    return age_s is None or age_s >= settings.MODELS_REFRESH_HOURS * 3600


def refresh_from_address() -> Changes | None:
    """Ask the configured address for a newer catalog. What fails is logged and written down.

    Must not be called on an event loop.

    Returns: what has changed; None when the one in use stays.
    """
    url = settings.MODELS_URL
    head = read_head()
    etag = str(head.get("etag", "")) if head["source"] == url else ""
    try:
        found = asyncio.run(fetch_catalog(url, etag=etag))
        if found is None:
            # Its age says when it was looked at last.
            os.utime(refreshed_path())
            return None
        return install_catalog(found.api, source=url, etag=found.etag)
    except (FetchError, RefusedCatalog, OSError) as exc:
        logger.warning("catalog.refused source=%s reason=%s", url, exc)
        note_refusal(url, reason=str(exc))
        return None


@transaction.atomic
def install_catalog(
    api: Api, *, source: str, date: str = "", etag: str = "", is_forced: bool = False
) -> Changes:
    """Put a catalog in the place of the one in use; every process reads it from then on.

    `is_forced` takes one that has lost much, and the addresses that it names.

    Raises: RefusedCatalog; OSError.
    """
    older = read_all()
    kept: tuple[str, ...] = ()
    if not is_forced:
        check_catalog(api, older)
        kept = keep_addresses(api, older)
        bind_addresses(moved_places(api, older))
    changes = compare(api, older, kept=kept)
    date = date or timezone.now().date().isoformat()
    if changes:
        data: JsonObject = {"source": source, "date": date, **changes.to_data()}
        record(AuditAction.CATALOG_REFRESHED, actor=None, team=None, data=data)
    write_catalog(refreshed_path(), api, source=source, date=date, etag=etag)
    logger.info("catalog.refreshed source=%s providers=%d", source, len(api))
    return changes


@transaction.atomic
def note_refusal(source: str, *, reason: str) -> None:
    """Write down once that a catalog was not taken, however often the same is tried again."""
    data: JsonObject = {"source": source, "reason": reason[:500]}
    newest = AuditEntry.objects.filter(action__in=CATALOG_ACTIONS).order_by("-pk").first()
    if newest is None or newest.data != data:
        record(AuditAction.CATALOG_REFUSED, actor=None, team=None, data=data)
