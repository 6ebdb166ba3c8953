"""One provider turn: a request in, typed events out."""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import UTC, datetime
from http import HTTPStatus

from opencode_web.lib.metrics import count_provider_error
from providers.classify import Answer, classify
from providers.encode import encode_request
from providers.errors import ProviderError
from providers.events import Failed, Finished, StreamEvent
from providers.funding import FundedRequest
from providers.litellm_client import open_stream
from providers.messages import ProviderKind
from providers.normalise import Normaliser
from providers.tally import note_call
from providers.testing import ScriptedProvider
from providers.transport import Call, pool

# Said by what stands between us and the model, which may have answered all the same.
_ON_THE_WAY = frozenset({408, 499, 502, 504, *range(520, 528)})

logger = logging.getLogger(__name__)


async def stream(request: FundedRequest) -> AsyncGenerator[StreamEvent, None]:
    """Make one call and yield what comes.

    The last event is exactly one `Finished` or `Failed`; a provider's fault is never raised.
    Closing the generator or cancelling the task closes the connection before it returns, so the
    consumer must close it (`contextlib.aclosing`) when it stops early. Nothing is retried here.
    """
    started, outcome = time.monotonic(), "cancelled"
    source = _play(request) if request.model.kind is ProviderKind.SCRIPTED else _call(request)
    try:
        async with aclosing(source):
            async for event in source:
                if isinstance(event, Finished):
                    outcome = f"{event.reason} {event.usage.total_tokens} tokens"
                    note_call(request.model.ref.provider_id)
                elif isinstance(event, Failed):
                    kind, status = type(event.error).__name__, event.error.status_code
                    outcome = f"{kind} {status or ''}"
                    count_provider_error(kind, status=status)
                    note_call(request.model.ref.provider_id, error=kind)
                yield event
    finally:
        logger.info(
            "provider call ended: session=%s model=%s outcome=%s ms=%d",
            request.session_id,
            request.model.ref,
            outcome.strip(),
            (time.monotonic() - started) * 1000,
        )


def _play(request: FundedRequest) -> AsyncGenerator[StreamEvent, None]:
    return ScriptedProvider.for_model(request.model.ref.model_id).stream(request)


def is_refused(call: Call) -> bool:
    """Whether the request did not come to the model."""
    if call.status_code is not None:
        is_answered = HTTPStatus.OK <= call.status_code < HTTPStatus.MULTIPLE_CHOICES
        return not is_answered and call.status_code not in _ON_THE_WAY
    return not call.was_sent


async def _call(request: FundedRequest) -> AsyncGenerator[StreamEvent, None]:
    arguments = encode_request(request)  # outside the try: a fault in here is ours
    call = Call(pool())
    normaliser = Normaliser()
    failure: ProviderError | None = None
    is_free = False
    try:
        chunks = await open_stream(request.model, arguments, call)
        async for chunk in chunks:
            for event in normaliser.feed(chunk):
                yield event
    except Exception as exc:
        failure = classify(
            exc,
            answer=Answer(call.status_code, call.headers, call.error_body),
            secrets=(request.model.api_key,),
            now=datetime.now(UTC),
        )
        is_free = is_refused(call)
        # Its text may quote the request, so only its type is logged.
        logger.info("provider call failed: session=%s %s", request.session_id, type(exc).__name__)
    finally:
        await call.hang_up()
    if failure is not None:
        yield Failed(failure, is_free=is_free)
        return
    for event in normaliser.end():
        yield event
