"""Have the files of a Location looked at where they are: here, or by a worker of their host.

A web process may be on another machine, or be walled so that git does not run in it. Then a worker
of the host is asked over its queue and answers on the bus: nothing is stored, and an answer that
is lost is a request that has failed.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _

from opencode_web.lib.bus import publish, subscribe
from opencode_web.lib.db import in_db
from opencode_web.lib.errors import AppError, ErrorCode, Unavailable
from opencode_web.lib.ids import new_id
from opencode_web.lib.json import JsonObject, JsonValue
from opencode_web.lib.loop import submit
from sessions.browse import (
    apply,
    changes,
    content,
    listing,
    repository,
    review,
    search,
    spans,
    symbols,
    view,
)
from sessions.browse.place import Place, Where, open_place
from sessions.wake import ring_host
from tools.sandbox.select import probe

logger = logging.getLogger(__name__)

WAIT_S = 30.0


@dataclass(frozen=True)
class _Operation:
    run: Callable[..., Awaitable[JsonValue]]
    needs_sandbox: bool = False


_OPERATIONS = {
    "file.list": _Operation(listing.list_folder, needs_sandbox=True),
    "file.read": _Operation(content.read_file, needs_sandbox=True),
    "file.status": _Operation(changes.list_files_changed, needs_sandbox=True),
    "file.tree": _Operation(view.list_tree, needs_sandbox=True),
    "file.view": _Operation(view.view_file),
    "find.text": _Operation(search.find_text),
    "find.files": _Operation(search.find_files),
    "find.symbols": _Operation(symbols.find_symbols, needs_sandbox=True),
    "vcs.status": _Operation(changes.list_status, needs_sandbox=True),
    "vcs.diff": _Operation(changes.list_diffs, needs_sandbox=True),
    "vcs.raw": _Operation(changes.raw_diff, needs_sandbox=True),
    "review.list": _Operation(review.list_review, needs_sandbox=True),
    "review.file": _Operation(review.diff_file, needs_sandbox=True),
    "review.picture": _Operation(review.old_picture, needs_sandbox=True),
    "span.list": _Operation(spans.count_span, needs_sandbox=True),
    "span.file": _Operation(spans.diff_span, needs_sandbox=True),
    "span.text": _Operation(spans.text_of_span, needs_sandbox=True),
    "span.picture": _Operation(spans.picture_of_span, needs_sandbox=True),
    "vcs.init": _Operation(repository.init_repository, needs_sandbox=True),
    "vcs.apply": _Operation(apply.apply_patch, needs_sandbox=True),
}


async def browse(where: Where, operation: str, **arguments: JsonValue) -> JsonValue:
    """Do an operation of the table with its arguments.

    Raises: what it raises; Unavailable when the host of the files does not answer.
    """
    if await _is_here(where, _OPERATIONS[operation]):
        return await _perform(where, operation, arguments)
    return await _ask_host(where, operation, arguments)


def start_serving(
    request_id: str, operation: str, where: JsonObject, arguments: JsonObject
) -> None:
    """Begin with `serve` on the process's own loop, without a thread that waits for it."""
    started = submit(serve(request_id, operation, where, arguments))
    started.add_done_callback(partial(_log_failure, operation))


def _log_failure(operation: str, done: Future[None]) -> None:
    # A cancel means that this worker stops; who waits is told after WAIT_S.
    if not done.cancelled() and (failure := done.exception()):
        logger.error("browse.crashed operation=%s", operation, exc_info=failure)


async def serve(request_id: str, operation: str, where: JsonObject, arguments: JsonObject) -> None:
    """Do what another process asked this host for, and tell it what came of it."""
    try:
        done = await _perform(Where(**where), operation, arguments)  # type: ignore[arg-type]  # as sent
        answer: JsonObject = {"value": done}
    except AppError as exc:
        fault: JsonObject = {"status": exc.status, "code": exc.code.value, "data": exc.data}
        answer = {"fault": {**fault, "message": exc.message}}
    publish(_group(request_id), answer)


async def _is_here(where: Where, operation: _Operation) -> bool:
    if where.host != settings.HOST_NAME:
        return False
    if not operation.needs_sandbox or settings.UNSAFE_SANDBOX or settings.EMBEDDED:
        return True
    # A web process in a container of its own has no right to make a sandbox; its workers have.
    return (await asyncio.to_thread(probe)).bubblewrap is not None


async def _perform(where: Where, operation: str, arguments: JsonObject) -> JsonValue:
    place: Place = await in_db(open_place, where)
    try:
        answer = await _OPERATIONS[operation].run(place, **arguments)
    except AppError as exc:
        exc.message = place.redactor.text(exc.message)
        raise
    # Everything that people see of the files comes by here.
    if not place.redactor:
        return answer
    return await asyncio.to_thread(place.redactor.json, answer, keys=False)


async def _ask_host(where: Where, operation: str, arguments: JsonObject) -> JsonValue:
    request_id = new_id("brw")
    async with subscribe(_group(request_id)) as answers:
        await asyncio.to_thread(
            ring_host,
            where.host,
            "sessions.browse",
            *(request_id, operation, asdict(where), arguments),
            expires_s=WAIT_S,
        )
        try:
            async with asyncio.timeout(WAIT_S):
                answer = await anext(answers)
        except TimeoutError as exc:
            logger.warning("browse.unanswered host=%s operation=%s", where.host, operation)
            raise Unavailable(
                _(
                    "The host {host}, which has the files, did not respond. Try again when one of "
                    "its workers is free."
                ).format(host=where.host)
            ) from exc
    if "value" in answer:
        return answer["value"]
    raise _fault(answer)


def _fault(answer: JsonObject) -> AppError:
    fault: Any = answer["fault"]  # as `serve` wrote it
    error = AppError(str(fault["message"]), **fault["data"])
    error.status, error.code = fault["status"], ErrorCode(fault["code"])
    return error


def _group(request_id: str) -> str:
    return f"browse.{request_id}"
