"""What an answer uses while it streams, as far as that is known before its provider counts it."""

from __future__ import annotations

import logging
import time
from dataclasses import replace

from django.db import Error

from opencode_web.lib.db import in_db
from providers.llm.messages import Usage
from providers.pricing import asked_tier, cost_of, is_priced
from providers.tokens import CHARS_PER_TOKEN, estimate_fresh, estimate_request
from sessions.events.live import Estimate, publish_estimate
from sessions.models import Message
from sessions.runner.log.steps import ProviderTurn

logger = logging.getLogger(__name__)

# An answer that takes less than this is told by its true figures alone.
EVERY_S = 2.0


class Meter:
    """Counts one answer. Every call must come from the loop of the turn."""

    def __init__(self, turn: ProviderTurn) -> None:
        self._turn = turn
        self._chars = 0
        # All that has come, as UTF-8.
        self.received_bytes = 0
        self._told_at = time.monotonic()
        self._prompt: Usage | None = None
        self._tier = asked_tier(turn.request)

    async def grow(self, text: str) -> None:
        """Count what the model has written, and tell who looks on now and then."""
        self._chars += len(text)
        self.received_bytes += len(text.encode(errors="replace"))
        now = time.monotonic()
        if now - self._told_at < EVERY_S:
            return
        self._told_at = now
        if self._prompt is None:
            try:
                self._prompt = await in_db(expected_prompt, self._turn)
            except Error as exc:
                # An answer outlives a database that is away for a moment; it is tried again.
                logger.warning("meter.failed session=%s", self._turn.session.pk, exc_info=exc)
                return
        publish_estimate(self._turn.session, self._estimate(self._prompt))

    def _estimate(self, prompt: Usage) -> Estimate:
        model = self._turn.request.model
        usage = replace(prompt, output_tokens=round(self._chars / CHARS_PER_TOKEN))
        return Estimate(
            # A summary is read by the next request only, and instead of what this one reads.
            context=None if self._turn.summary else usage.total_tokens,
            limit=model.limit.context,
            tokens=usage.total_tokens,
            cost=cost_of(usage, model.cost, self._tier) if is_priced(model.cost) else None,
        )


def expected_prompt(turn: ProviderTurn) -> Usage:
    """What a model reads for an answer.

    What a provider has counted for the answer before is not guessed again. Where any of the session
    was ever in a provider's cache, that is taken to be in it now. One query at most.
    """
    session, request = turn.session, turn.request
    if turn.summary or not session.context_tokens:
        return Usage(input_tokens=estimate_request(request))
    # What a compaction leaves was counted with all that is in it.
    fresh = 0 if _follows_summary(turn) else estimate_fresh(request)
    cache = session.tokens["cache"]
    if cache["write"]:
        return Usage(cache_read_tokens=session.context_tokens, cache_write_tokens=fresh)
    if cache["read"]:
        return Usage(cache_read_tokens=session.context_tokens, input_tokens=fresh)
    return Usage(input_tokens=session.context_tokens + fresh)


def _follows_summary(turn: ProviderTurn) -> bool:
    answers = Message.objects.filter(session=turn.session, role="assistant")
    newest = (
        answers.exclude(pk=turn.info.id).order_by("-seq").values_list("data__summary", flat=True)
    )
    return newest.first() is True
