"""The counts of a session's changes, from those of its turns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import asdict, dataclass, replace
from typing import Any

from django.db.models import Func, JSONField, QuerySet

from opencode_web.lib.json import JsonObject, JsonValue, text_of
from sessions.events.types import SessionEvent, SessionUpdated
from sessions.models import Message, Session

_COUNTED = ("files", "additions", "deletions")


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
    return Counts(*(_count(more, key) for key in _COUNTED)) if isinstance(more, dict) else Counts()


def counts_of(info: JsonObject, *, without: Set[str] = frozenset()) -> Counts:
    """Returns: what the turn of a user message has changed."""
    diffs = [diff for diff in diffs_of(info) if text_of(diff, "file") not in without]
    added, deleted = (sum(_count(one, key) for one in diffs) for key in ("additions", "deletions"))
    return Counts(len(diffs), added, deleted) + rest_of(info)


def session_counts(infos: Iterable[JsonObject], *, without: Set[str] = frozenset()) -> Counts:
    """Returns: what the turns of these user messages have changed together.

    A file counts once, however many of them have changed it; lines count each time. Files in
    `without` do not count.
    """
    total, paths, listed = Counts(), set[str](), 0
    for info in infos:
        names = [text_of(diff, "file") for diff in diffs_of(info)]
        listed += sum(name not in without for name in names)
        paths |= set(names) - without
        total += counts_of(info, without=without)
    return replace(total, files=total.files - listed + len(paths))


def prompts_with_changes(session: Session) -> QuerySet[Message]:
    """The user messages whose turns have changed files and are not rolled back."""
    return Message.objects.visible(session).filter(role="user", data__has_key="summary")


def changed_paths(session: Session) -> set[str]:
    """Returns: the files that turns have changed, as far as they are listed."""
    infos = _without_patches(prompts_with_changes(session))
    return {text_of(diff, "file") for info in infos for diff in diffs_of(info)}


def reverted_paths(session: Session) -> set[str]:
    """Returns: the files that were put back one by one as a whole, and can still come back."""
    return {str(one["file"]) for one in session.file_reverts if not one.get("partly")}


def counts_now(session: Session) -> Counts:
    """Returns: what the session has changed, without the files that were put back one by one.

    One query where there are such files.
    """
    if not (reverted := reverted_paths(session)):
        return Counts(*(_count(session.summary, key) for key in _COUNTED))
    return session_counts(_without_patches(prompts_with_changes(session)), without=reverted)


def _without_patches(prompts: QuerySet[Message]) -> list[JsonObject]:
    named = prompts.values_list(_WithoutPatches("data"), "data__summary__more")
    return [{"summary": {"diffs": diffs, "more": more}} for diffs, more in named]


class _WithoutPatches(Func):
    """The diffs in user messages without their patches, which can be megabytes."""

    template = (
        "(SELECT json_group_array(json_remove(value, '$.patch'))"
        " FROM json_each(%(expressions)s, '$.summary.diffs'))"
    )
    output_field = JSONField()

    def as_postgresql(self, compiler: Any, connection: Any) -> Any:  # Django's own shape
        listed = (
            "(SELECT jsonb_agg(diff - 'patch')"
            " FROM jsonb_path_query(%(expressions)s, '$.summary.diffs[*]') diff)"
        )
        return self.as_sql(compiler, connection, template=listed)


def summary_events(
    session: Session, changed: Mapping[str, JsonObject] | None = None
) -> list[SessionEvent]:
    """Returns: the counts of the session when they are others now.

    `changed`: user messages by id as they are about to be.
    """
    new = changed or {}
    kept = _without_patches(prompts_with_changes(session).exclude(pk__in=new))
    total = session_counts([*kept, *new.values()])
    counts: JsonObject = {**asdict(total)}
    if counts == session.summary or (not total.files and not session.summary):
        return []
    return [SessionUpdated(summary=counts)]


def _count(diff: JsonObject, key: str) -> int:
    value = diff.get(key)
    return value if isinstance(value, int) else 0
