"""One call of a model: a request in, typed events out."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator
from datetime import UTC, datetime

import httpx

from .classify import Answer, classify
from .connection import Connection, build
from .errors import ProviderError
from .events import Failed, Finished, FinishReason, StreamEvent
from .families.sampling import with_sampling
from .messages import ProviderRequest, Usage
from .repairs import repair
from .route import route_of

logger = logging.getLogger(__name__)


async def stream(
    request: ProviderRequest, transport: httpx.AsyncBaseTransport, *, user_agent: str = ""
) -> AsyncGenerator[StreamEvent, None]:
    """Make one call and yield what comes.

    The last event is exactly one `Finished` or `Failed`; a provider's fault is never raised.
    Closing the generator or cancelling the task closes the connection before it returns, so the
    consumer must close it (`contextlib.aclosing`) when it stops early. Nothing is retried here.

    Raises: UnknownAdapter.
    """
    request = with_sampling(repair(request))
    try:
        route = route_of(request)
        call = build(request, route, user_agent=user_agent)
    except ProviderError as exc:
        yield Failed(exc, is_free=True)
        return
    decoder = route.protocol.decoder(request)
    connection = Connection(transport, request.model.timeouts)
    failure: Failed | None = None
    try:
        async for frame in route.protocol.framing(await connection.open(call)):
            for event in decoder.feed(frame):
                yield event
    except Exception as exc:
        answer = Answer(connection.status_code, connection.headers, connection.error_body)
        secrets = (request.model.api_key, *request.model.secrets.values())
        error = classify(exc, answer=answer, secrets=secrets, now=datetime.now(UTC))
        failure = Failed(error, is_free=connection.is_refused)
        # Its text may quote the request, so only its type is logged.
        logger.info("provider call failed: session=%s %s", request.session_id, type(exc).__name__)
    finally:
        await connection.close()
    if failure is not None:
        is_end = route.protocol.is_end(failure.error)
        yield Finished(FinishReason.STOP, Usage()) if is_end else failure
        return
    for event in decoder.end():
        yield event
