"""What a call of a model goes through beside the wire: its circuits, and its place at a key."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from django.db import DatabaseError
from django.utils import timezone

from opencode_web.lib.db import in_db
from providers.account_model import AccountModel
from providers.actions.circuits import claim_probe, note_failure, note_success
from providers.actions.room import keep_place, leave
from providers.catalog import SCRIPTED_NPM
from providers.funding import FundedRequest
from providers.health import OtherKey, Part, resting
from providers.llm.errors import ProviderError
from providers.llm.events import Failed, Finished
from providers.room import ALIVE


class Guard:
    """Used by one call. Without earlier failures and limits of keys, it asks and writes nothing."""

    def __init__(self, request: FundedRequest) -> None:
        model = request.model if isinstance(request.model, AccountModel) else None
        self._use = model.use if model else None
        # The demo fails when its script says so.
        self._model = model if model and model.npm != SCRIPTED_NPM else None
        self._session_id = request.session_id
        self._tried = False
        self._tokens: int | None = None
        self._keeper: asyncio.Task[None] | None = None

    async def open(self) -> ProviderError | None:
        """Returns: why the call is not to be made; None when it is."""
        if self._use is not None:
            self._keeper = asyncio.create_task(_keep(self._use))
        model, now = self._model, timezone.now()
        if model is None:
            return None
        for fault in model.faults:
            if fault.open_until is None:
                continue
            if not fault.is_open(now) and await in_db(claim_probe, fault):
                self._tried = True
                continue
            self._tokens = 0
            error = resting(fault, name=model.provider_name, now=now)
            if fault.part is Part.KEY and model.others:
                return OtherKey(reason=error.reason, values=error.values, retry_after_s=0.0)
            return error
        return None

    async def note(self, event: Finished | Failed) -> Finished | Failed:
        """Write down how the call has ended. Returns: the event to go on with."""
        model = self._model
        if isinstance(event, Finished):
            self._tokens = event.usage.total_tokens or None
            if model is not None and (model.faults or model.is_unproven):
                await in_db(note_success, model)
            return event
        self._tokens = 0 if event.is_free else None
        if model is None:
            return event
        error = event.error
        part = await in_db(
            note_failure, model, error, session_id=self._session_id, tried=self._tried
        )
        if part is not Part.KEY or not model.others:
            return event
        other = OtherKey(
            error.message,
            reason=error.reason,
            values=error.values,
            status_code=error.status_code,
            retry_after_s=0.0,
            response_body=error.response_body,
        )
        return Failed(other, is_free=event.is_free)

    async def close(self) -> None:
        """Give back what the call has held, however it has ended."""
        if self._keeper is not None:
            self._keeper.cancel()
        if self._use is not None:
            await asyncio.shield(in_db(leave, self._use, tokens=self._tokens))


async def _keep(use: int) -> None:
    while True:
        await asyncio.sleep(ALIVE.total_seconds() / 3)
        # It is said twice more before anybody takes the place.
        with suppress(DatabaseError):
            await in_db(keep_place, use)
