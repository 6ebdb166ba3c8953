"""What one browser is sent, by whichever way it is connected: a websocket, or plain HTTP."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial

from opencode_web.lib.build import build_id
from opencode_web.lib.db import in_view_db
from opencode_web.lib.errors import AppError, NotFound
from opencode_web.lib.json import JsonObject
from opencode_web.lib.languages import is_offered
from sessions.access import access_principal_team, access_project, access_session
from sessions.notifications.mentions import read_mentions
from sessions.stream.listener import Ended, Listener, encode
from sessions.stream.presence import Guest, PresenceRoom, joined_presence
from sessions.stream.rail import STALE, View, joined_rail
from sessions.stream.rights import FORBIDDEN, GONE, SIGNED_OUT, Refused, keep_checking
from sessions.stream.room import joined
from teams.access import TeamAccess
from teams.auth import Principal, is_live
from teams.models import Role

# A browser that hears nothing for 35 s takes the connection for dead.
HEARTBEAT_S = 15
_HEARTBEAT = encode({"k": "hb"})


@dataclass(frozen=True)
class Watched:
    """What a page shows: the list of a team, and perhaps one session from a cursor on.

    `project`: the one that a page without a session is about, where the role there is another one.
    """

    # Slug or id; it may be empty where there is a session.
    team: str
    session_id: str = ""
    after: int = 0
    # That of the page: what comes into it reads like the rest, whatever is preferred by now.
    language: str = ""
    project: str = ""

    @classmethod
    def of(cls, fields: dict[str, str]) -> Watched:
        """Read what a browser sends."""
        language = fields.get("lang", "")
        after = fields.get("after", "")
        cursor = int(after) if after.isdecimal() and len(after) < 16 else 0
        return cls(
            fields.get("team", ""),
            fields.get("session", ""),
            cursor,
            language if is_offered(language) else "",
            fields.get("project", ""),
        )


class BrowserStream:
    """One connection. Iterate over `frames` once.

    `lingers`: it ends again and again, and its person is there all the time.
    """

    def __init__(self, principal: Principal, watched: Watched, *, lingers: bool = False) -> None:
        self._principal = principal
        self._watched = watched
        self._listener = Listener()
        self._role: Role | None = None
        self._view: View | None = None
        self._version = 0
        user = principal.user
        self._guest = Guest(user.pk, user.display_name, lingers=lingers)
        self._presence: PresenceRoom | None = None
        self._is_seen = False

    async def frames(self, *, lifetime_s: float = math.inf) -> AsyncGenerator[str, None]:
        """Yield encoded frames: what was missed, then `hi`, then what happens until the end.

        Raises: Refused for whoever may not see it, or not any more; Ended, Overflow or OSError when
        the browser has to come back.
        """
        loop = asyncio.get_running_loop()
        end = loop.time() + lifetime_s
        check = partial(_check, self._principal, self._watched)
        access, view = await in_view_db(check)
        self._view, self._version = view, access.team.access_version
        team_id, watched = access.team.pk, self._watched
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(
                joined_rail(view, self._listener, language=watched.language)
            )
            if watched.session_id:
                room = joined(
                    watched.session_id,
                    team_id,
                    self._listener,
                    after=watched.after,
                    language=watched.language,
                )
                await stack.enter_async_context(room)
                # A page that was fetched ahead is not open yet; one that listens is.
                await in_view_db(read_mentions, self._principal.user, watched.session_id)
                there = joined_presence(
                    watched.session_id,
                    team_id,
                    self._listener,
                    self._guest,
                    language=watched.language,
                )
                self._presence = await stack.enter_async_context(there)
                if self._is_seen:
                    self._presence.note(self._guest)
            self._role = access.role
            greeting: JsonObject = {
                "k": "hi",
                "build": build_id(),
                "role": access.role.value,
                # By the clock that the page was made by.
                "at": int(time.time()),
            }
            self._listener.put(encode(greeting))
            checking = asyncio.create_task(
                keep_checking(
                    check, principal=self._principal, team_id=team_id, found=self._look_at
                )
            )
            stack.callback(checking.cancel)
            checking.add_done_callback(lambda _: self._listener.end())
            while (left := end - loop.time()) > 0:
                try:
                    async with asyncio.timeout(min(HEARTBEAT_S, left)):
                        text = await self._listener.get()
                except TimeoutError:
                    text = _HEARTBEAT
                except Ended:
                    if checking.done():
                        checking.result()
                    raise
                yield text

    def seen(self, *, typing: bool = False) -> None:
        """The person looks at the page just now, or writes a message."""
        self._is_seen = True
        if self._presence is not None:
            self._presence.note(self._guest, typing=typing)

    def _look_at(self, found: tuple[TeamAccess, View]) -> None:
        access, view = found
        if access.role != self._role:
            self._role = access.role
            self._listener.put(encode({"k": "role", "role": access.role.value}))
        if access.team.access_version != self._version:
            self._version = access.team.access_version
            self._listener.put(encode(STALE))
        if view != self._view:
            # The browser comes back to the room of what it sees now.
            self._listener.end()


def _check(principal: Principal, watched: Watched) -> tuple[TeamAccess, View]:
    access = check_access(principal, watched)
    return access, View.of(access)


def check_access(principal: Principal, watched: Watched) -> TeamAccess:
    """Returns: how the person belongs to the team whose list is shown. Raises: Refused."""
    if not is_live(principal):
        raise Refused(SIGNED_OUT)
    try:
        if not watched.session_id:
            return _access_page(principal, watched)
        access = access_session(principal, watched.session_id).team
    except AppError as exc:
        raise Refused(_reason(principal, watched)) from exc
    if watched.team not in ("", access.team.pk, access.team.slug):
        raise Refused(GONE)
    return access


def _access_page(principal: Principal, watched: Watched) -> TeamAccess:
    access = access_principal_team(principal, watched.team)
    if not watched.project:
        return access
    try:
        found = access_project(principal, watched.project).team
    except NotFound:
        # The page stays as it is: its lists have nothing of that project any more.
        return access
    return found if found.team.pk == access.team.pk else access


def _reason(principal: Principal, watched: Watched) -> int:
    """Of somebody who still belongs to the team, the session is what is gone."""
    if not (watched.session_id and watched.team):
        return FORBIDDEN
    try:
        access_principal_team(principal, watched.team)
    except AppError:
        return FORBIDDEN
    return GONE
