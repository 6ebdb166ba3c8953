"""What one client of a person tells the others of the same person. Nothing of it is stored."""

from __future__ import annotations

from opencode_web.lib.bus import publish
from opencode_web.lib.db import in_db
from opencode_web.lib.errors import Unavailable
from opencode_web.lib.json import JsonObject
from sessions.events.bodies import ToldBody
from sessions.stream.hub import Overflow
from sessions.stream.rights import watch_rights
from teams.access import ACCESS_CHANGED, user_group
from teams.auth import Principal, require_live
from teams.models import User


def tell_clients(user: User, kind: str, properties: JsonObject, *, path: str) -> None:
    """Send an event to the streams of a person, and to whoever waits by `next_request`."""
    body: ToldBody = {"t": "tui", "type": kind, "properties": properties, "path": path}
    publish(user_group(user.pk), body)


async def next_request(principal: Principal) -> JsonObject:
    """Wait for the next call of `tell_clients`, for as long as the caller stays.

    Returns: `{path, body}`. Raises: Unauthorized once the token or sign-in has ended; Unavailable
    for a caller who has missed something.
    """
    async with watch_rights(principal) as bodies:
        while True:
            try:
                body = await anext(bodies)
            except Overflow as exc:
                raise Unavailable(
                    "Part of the output was lost. Reconnect to load it again."
                ) from exc
            if body["t"] == "tui":
                return {"path": body["path"], "body": body["properties"]}
            if body["t"] == ACCESS_CHANGED:
                await in_db(require_live, principal)
