"""What providers themselves say that an account can use."""

from __future__ import annotations

import asyncio
import logging
from datetime import timedelta

from django.conf import settings
from django.utils import timezone

from opencode_web.lib.errors import AppError
from opencode_web.lib.json import JsonObject
from providers.actions.sign_ins import keep_listing
from providers.grants import open_grant
from providers.key_tests import account_model
from providers.llm.errors import ProviderError
from providers.llm.model_list import clean_list, list_models
from providers.llm.sign_in import Grant, Http
from providers.llm.sign_in.digitalocean import list_routers
from providers.llm.sign_in.errors import SignInError
from providers.models import Credential, ProviderConfig
from providers.refresh import fresh_model
from providers.transport import one_time_pool

# Providers whose list says more than the catalog: what an account may use differs between accounts.
_LISTED = frozenset({"github-copilot", "digitalocean"})
STALE_AFTER = timedelta(hours=1)

logger = logging.getLogger(__name__)


def refresh_listing(row: ProviderConfig) -> None:
    """Ask which models an account can use, at providers where that depends on the account.

    Without an answer the earlier list, or the catalog, goes on to count. Must not be called on an
    event loop.
    """
    if row.provider_id not in _LISTED:
        return
    try:
        listed = ask_for_models(row)
    except (ProviderError, SignInError, AppError) as exc:
        logger.warning("no list of models: provider=%s %s", row.provider_id, type(exc).__name__)
        return
    if listed:
        keep_listing(row, listed)


def refresh_stale_listings() -> None:
    """Ask again for the lists that are old."""
    rows = ProviderConfig.objects.filter(provider_id__in=_LISTED, enabled=True)
    stale = rows.exclude(listed_at__gt=timezone.now() - STALE_AFTER).exclude(credentials=None)
    for row in stale.select_related("team", "owner").prefetch_related("credentials"):
        try:
            refresh_listing(row)
        except Exception:  # the edge of a Celery task: one account must not end it for all others
            logger.exception("no list of models: account=%s", row.pk)


def ask_for_models(row: ProviderConfig) -> dict[str, JsonObject]:
    """Ask an account's provider for the models that it serves.

    Returns: id -> description in models.dev's fields, as far as the provider says anything.
    Raises: ProviderError; Invalid when there is no credential that can be read.
    """

    model = account_model(row)

    grant = _grant_of(row)

    async def ask() -> dict[str, JsonObject]:
        async with one_time_pool() as pool:
            http = Http(pool, user_agent=f"opencode-web/{settings.VERSION}")
            listed = await list_models(await fresh_model(model, pool), http)
            if grant is not None and row.provider_id == "digitalocean":
                listed |= await list_routers(grant, http)
            return clean_list(listed)

    return asyncio.run(ask())


def _grant_of(row: ProviderConfig) -> Grant | None:
    credential = row.credential
    is_grant = credential is not None and credential.kind == Credential.Kind.OAUTH
    return open_grant(credential.secret) if credential and is_grant else None
