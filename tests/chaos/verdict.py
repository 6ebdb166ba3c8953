"""What must hold after every fault, whatever it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sessions.models import Event, Message, Part, Session
from tests.sessions.projection import assert_log_equals_rows


def complaints(
    session_id: str, *, acknowledged: set[str], effects: list[str], file: Path, compacted: bool
) -> list[str]:
    """Returns: what is wrong with a session that ought to be idle, nothing if all is well."""
    session = Session.objects.get(pk=session_id)
    found = [
        *_stuck(session),
        *_log(session),
        *_prompts(session, acknowledged),
        *_open(session),
        *_doubled(session, effects, file),
        *_compacted(session, compacted),
    ]
    try:
        assert_log_equals_rows(session)
    except AssertionError as exc:
        found.append(f"the log does not fold to the rows: {str(exc)[:500]}")
    return found


def _compacted(session: Session, expected: bool) -> list[str]:
    """A summary takes effect once at most, and whole."""
    rows = list(session.compactions.order_by("seq"))
    if len(rows) > 1 or (expected and not rows):
        return [f"it was compacted {len(rows)} times"]
    texts = [part.data["text"] for row in rows for part in row.summary.parts.filter(type="text")]
    return [] if texts in ([], ["Notes. " * 5]) else [f"the summary is {texts}"]


def _stuck(session: Session) -> list[str]:
    return [] if session.state == "idle" else [f"it is {session.state}"]


def _log(session: Session) -> list[str]:
    numbers = list(
        Event.objects.filter(session=session).order_by("seq").values_list("seq", flat=True)
    )
    whole = list(range(1, len(numbers) + 1))
    return [] if numbers == whole and session.seq == len(numbers) else ["the log has a gap"]


def _prompts(session: Session, acknowledged: set[str]) -> list[str]:
    """Everything that was acknowledged is in the history, once, and an answer follows it."""
    rows = list(session.messages.order_by("seq"))
    places = {row.pk: row.seq for row in rows if row.role == "user"}
    # A compaction puts a message of its own between a prompt and its answer.
    answers = [row for row in rows if row.role == "assistant" and not row.data.get("summary")]
    newest = max((row.seq for row in answers), default=0)
    return [
        *(f"the acknowledged prompt {lost} is lost" for lost in acknowledged - places.keys()),
        *(
            f"the prompt {one} has no answer"
            for one in acknowledged & places.keys()
            if places[one] > newest
        ),
    ]


def _open(session: Session) -> list[str]:
    answers = session.messages.filter(role="assistant")
    calls = Part.objects.filter(session=session, type="tool")
    return [
        *(
            f"the message {row.pk} is open"
            for row in answers
            if "completed" not in row.data["time"]
        ),
        *(
            f"the call {row.pk} is {_state(row.data)}"
            for row in calls
            if _state(row.data) in ("pending", "running")
        ),
    ]


def _doubled(session: Session, effects: list[str], file: Path) -> list[str]:
    lines = file.read_text().split() if file.exists() else []
    found = [
        f"the effect {effect} happened {lines.count(effect)} times"
        for effect in effects
        if lines.count(effect) > 1
    ]
    for effect in effects:
        states = [_state(part) for part in _calls(session, effect)]
        if "completed" in states and effect not in lines:
            found.append(f"the effect {effect} is reported but did not happen")
    return found


def _calls(session: Session, effect: str) -> list[dict[str, Any]]:
    rows = Part.objects.filter(session=session, type="tool")
    return [
        row.data
        for row in rows
        # A batch is made of calls of their own.
        if row.data["tool"] != "batch" and effect in str(row.data["state"].get("input"))
    ]


def _state(part: dict[str, Any]) -> str:
    return str(part["state"]["status"])


def newest_text(session_id: str) -> str:
    """Returns: the text of the newest answer."""
    row = Message.objects.filter(session=session_id, role="assistant").order_by("-seq").first()
    parts = row.parts.filter(type="text").order_by("seq") if row else []
    return "".join(part.data["text"] for part in parts)
