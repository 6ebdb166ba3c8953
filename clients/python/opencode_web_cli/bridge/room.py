"""The sessions that an editor has open, and the events that come for them."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from acp import RequestError

from opencode_web_cli.bridge import turns
from opencode_web_cli.bridge.asks import Asks, Request
from opencode_web_cli.bridge.feed import Feed
from opencode_web_cli.bridge.options import chosen_of, read_choices
from opencode_web_cli.bridge.place import Place, find_place
from opencode_web_cli.bridge.server import Json, Refused, Server, note, session_path
from opencode_web_cli.bridge.sessions import OpenSession
from opencode_web_cli.bridge.updates import commands, plan

MAX_SESSIONS = 32
_PAGE = 100
# Sub-agents start sub-agents, but not without end.
_MAX_DEPTH = 20


class Room:
    """Everything of one connection."""

    def __init__(
        self, server: Server, send: Request, ask: Request, project: str, mirrors: bool
    ) -> None:
        self.server, self._send, self._project = server, send, project
        self.asks = Asks(server, ask, mirrors=mirrors)
        self.sessions: dict[str, OpenSession] = {}
        self._feeds: dict[str, Feed] = {}
        # Of sub-agents.
        self._parents: dict[str, str] = {}
        self._noted: set[str] = set()

    def close(self) -> None:
        """Let go of everything."""
        self.asks.close()
        for feed in self._feeds.values():
            feed.close()

    def find(self, session_id: str) -> OpenSession:
        """Raises: RequestError for one that is not open here."""
        session = self.sessions.get(session_id)
        if session is None:
            raise RequestError(-32602, "Invalid params: session not found", {"id": session_id})
        return session

    async def place_of(self, cwd: str) -> Place:
        """Raises: RequestError, Refused, Lost."""
        return await find_place(self.server, cwd, self._project)

    async def create(self, cwd: str) -> OpenSession:
        """Begin a session of the project of a folder. Raises: RequestError, Refused, Lost."""
        self._require_room()
        place = await self.place_of(cwd)
        info = await self.server.call("POST", "/session", body={}, directory=place.directory)
        return await self._add(info, place)

    async def open(self, session_id: str, cwd: str) -> OpenSession:
        """Open a session that there is. Raises: RequestError, Refused, Lost."""
        if session_id not in self.sessions:
            self._require_room()
        place = await self.place_of(cwd)
        info = await self.server.call("GET", session_path(session_id))
        self._require_place(info, place)
        return await self._add(info, place)

    async def fork(self, session_id: str, cwd: str) -> OpenSession:
        """Copy a session. Raises: RequestError, Refused, Lost."""
        self._require_room()
        place = await self.place_of(cwd)
        self._require_place(await self.server.call("GET", session_path(session_id)), place)
        info = await self.server.call("POST", session_path(session_id, "/fork"), body={})
        return await self._add(info, place)

    async def forget(self, session_id: str) -> None:
        """Close a session here, and stop what this editor has it do. Raises: Refused."""
        session = self.sessions.pop(session_id, None)
        if session is not None and session.turns:
            await turns.stop(session)

    async def listing(self, cwd: str | None, cursor: str | None) -> Json:
        """Returns: a page of sessions, the latest first. Raises: RequestError, Refused, Lost."""
        place = await self.place_of(cwd or str(Path.cwd()))
        before = float(cursor) if cursor and cursor.isdecimal() and len(cursor) < 15 else None
        listed: list[Json] = []
        rows: list[Json] = []
        # Pages of the server have sessions of all projects.
        while len(listed) < _PAGE:
            rows = await self.server.call(
                "GET", "/experimental/session", roots="true", limit=_PAGE, cursor=before
            )
            for row in rows[: _PAGE - len(listed)]:
                before = row["time"]["updated"]
                if row["projectID"] == place.project["id"]:
                    listed.append(_listed(row, place))
            if len(rows) < _PAGE:
                break
        more = {"nextCursor": str(int(before))} if len(rows) == _PAGE and before else {}
        return {"sessions": listed, **more}

    async def introduce(
        self, session: OpenSession, unused: list[str], *, is_new: bool = False
    ) -> None:
        """Tell what comes behind the answer that has opened a session."""
        async with session.lock:
            await session.emit(commands(session.chosen.choices.commands))
            if not is_new and (todos := await session.call("GET", "/todo")):
                await session.emit(plan(todos))
        where = f"{self.server.url}, in {session.directory}"
        if session.paths.is_same_folder:
            await self._tell_once(f"The agent works on {where}.")
        else:
            text = f"The agent works on the files of {where}. Those in {session.cwd} are copies: "
            text += "push what it should see, and pull what it has made."
            await (session.say(f"{text}\n\n") if is_new else self._tell_once(text))
        if unused:
            names = ", ".join(unused)
            note(f"MCP servers of the editor are not used: {names}. Add them to the project.")
        await self._ask_pending([session])

    async def _tell_once(self, text: str) -> None:
        if text not in self._noted:
            self._noted.add(text)
            note(text)

    async def _add(self, info: Json, place: Place) -> OpenSession:
        choices = await read_choices(self.server, info["directory"])
        await self._follow(place)
        known = self.sessions.get(info["id"])
        if known is not None:
            known.open_at(info, place)
            return known
        emit = partial(self._emit, info["id"])
        session = OpenSession(self.server, info, place, chosen_of(info, choices), emit)
        self.sessions[session.id] = session
        return session

    async def _emit(self, session_id: str, update: Json) -> None:
        await self._send("session/update", {"sessionId": session_id, "update": update})

    async def _follow(self, place: Place) -> None:
        worktree = place.project["worktree"]
        feed = self._feeds.get(worktree)
        if feed is None or feed.has_ended:
            gap = partial(self._bridge_gap, place.project["id"])
            feed = self._feeds[worktree] = Feed(self.server, worktree, self._take, gap)
        await feed.opened()

    async def _bridge_gap(self, project_id: str) -> None:
        open_ = [one for one in self.sessions.values() if one.info["projectID"] == project_id]
        for session in open_:
            session.transcript.lose()
            await session.catch_up()
        await self._ask_pending(open_)

    async def _ask_pending(self, sessions: list[OpenSession]) -> None:
        """Put requests to the editor that came while nobody listened."""
        directories = {session.paths.remote for session in sessions}
        for directory in directories:
            for kind in ("/permission", "/question"):
                for request in await self.server.call("GET", kind, directory=directory):
                    await self._asked(request, only=sessions)

    async def _take(self, event: Json) -> None:
        kind, properties = event["type"], event.get("properties") or {}
        session_id = _session_of(properties)
        if kind in ("session.created", "session.updated") and "parentID" in properties["info"]:
            self._parents[properties["info"]["id"]] = properties["info"]["parentID"]
        if kind in ("permission.asked", "question.asked"):
            await self._asked(properties)
        elif kind in ("permission.replied", "question.replied", "question.rejected"):
            self.asks.withdraw(properties["requestID"])
        session = self.sessions.get(session_id)
        if session is None:
            return
        if session.wants_events:
            await self._send("_opencode/event", {"sessionId": session_id, "event": event})
        await session.take(kind, properties)

    async def _asked(self, request: Json, only: list[OpenSession] | None = None) -> None:
        session = await self._asker(request["sessionID"])
        if session is not None and (only is None or session in only):
            self.asks.ask(session, request)

    async def _asker(self, session_id: str) -> OpenSession | None:
        """Returns: the open session that a session is, or is a sub-agent of."""
        for _ in range(_MAX_DEPTH):
            if session_id in self.sessions:
                return self.sessions[session_id]
            if session_id not in self._parents:
                try:
                    info = await self.server.call("GET", session_path(session_id))
                except Refused:
                    return None
                self._parents[session_id] = info.get("parentID", "")
            session_id = self._parents[session_id]
            if not session_id:
                return None
        return None

    def _require_room(self) -> None:
        if len(self.sessions) >= MAX_SESSIONS:
            text = f"at most {MAX_SESSIONS} sessions can be open. Close one first"
            raise RequestError(-32602, f"Invalid params: {text}")

    def _require_place(self, info: Json, place: Place) -> None:
        if info["projectID"] != place.project["id"]:
            text = f"the session is in another project than {place.project['name']}"
            raise RequestError(-32602, f"Invalid params: {text}", {"id": info["id"]})


def _session_of(properties: Json) -> str:
    for holder in (properties, properties.get("part"), properties.get("info")):
        if isinstance(holder, dict) and "sessionID" in holder:
            return str(holder["sessionID"])
    return ""


def _listed(row: Json, place: Place) -> Json:
    paths = place.paths_of(row)
    updated = datetime.fromtimestamp(row["time"]["updated"] / 1000, UTC)
    return {
        "sessionId": row["id"],
        "cwd": paths.to_local(row["directory"]) or paths.local,
        "title": row["title"],
        "updatedAt": updated.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
    }
