"""What stored events refer to by id, and clients of the second version of the API are told whole.

Synchronous: call it through `in_db` or `in_view_db`.
"""

from __future__ import annotations

from collections.abc import Iterable

from opencode_web.lib.json import JsonObject, text_of
from opencode_web.lib.shapes import as_json
from sessions.events.bodies import Record
from sessions.models import Part, SessionInput
from sessions.wire import prompt_to_wire

# By the id of a prompt or summary: the fields that its event has besides.
References = dict[str, JsonObject]

_PROMOTED, _COMPACTED = "input.promoted", "session.compacted"


def needs_references(record: Record) -> bool:
    """Whether a stored event (`events.live.to_record`) refers to anything."""
    return record["type"] in (_PROMOTED, _COMPACTED)


def read_references(session_id: str, records: Iterable[Record]) -> References:
    """Look up what stored events of a session refer to; no query where they refer to nothing.

    Returns: nothing for what is gone.
    """
    promoted, compacted = [], []
    for record in records:
        if record["type"] == _PROMOTED:
            promoted.append(text_of(record["data"], "id"))
        elif record["type"] == _COMPACTED:
            compacted.append(record["data"])
    references = _prompts(session_id, promoted) if promoted else {}
    return references | _summaries(session_id, compacted) if compacted else references


def _prompts(session_id: str, ids: list[str]) -> References:
    rows = SessionInput.objects.filter(session=session_id, pk__in=ids)
    return {
        row.pk: {"prompt": as_json(prompt_to_wire(row.data["parts"])), "delivery": row.delivery}
        for row in rows
    }


def _summaries(session_id: str, events: list[JsonObject]) -> References:
    ids = [text_of(event, key) for event in events for key in ("message_id", "summary_id")]
    rows = Part.objects.filter(session=session_id, message__in=ids, type__in=["text", "compaction"])
    texts: dict[str, list[str]] = {}
    reasons: dict[str, str] = {}
    for row in rows.order_by("seq", "id"):
        if row.type == "text":
            texts.setdefault(row.message_id, []).append(text_of(row.data, "text"))
        else:
            reasons[row.message_id] = "auto" if row.data["auto"] else "manual"
    found: References = {}
    for event in events:
        asked, summary = text_of(event, "message_id"), text_of(event, "summary_id")
        if asked in reasons and summary in texts:
            # What is kept word for word stays in messages of its own.
            text = "\n\n".join(texts[summary])
            found[summary] = {"reason": reasons[asked], "text": text, "recent": ""}
    return found
