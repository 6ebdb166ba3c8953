"""Whose request it is, asked again every few seconds while something is open."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import Any
from urllib.parse import urlsplit

from django.db import Error as DatabaseFault

from opencode_web.lib.db import in_view_db
from opencode_web.lib.errors import AppError, Unauthorized
from sessions.actions.previews import Visit, admit_visit
from sessions.consumers.preview.headers import cookie_of, first

logger = logging.getLogger(__name__)

# Who has lost a right has lost the preview after that.
CHECK_S = 2.0
_REMEMBERED = 1000

# When each cookie was last found good. A page asks for hundreds of files at once.
_good: dict[tuple[str, str], tuple[float, Visit]] = {}


async def admit(label: str, headers: list[tuple[bytes, bytes]]) -> Visit:
    """Let a request in by its cookie. Raises: AppError, as `admit_visit` does."""
    cookies = (cookie_of(headers, is_secure=is_secure) for is_secure in (True, False))
    cookie = next(filter(None, cookies), "")
    if not cookie:
        raise Unauthorized("There is no cookie of a preview.")
    until, visit = _good.get((label, cookie), (0.0, None))
    if visit is not None and time.monotonic() < until:
        return visit
    visit = await in_view_db(admit_visit, label, cookie)
    if len(_good) >= _REMEMBERED:
        _good.clear()
    _good[label, cookie] = time.monotonic() + CHECK_S, visit
    return visit


async def until_refused(label: str, headers: list[tuple[bytes, bytes]]) -> AppError:
    """Wait until a request that was let in would not be any more.

    While the database is away nobody's rights can change.
    """
    while True:
        await asyncio.sleep(CHECK_S)
        try:
            await admit(label, headers)
        except AppError as exc:
            return exc
        except DatabaseFault as exc:
            logger.warning("preview.not_checked", exc_info=exc)


def is_from(scope: dict[str, Any], origin: str) -> bool:  # as ASGI types it
    """Whether a page of an origin asks, or no page at all."""
    stated = first(scope["headers"], b"origin").decode("latin-1")
    return not stated or urlsplit(stated)[:2] == urlsplit(origin)[:2]
