"""Resources of MCP servers that people mention in sessions, and which of them have changed.

Servers are asked to say when such a resource changes. What they said is known in this process only,
as the servers are that said it (`mcp_kept`).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import NamedTuple

from opencode_web.lib.db import in_db
from sessions.mcp.servers import MAX_URI_CHARS
from sessions.models import Part, Session
from tools.mcp.pool import Key
from tools.mcp.subscriptions import MAX_SUBSCRIBED

_MAX_KNOWN = 1_000
_MAX_TEXTS = 256


class Mention(NamedTuple):
    """A resource that somebody has mentioned."""

    server: str
    uri: str
    # Nobody when the account is gone.
    author_id: int | None


# By session, server and address: those that have changed since they were read, and the newest text
# of those that were read for that.
_changed: OrderedDict[tuple[str, str, str], None] = OrderedDict()
_texts: OrderedDict[tuple[str, str, str], str] = OrderedDict()


def mentions_in(session: Session) -> list[Mention]:
    """Returns: the resources that a session mentions, the newest first. One query."""
    files = Part.objects.visible(session).filter(type="file", data__source__type="resource")
    found = files.order_by("-seq", "-id").values_list("data__source", "message__author")
    # What was imported may have any shape.
    named = (
        Mention(source.get("clientName"), source.get("uri"), author) for source, author in found
    )
    return list(
        dict.fromkeys(
            one
            for one in named
            if isinstance(one.server, str)
            and isinstance(one.uri, str)
            and len(one.uri) <= MAX_URI_CHARS
        )
    )


async def resources_to_follow(key: Key) -> Sequence[str]:
    """Returns: what a server that has just started is asked to tell the changes of."""
    return await in_db(mentioned_uris, key.session_id, key.name)


def mentioned_uris(session_id: str, server: str) -> Sequence[str]:
    """Returns: the addresses of a server's resources that a session mentions, the newest first."""
    session = Session.objects.filter(pk=session_id).first()
    found = mentions_in(session) if session is not None else ()
    return [one.uri for one in found if one.server == server][:MAX_SUBSCRIBED]


def note_update(key: Key, uri: str) -> None:
    """A resource has changed. However often that is said, it is read once."""
    _changed[key.session_id, key.name, uri] = None
    while len(_changed) > _MAX_KNOWN:
        _changed.popitem(last=False)


def forget_update(session_id: str, server: str, uri: str) -> None:
    """A resource is about to be read: what is said of it from now on counts."""
    _changed.pop((session_id, server, uri), None)
    _texts.pop((session_id, server, uri), None)


def changed_resources(session_id: str) -> set[tuple[str, str]]:
    """Returns: server and address of those that have changed. From any thread."""
    return {(server, uri) for of, server, uri in list(_changed) if of == session_id}


def keep_text(session_id: str, server: str, uri: str, text: str) -> None:
    """Keep what a resource that had changed holds now."""
    _texts[session_id, server, uri] = text
    while len(_texts) > _MAX_TEXTS:
        _texts.popitem(last=False)


def updated_texts(session_id: str) -> dict[tuple[str, str], str]:
    """Returns: what was read of resources that had changed, by server and address. From any
    thread."""
    found = list(_texts.items())
    return {(server, uri): text for (of, server, uri), text in found if of == session_id}
