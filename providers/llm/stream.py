"""One call of a model: a request in, typed events out."""

from __future__ import annotations

import logging
import re
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from datetime import UTC, datetime

import httpx

from .classify import Answer, classify, text_of
from .connection import Connection, build
from .encoding import prepared
from .errors import ProviderError
from .events import Failed, Finished, FinishReason, StreamEvent
from .messages import ProviderRequest, Usage
from .refused_files import find_refused
from .route import route_of

logger = logging.getLogger(__name__)


# Said of a demand for a call, which many models refuse while they think, each in its own words.
_REFUSED_DEMAND = re.compile(r"tool[ _.]?choice|forced? (?:tool|function)|mode = ANY", re.I)

_BAD_REQUEST = frozenset({400, 422})


async def stream(
    request: ProviderRequest, transport: httpx.AsyncBaseTransport, *, user_agent: str = ""
) -> AsyncGenerator[StreamEvent, None]:
    """Make one call and yield what comes.

    The last event is exactly one `Finished` or `Failed`; a provider's fault is never raised.
    Closing the generator or cancelling the task closes the connection before it returns, so the
    consumer must close it (`contextlib.aclosing`) when it stops early. Nothing is retried here, but
    that a tool may be called instead of has to, where the model does not let itself be made to.

    Raises: UnknownAdapter.
    """
    async with aclosing(_call(request, transport, user_agent)) as events:
        async for event in events:
            if _is_refused_demand(request, event):
                break
            yield event
        else:
            return
    async with aclosing(
        _call(replace(request, tool_choice="auto"), transport, user_agent)
    ) as events:
        async for event in events:
            yield event


def _is_refused_demand(request: ProviderRequest, event: StreamEvent) -> bool:
    return (
        request.tool_choice == "required"
        and isinstance(event, Failed)
        and event.is_free
        and event.error.status_code in _BAD_REQUEST
        and _REFUSED_DEMAND.search(event.error.message) is not None
    )


async def _call(
    request: ProviderRequest, transport: httpx.AsyncBaseTransport, user_agent: str
) -> AsyncGenerator[StreamEvent, None]:
    request = prepared(request)
    try:
        route = route_of(request)
        if route.prepare is not None:
            route = await route.prepare(transport)
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
        secrets = (request.model.api_key, *request.model.secrets.values(), *route.secrets)
        error = classify(exc, answer=answer, secrets=secrets, now=datetime.now(UTC))
        error = find_refused(
            error, request, route.protocol.encode, said=answer.body or text_of(exc)
        )
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
