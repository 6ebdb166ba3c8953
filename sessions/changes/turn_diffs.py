"""The counts of a session's changes, from those of its turns."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence, Set
from dataclasses import asdict, dataclass
from typing import Any

from django.db.models import Func, JSONField, QuerySet

from opencode_web.lib.json import JsonObject, JsonValue, list_of, text_of
from sessions.events.types import SessionEvent, SessionUpdated
from sessions.models import Message, Session

_COUNTED = ("files", "additions", "deletions")


def diffs_of(info: JsonObject) -> list[JsonObject]:
    """Returns: the file diffs in a user message."""
    summary = info.get("summary")
    diffs: JsonValue = summary.get("diffs") if isinstance(summary, dict) else None
    return [one for one in diffs if isinstance(one, dict)] if isinstance(diffs, list) else []


def changes_of(info: JsonObject, *, taken: Container[str] = ()) -> list[JsonObject]:
    """Returns: as `diffs_of`, with one diff, which has its `old` name, for the two of a renamed
    file; not of one whose new name is `taken`."""
    summary = info.get("summary")
    listed = list_of(summary, "renames") if isinstance(summary, dict) else []
    found = [one for one in listed if isinstance(one, dict)]
    renamed = {name: one for one in found if (name := text_of(one, "file")) not in taken}
    gone = {text_of(one, "old") for one in renamed.values()}
    diffs = ((text_of(diff, "file"), diff) for diff in diffs_of(info))
    return [renamed.get(name, diff) for name, diff in diffs if name not in gone]


def follow_files(
    turns: Iterable[tuple[str, JsonObject]],
) -> dict[str, list[tuple[str, JsonObject]]]:
    """`turns`: the ids of prompts and the prompts, the oldest first.

    Returns: what the turns have done to each file, by the name it has now; to one that was renamed
    and deleted, by its first.
    """
    found: dict[str, list[tuple[str, JsonObject]]] = {}
    for prompt, info in turns:
        for diff in changes_of(info, taken={*found}):
            name = text_of(diff, "file")
            own = [*found.pop(text_of(diff, "old") or name, ()), (prompt, diff)]
            if text_of(diff, "status") == "deleted" and (first := first_name(own)) not in found:
                name = first
            found[name] = own
    return found


def first_name(own: Sequence[tuple[str, JsonObject]]) -> str:
    """Returns: the name that a file had before these changes of it."""
    diff = own[0][1]
    return text_of(diff, "old") or text_of(diff, "file")


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


def counts_of(info: JsonObject) -> Counts:
    """Returns: what the turn of a user message has changed."""
    return session_counts([info])


def session_counts(infos: Sequence[JsonObject], *, without: Set[str] = frozenset()) -> Counts:
    """Returns: what the turns of these user messages, the oldest first, have changed together.

    A file counts once, however many of them have changed it; lines count each time. Files in
    `without` do not count.
    """
    followed = follow_files(("", info) for info in infos)
    kept = [own for name, own in followed.items() if name not in without]
    added, deleted = (
        sum(_count(diff, key) for own in kept for _, diff in own)
        for key in ("additions", "deletions")
    )
    return sum(map(rest_of, infos), Counts(len(kept), added, deleted))


def prompts_with_changes(session: Session) -> QuerySet[Message]:
    """The user messages whose turns have changed files and are not rolled back."""
    return Message.objects.visible(session).filter(role="user", data__has_key="summary")


def changed_paths(session: Session) -> set[str]:
    """Returns: the files that turns have changed, as far as they are listed."""
    return {*follow_files(_without_patches(prompts_with_changes(session)))}


def reverted_paths(session: Session) -> set[str]:
    """Returns: the files that were put back one by one as a whole, and can still come back."""
    return {str(one["file"]) for one in session.file_reverts if not one.get("partly")}


def counts_now(session: Session) -> Counts:
    """Returns: what the session has changed, without the files that were put back one by one.

    One query where there are such files.
    """
    if not (reverted := reverted_paths(session)):
        return Counts(*(_count(session.summary, key) for key in _COUNTED))
    infos = [info for _, info in _without_patches(prompts_with_changes(session))]
    return session_counts(infos, without=reverted)


def is_changed_since(session: Session, prompt: Message, file: str, old: str) -> bool:
    """Whether the turn of a prompt has changed a file, which was called `old` before and got its
    name then or later; without `old`, as the file is called there."""
    if not old:
        return any(diff.get("file") == file for diff in diffs_of(prompt.data))
    later = prompts_with_changes(session).filter(seq__gte=prompt.seq)
    for turns in (later.filter(pk=prompt.pk), later):
        own = follow_files(_without_patches(turns)).get(file)
        if own and own[0][0] == prompt.pk and first_name(own) == old:
            return True
    return False


def _without_patches(prompts: QuerySet[Message]) -> list[tuple[str, JsonObject]]:
    """Returns: as `follow_files` takes them."""
    diffs, renames = _WithoutPatches("data", key="diffs"), _WithoutPatches("data", key="renames")
    named = prompts.order_by("seq").values_list("pk", diffs, renames, "data__summary__more")
    return [
        (pk, {"summary": {"diffs": diffs, "renames": renames, "more": more}})
        for pk, diffs, renames, more in named
    ]


class _WithoutPatches(Func):
    """The diffs in user messages without their patches, which can be megabytes. `key`: of the
    summary."""

    template = (
        "(SELECT json_group_array(json_remove(value, '$.patch'))"
        " FROM json_each(%(expressions)s, '$.summary.%(key)s'))"
    )
    output_field = JSONField()

    def as_postgresql(self, compiler: Any, connection: Any) -> Any:  # Django's own shape
        listed = (
            "(SELECT jsonb_agg(diff - 'patch')"
            " FROM jsonb_path_query(%(expressions)s, '$.summary.%(key)s[*]') diff)"
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
    total = session_counts([*(info for _, info in kept), *new.values()])
    counts: JsonObject = {**asdict(total)}
    if counts == session.summary or (not total.files and not session.summary):
        return []
    return [SessionUpdated(summary=counts)]


def _count(diff: JsonObject, key: str) -> int:
    value = diff.get(key)
    return value if isinstance(value, int) else 0
