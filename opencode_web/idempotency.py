"""`Idempotency-Key`: a write of the API that is sent again is answered as at its first time.

A synchronous route runs in one transaction with its key, so a crash leaves both or neither. An
asynchronous one waits for things outside the database: its key is held while it runs, and after a
crash for some seconds. Then the next attempt carries on with the same message id, so that a prompt
is admitted once all the same; a write that could be done twice is refused, as nobody knows whether
it was done. Only successes are kept. A fault has changed nothing, so the same request may be tried
again.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

from django.db import DatabaseError, transaction
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from opencode_web.lib.db import in_db
from opencode_web.lib.errors import Conflict, Invalid
from opencode_web.lib.public_url import without_base
from sessions.api.auth import SAFE_METHODS, authenticate
from teams.actions.idempotency import (
    HELD_FOR,
    Attempt,
    KeptAnswer,
    claim_key,
    give_up_claim,
    keep_answer,
    keep_claim,
)
from teams.auth import Principal

logger = logging.getLogger(__name__)

HEADER = "Idempotency-Key"
REPLAYED = "Idempotent-Replayed"

# Asynchronous routes that carry on by the message id, or end the same however often they are done.
_RESUMES = re.compile(
    r".*/(?:message|command|prompt_async|abort|wait|git/init|(?:un)?revert(?:/[a-z]+)?)"
)
_KEY = re.compile(r"[\x21-\x7e]{1,255}")


def has_key(request: HttpRequest) -> bool:
    """Whether the request is a write that may be sent again."""
    return request.method not in SAFE_METHODS and HEADER in request.headers


def respond_once(
    request: HttpRequest, respond: Callable[[HttpRequest], HttpResponseBase]
) -> HttpResponseBase:
    """Answer a synchronous route, or as it was answered before.

    Raises: AppError, as authentication and `claim_key`.
    """
    principal = authenticate(request)
    with transaction.atomic():
        claimed = _claim(request, principal)
        if isinstance(claimed, KeptAnswer):
            return _replay(claimed)
        response = respond(request)
        if _is_kept(response):
            _keep(claimed, response)
        else:
            transaction.set_rollback(True)
    return response


async def respond_once_async(
    request: HttpRequest, respond: Callable[[HttpRequest], Awaitable[HttpResponseBase]]
) -> HttpResponseBase:
    """As `respond_once`, for an asynchronous route."""
    principal = await in_db(authenticate, request)
    resumes = _RESUMES.fullmatch(without_base(request.path)) is not None
    claimed = await in_db(_claim, request, principal, resumes=resumes)
    if isinstance(claimed, KeptAnswer):
        return _replay(claimed)
    async with _held(claimed):
        response = await respond(request)
        if _is_kept(response):
            await in_db(_keep, claimed, response)
        elif response.status_code < 500:
            await in_db(give_up_claim, claimed, forget=True)
    return response


@asynccontextmanager
async def _held(attempt: Attempt) -> AsyncIterator[None]:
    """Keep the claim while the block runs. However that ends, the next attempt can begin."""
    renewal = asyncio.create_task(_renew(attempt))
    try:
        yield
    finally:
        renewal.cancel()
        with suppress(asyncio.CancelledError):
            await renewal
        try:
            await in_db(give_up_claim, attempt, forget=False)
        except DatabaseError as exc:
            # What was answered stands. Who sends it again waits until the claim has run out.
            logger.warning("idempotency.not_given_up key=%s", attempt.row_id, exc_info=exc)


async def _renew(attempt: Attempt) -> None:
    while True:
        await asyncio.sleep(HELD_FOR.total_seconds() / 3)
        try:
            await in_db(keep_claim, attempt)
        except DatabaseError as exc:
            logger.warning("idempotency.not_renewed key=%s", attempt.row_id, exc_info=exc)


def _claim(
    request: HttpRequest, principal: Principal, *, resumes: bool = True
) -> Attempt | KeptAnswer:
    key = request.headers[HEADER]
    if not _KEY.fullmatch(key):
        raise Invalid(
            f"{HEADER} must have 1 to 255 visible ASCII characters, such as a UUID.", kind="Headers"
        )
    caller = principal.token_id or f"user:{principal.user.pk}"
    claimed = claim_key(caller, key=key, digest=_digest(request), resumes=resumes)
    if isinstance(claimed, Attempt):
        request.stable_message_id = claimed.message_id  # type: ignore[attr-defined]  # an ApiRequest
    return claimed


def _digest(request: HttpRequest) -> str:
    digest = hashlib.sha256()
    place = request.headers.get("x-opencode-directory", "")
    for part in (request.method or "", request.get_full_path(), place):
        digest.update(part.encode(errors="replace") + b"\0")
    digest.update(request.body)
    return digest.hexdigest()


def _is_kept(response: HttpResponseBase) -> bool:
    return response.status_code < 400 and isinstance(response, HttpResponse)


def _keep(attempt: Attempt, response: HttpResponseBase) -> None:
    assert isinstance(response, HttpResponse)
    keep_answer(
        attempt,
        status=response.status_code,
        content_type=response.get("Content-Type", ""),
        body=response.content,
        secret="no-store" in response.get("Cache-Control", ""),
    )


def _replay(kept: KeptAnswer) -> HttpResponse:
    """Raises: Conflict when it was not kept."""
    if kept.withheld:
        raise Conflict(
            "This request has already been carried out. Its response was not kept: "
            f"{kept.withheld}."
        )
    response = HttpResponse(kept.body, status=kept.status, content_type=kept.content_type or None)
    response[REPLAYED] = "true"
    return response
