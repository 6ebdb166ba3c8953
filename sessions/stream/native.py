"""Stored events as `/api/event` sends them: durable, with their place in the log of their session.

Each is sent in its `session.next` form, if it has one, and as in the first version of the API. The
form that has the place in the log comes once for each stored event.
Source: `V2Event` of OpenCode's HTTP API.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from opencode_web.lib.json import JsonObject, object_of
from sessions.events.bodies import Record
from sessions.stream.durable import position_of, to_durable
from sessions.stream.references import References
from sessions.wire_events import WireEvent, native, stored_event_id

_DURABLE = frozenset(
    {
        *("session.created", "session.updated", "session.deleted", "message.updated"),
        *("message.removed", "message.part.updated", "message.part.removed"),
    }
)


def native_frames(
    session_id: str,
    record: Record,
    events: Sequence[WireEvent],
    *,
    references: References,
    directory: str,
) -> Iterator[JsonObject]:
    """Yield a stored event (`events.live.to_record`) in all of its forms.

    `events` are those of the first version.
    """
    place: JsonObject = {"location": {"directory": directory}}
    form = to_durable(session_id, record, references)
    if form is not None:
        yield {**form, **place}
    is_placed = form is not None
    for number, event in enumerate([*events, *_requests(events)], 1):
        frame = native(event, id=stored_event_id(record, number), directory=directory)
        if event[0] in _DURABLE and not is_placed:
            frame["durable"] = position_of(session_id, record)
            is_placed = True
        yield frame


def _requests(events: Sequence[WireEvent]) -> Iterator[WireEvent]:
    for kind, data in events:
        if kind == "permission.asked":
            yield "permission.v2.asked", _asked(data)
        elif kind.startswith(("permission.", "question.")):
            yield kind.replace(".", ".v2.", 1), data


def _asked(data: JsonObject) -> JsonObject:
    return {
        "id": data["id"],
        "sessionID": data["sessionID"],
        "action": data["permission"],
        "resources": data["patterns"],
        "save": data["always"],
        "metadata": data["metadata"],
        "source": {"type": "tool", **object_of(data, "tool")},
    }
