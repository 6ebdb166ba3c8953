"""Have the files of a Location looked at where they are: here, or by a worker of their host.

A web process may be on another machine, or be walled so that git does not run in it. Then a worker
of the host is asked over its queue and answers on the bus: nothing is stored, and an answer that
is lost is a request that has failed.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import asdict
from functools import partial
from typing import Any, TypedDict, TypeVar, cast, final

from django.conf import settings
from django.utils.translation import gettext as _

from opencode_web.lib.bus import publish, subscribe
from opencode_web.lib.db import in_db
from opencode_web.lib.errors import AppError, Unavailable
from opencode_web.lib.ids import new_id
from opencode_web.lib.json import JsonObject, JsonValue
from opencode_web.lib.loop import submit
from sessions.browse.faults import Fault, fault_from_json, fault_to_json
from sessions.browse.file_scope import FileScope, Where, open_scope
from sessions.browse.operations import OPERATIONS, Operation, P
from sessions.wake import ring_host
from tools.sandbox.select import probe

logger = logging.getLogger(__name__)

R = TypeVar("R")
WAIT_S = 30.0


@final
class _Done(TypedDict):
    value: JsonValue


@final
class _Failed(TypedDict):
    fault: Fault


# What a host publishes to the group of a request.
_Answer = _Done | _Failed


async def browse(
    where: Where, operation: Operation[P, R], *args: P.args, **arguments: P.kwargs
) -> R:
    """Do an operation with its arguments, which go by name.

    Raises: what it raises; Unavailable when the host of the files does not answer.
    """
    assert not args
    if await _is_here(where, operation):
        value = await _perform(where, operation, arguments)
    else:
        value = await _ask_host(where, operation.name, arguments)
    return cast(R, value)  # as `run` has returned it, perhaps with texts that are masked


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
        done = await _perform(Where(**where), OPERATIONS[operation], arguments)  # type: ignore[arg-type]  # as sent
        answer: _Answer = {"value": done}
    except AppError as exc:
        answer = {"fault": fault_to_json(exc)}
    publish(_group(request_id), answer)


async def _is_here(where: Where, operation: Operation[..., object]) -> bool:
    if where.host != settings.HOST_NAME:
        return False
    if not operation.needs_sandbox or settings.UNSAFE_SANDBOX or settings.EMBEDDED:
        return True
    # A web process in a container of its own has no right to make a sandbox; its workers have.
    return (await asyncio.to_thread(probe)).bubblewrap is not None


async def _perform(
    where: Where, operation: Operation[..., Any], arguments: Mapping[str, object]
) -> JsonValue:
    scope: FileScope = await in_db(open_scope, where)
    try:
        answer: JsonValue = await operation.run(scope, **arguments)
    except AppError as exc:
        exc.message = scope.redactor.text(exc.message)
        raise
    # Everything that people see of the files comes by here.
    if not scope.redactor:
        return answer
    return await asyncio.to_thread(scope.redactor.json, answer, keys=False)


async def _ask_host(where: Where, operation: str, arguments: Mapping[str, object]) -> JsonValue:
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
                answer = cast(_Answer, await anext(answers))  # `serve` has published it
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
    raise fault_from_json(answer["fault"])


def _group(request_id: str) -> str:
    return f"browse.{request_id}"
