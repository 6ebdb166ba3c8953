"""A session as one JSON document: `{info, messages: [{info, parts, author?}]}`.

It has what the API shows of the session and of its messages, and no settings, keys or events.
Source: the document of OpenCode's `export`; `author`, an e-mail address, is ours.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import AsyncIterator

from opencode_web.lib.db import in_db
from opencode_web.lib.json import JsonObject, JsonValue
from opencode_web.lib.shapes import as_json
from sessions.models import Message, Part, Session
from sessions.secrets import project_redactor
from sessions.wire import message_to_wire, session_to_wire

# Messages that are in memory at a time.
_CHUNK = 200


async def export_pieces(session: Session) -> AsyncIterator[str]:
    """The pieces of the document, of a session with its project loaded."""
    redactor = await in_db(project_redactor, session.project_id)
    info = redactor.json(as_json(session_to_wire(session)), keys=False)
    yield f'{{"info":{_to_text(info)},"messages":['
    last, comma = 0, ""
    while rows := await in_db(_read_chunk, session, last):
        for seq, message in rows:
            last = seq
            # Some of it may have been said before it was made a secret.
            yield comma + _to_text(redactor.json(message, keys=False))
            comma = ","
    yield "]}"


def _read_chunk(session: Session, after: int) -> list[tuple[int, JsonObject]]:
    rows = Message.objects.filter(session=session, seq__gt=after).select_related("author")
    messages = list(rows.order_by("seq")[:_CHUNK])
    parts: dict[str, list[Part]] = defaultdict(list)
    for part in Part.objects.filter(message__in=messages).order_by("seq", "pk"):
        parts[part.message_id].append(part)
    return [
        (row.seq, {**as_json(message_to_wire(row, parts[row.pk])), **_author(row)})
        for row in messages
    ]


def _author(message: Message) -> JsonObject:
    return {"author": message.author.email} if message.author else {}


def _to_text(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
