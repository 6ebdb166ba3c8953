"""The browser's frames over plain HTTP, for networks that let no websocket through."""

from __future__ import annotations

import logging
import re
from collections.abc import AsyncIterator
from contextlib import aclosing

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_GET

from opencode_web.lib.db import in_db
from opencode_web.lib.sse import frame_of_text, response
from sessions.stream.browser import BrowserStream, Watched, check_access
from sessions.stream.hub import Overflow
from sessions.stream.listener import Ended, encode
from sessions.stream.rights import COME_BACK, FAILED, FORBIDDEN, GONE, SIGNED_OUT, Refused
from teams.auth import Principal, authenticate_user
from teams.browser import BrowserSession
from teams.models import User

logger = logging.getLogger(__name__)

# What is not taken waits in the server, and whoever is gone without a word is still held for
# somebody who looks: so each answer ends soon, and the browser asks for the next one.
LIFETIME_S = 30
MAX_BYTES = 4_000_000
AGAIN = 4000
_STATUS = {SIGNED_OUT: 401, FORBIDDEN: 404, GONE: 404}
_NUMBERED = re.compile(r'\{"q":(\d+),')


@require_GET
async def live(request: HttpRequest, team: str, session: str = "") -> HttpResponseBase:
    """Frames after the cursor `after` or `Last-Event-ID`. The last one is `bye`, with its reason
    as websockets close with."""
    after = request.headers.get("Last-Event-ID") or request.GET.get("after", "")
    fields = {"team": team, "session": session, "after": after, "lang": request.GET.get("lang", "")}
    fields["project"] = request.GET.get("project", "")
    watched = Watched.of(fields)
    try:
        principal = await in_db(_principal_of, request)
        await in_db(check_access, principal, watched)
    except Refused as exc:
        # To a browser that comes back for the next answer the reason is what it is told.
        return HttpResponse(str(exc.code), status=_STATUS[exc.code], content_type="text/plain")
    stream = BrowserStream(principal, watched, lingers=True)
    if request.GET.get("seen") == "1":
        stream.seen()
    return response(_events(stream))


def _principal_of(request: HttpRequest) -> Principal:
    user = request.user
    if not isinstance(user, User) or not user.is_active:
        raise Refused(SIGNED_OUT)
    return authenticate_user(user, browser=BrowserSession.of(request.session))


async def _events(stream: BrowserStream) -> AsyncIterator[bytes]:
    code, sent = AGAIN, 0
    try:
        async with aclosing(stream.frames(lifetime_s=LIFETIME_S)) as frames:
            async for text in frames:
                event = _event(text)
                yield event
                sent += len(event)
                if sent > MAX_BYTES:
                    break
    except Refused as exc:
        code = exc.code
    except (Ended, Overflow, OSError):
        code = COME_BACK
    except Exception:  # one stream connection
        logger.exception("live.stream_failed")
        code = FAILED
    yield _event(encode({"k": "bye", "code": code}))


def _event(text: str) -> bytes:
    numbered = _NUMBERED.match(text)
    return frame_of_text(text, id=numbered[1] if numbered else None)
