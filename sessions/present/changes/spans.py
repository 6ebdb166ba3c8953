"""The snapshots around what the log tells of: one diff for several edits, with all the lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from opencode_web.lib.diff_html import plain_lines
from sessions.browse.spans import SpanCounts, SpanDiff
from sessions.changes.steps import changed_steps
from sessions.models import Message, Session
from sessions.present.changes.entries import Asked, ChangeEntry, Source, changing_prompts


@dataclass(frozen=True)
class Span:
    """The trees before the first change and after the last."""

    before: str
    after: str


def span_of(session: Session, asked: Asked) -> Span | None:
    """Returns: None where the log does not name both."""
    whole = not asked.turn and asked.source is Source.SESSION
    prompts = changing_prompts(session, turn=asked.turn, whole=whole)
    seqs = list(prompts.values_list("seq", flat=True))
    if not seqs:
        return None
    later = Message.objects.visible(session).filter(role="user", seq__gt=seqs[0])
    end = later.order_by("seq").values_list("seq", flat=True).first()
    before_seq = session.visible_before if end is None else end
    steps = changed_steps(session, from_seq=seqs[-1], before_seq=before_seq)
    if not steps or steps[-1].after is None:
        return None
    return Span(steps[0].before, steps[-1].after)


def has_more(session: Session, asked: Asked) -> bool:
    """Whether more lines of a file are known than its diff has."""
    return bool(asked.git_mode) or span_of(session, asked) is not None


def is_combined(entry: ChangeEntry) -> bool:
    """Whether one diff says what the patches of several turns say."""
    return len(entry.patches) > 1


def is_whole(entry: ChangeEntry) -> bool:
    """Whether its one patch is all of the change: of a long one the log has the beginning."""
    changed = sum(None in (line.old, line.new) for line in plain_lines("".join(entry.patches)))
    return not is_combined(entry) and any(entry.patches) and changed == entry.added + entry.removed


def with_counts(entries: Sequence[ChangeEntry], counts: Sequence[SpanCounts]) -> list[ChangeEntry]:
    """The same files, with what is counted between the first and the last state."""
    rows = {row["file"]: row for row in counts}
    return [
        _counted(entry, rows.get(entry.path)) if is_combined(entry) else entry for entry in entries
    ]


def _counted(entry: ChangeEntry, counts: SpanCounts | None) -> ChangeEntry:
    if counts is None:
        return replace(entry, added=0, removed=0)
    if entry.status == "renamed" and counts["status"] != "renamed":
        # Too little is left of the file for Git to see it. The log knows each edit.
        return entry
    return replace(
        entry,
        status=counts["status"],
        added=counts["additions"],
        removed=counts["deletions"],
    )


def with_span(entry: ChangeEntry, wire: SpanDiff) -> ChangeEntry:
    """The same file with its whole change as one patch."""
    patch = wire["patch"]
    lines = list(plain_lines(patch))
    return replace(
        entry,
        added=sum(line.old is None for line in lines),
        removed=sum(line.new is None for line in lines),
        binary=wire["binary"],
        large=False,
        patches=(patch,),
    )
