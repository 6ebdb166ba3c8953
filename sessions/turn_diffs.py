"""The counts of a session's changes, from those of its turns."""

from __future__ import annotations

from opencode_web.lib.json import JsonObject, JsonValue
from sessions.events.types import SessionEvent, SessionUpdated
from sessions.models import Message, Session


def diffs_of(info: JsonObject) -> list[JsonObject]:
    """Returns: the file diffs in a user message."""
    summary = info.get("summary")
    diffs: JsonValue = summary.get("diffs") if isinstance(summary, dict) else None
    return [one for one in diffs if isinstance(one, dict)] if isinstance(diffs, list) else []


def newest_diffs(session: Session) -> list[JsonObject]:
    """Returns: the file diffs of the newest turn that is not rolled back."""
    newest = Message.objects.visible(session).filter(role="user").order_by("-seq").first()
    return diffs_of(newest.data) if newest else []


def summary_events(session: Session) -> list[SessionEvent]:
    """The session's counts once turns were rolled back or came back; none when they stay."""
    rows = Message.objects.visible(session).filter(role="user", data__has_key="summary")
    diffs = [diff for data in rows.values_list("data", flat=True) for diff in diffs_of(data)]
    counts: JsonObject = {
        key: sum(_count(diff, key) for diff in diffs) for key in ("additions", "deletions")
    }
    counts["files"] = len(diffs)
    if counts == session.summary or (not diffs and not session.summary):
        return []
    return [SessionUpdated(summary=counts)]


def _count(diff: JsonObject, key: str) -> int:
    value = diff.get(key)
    return value if isinstance(value, int) else 0
