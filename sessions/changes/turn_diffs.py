"""The counts of a session's changes, from those of its turns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace

from django.db.models import QuerySet

from opencode_web.lib.json import JsonObject, JsonValue, text_of
from sessions.events.types import SessionEvent, SessionUpdated
from sessions.models import Message, Session


def diffs_of(info: JsonObject) -> list[JsonObject]:
    """Returns: the file diffs in a user message."""
    summary = info.get("summary")
    diffs: JsonValue = summary.get("diffs") if isinstance(summary, dict) else None
    return [one for one in diffs if isinstance(one, dict)] if isinstance(diffs, list) else []


def newest_prompt(session: Session) -> JsonObject:
    """Returns: the user message of the newest turn that is not rolled back; empty without one."""
    prompts = Message.objects.visible(session).filter(role="user").order_by("-seq")
    return prompts.values_list("data", flat=True).first() or {}


def newest_diffs(session: Session) -> list[JsonObject]:
    """Returns: the file diffs of the newest turn that is not rolled back."""
    return diffs_of(newest_prompt(session))


@dataclass(frozen=True)
class Counts:
    """Of changed files, also of those that are not listed."""

    files: int = 0
    additions: int = 0
    deletions: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            self.files + other.files,
            self.additions + other.additions,
            self.deletions + other.deletions,
        )


def rest_of(info: JsonObject) -> Counts:
    """Returns: the counts of the files of a user message that are not among its diffs."""
    summary = info.get("summary")
    more: JsonValue = summary.get("more") if isinstance(summary, dict) else None
    keys = ("files", "additions", "deletions")
    return Counts(*(_count(more, key) for key in keys)) if isinstance(more, dict) else Counts()


def counts_of(info: JsonObject) -> Counts:
    """Returns: what the turn of a user message has changed."""
    diffs = diffs_of(info)
    added, deleted = (sum(_count(one, key) for one in diffs) for key in ("additions", "deletions"))
    return Counts(len(diffs), added, deleted) + rest_of(info)


def session_counts(infos: Iterable[JsonObject]) -> Counts:
    """Returns: what the turns of these user messages have changed together.

    A file counts once, however many of them have changed it; lines count each time.
    """
    total, paths, listed = Counts(), set[str](), 0
    for info in infos:
        diffs = diffs_of(info)
        paths |= {text_of(diff, "file") for diff in diffs}
        listed += len(diffs)
        total += counts_of(info)
    return replace(total, files=total.files - listed + len(paths))


def prompts_with_changes(session: Session) -> QuerySet[Message]:
    """The user messages whose turns have changed files and are not rolled back."""
    return Message.objects.visible(session).filter(role="user", data__has_key="summary")


def summary_events(
    session: Session, changed: Mapping[str, JsonObject] | None = None
) -> list[SessionEvent]:
    """Returns: the counts of the session when they are others now.

    `changed`: user messages by id as they are about to be.
    """
    new = changed or {}
    kept = prompts_with_changes(session).exclude(pk__in=new).values_list("data", flat=True)
    total = session_counts([*kept, *new.values()])
    counts: JsonObject = {**asdict(total)}
    if counts == session.summary or (not total.files and not session.summary):
        return []
    return [SessionUpdated(summary=counts)]


def _count(diff: JsonObject, key: str) -> int:
    value = diff.get(key)
    return value if isinstance(value, int) else 0
