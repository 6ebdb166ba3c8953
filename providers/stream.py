"""One provider turn: a request in, typed events out."""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace

import httpx
from django.conf import settings

from opencode_web.lib.metrics import count_provider_error
from providers import llm
from providers.account_model import AccountModel, account_of
from providers.catalog import SCRIPTED_NPM
from providers.funding import FundedRequest
from providers.guard import Guard
from providers.llm.errors import ProviderError
from providers.llm.events import Failed, Finished, StreamEvent
from providers.llm.messages import ProviderRequest
from providers.marks import defuse_marks
from providers.option_hints import log_unused
from providers.pictures import fit_files
from providers.refresh import fresh_model
from providers.tally import note_call
from providers.testing import ScriptedProvider
from providers.transport import pool

logger = logging.getLogger(__name__)


async def stream(request: FundedRequest) -> AsyncGenerator[StreamEvent, None]:
    """Make one call and yield what comes.

    The last event is exactly one `Finished` or `Failed`; a provider's fault is never raised.
    Closing the generator or cancelling the task closes the connection before it returns, so the
    consumer must close it (`contextlib.aclosing`) when it stops early. Nothing is retried here.
    """
    started, outcome, first_s = time.monotonic(), "cancelled", 0.0
    provider_id, guard = request.model.ref.provider_id, Guard(request)
    account_id = account_of(request.model)
    try:
        refused = await guard.open()
        async with aclosing(_refuse(refused) if refused else _source(request)) as source:
            async for event in source:
                first_s = first_s or time.monotonic() - started
                if isinstance(event, Finished):
                    outcome = f"{event.reason} {event.usage.total_tokens} tokens"
                    note_call(provider_id, account_id=account_id, first_s=first_s)
                    await guard.note(event)
                elif isinstance(event, Failed):
                    kind, status = type(event.error).__name__, event.error.status_code
                    outcome = f"{kind} {status or ''}"
                    count_provider_error(kind, status=status)
                    note_call(provider_id, account_id=account_id, error=kind)
                    event = await guard.note(event)
                yield event
    finally:
        await guard.close()
        logger.info(
            "provider call ended: session=%s model=%s outcome=%s ms=%d",
            request.session_id,
            request.model.ref,
            outcome.strip(),
            (time.monotonic() - started) * 1000,
        )


def _source(request: FundedRequest) -> AsyncGenerator[StreamEvent, None]:
    if request.model.npm == SCRIPTED_NPM:
        model = request.model
        whose = (model.user_id, model.team_id) if isinstance(model, AccountModel) else (None, "")
        player = ScriptedProvider.for_model(model.ref.model_id, user_id=whose[0], team_id=whose[1])
        return player.stream(request)
    return call(request, pool())


async def _refuse(error: ProviderError) -> AsyncGenerator[StreamEvent, None]:
    yield Failed(error, is_free=True)


async def call(
    request: ProviderRequest, transport: httpx.AsyncBaseTransport
) -> AsyncGenerator[StreamEvent, None]:
    """Call a model over HTTP, with this server's name and as long as it waits for an answer."""
    log_unused(request.model)
    limits = request.model.timeouts
    idle = replace(limits, idle=limits.idle or settings.PROVIDER_CHUNK_TIMEOUT_S)
    try:
        request = await fit_files(request)
        model = await fresh_model(request.model, transport)
    except ProviderError as exc:
        yield Failed(exc, is_free=True)
        return
    request = defuse_marks(replace(request, model=replace(model, timeouts=idle)))
    user_agent = f"opencode-web/{settings.VERSION}"
    async with aclosing(llm.stream(request, transport, user_agent=user_agent)) as events:
        async for event in events:
            yield event
