"""Which files and which steps of a session have changed, as the rows say."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from pathlib import PurePosixPath

from django.db.models import Q, QuerySet

from opencode_web.lib.compiled import CompiledQuery
from sessions.models import Part, Session

# Where the hash of a snapshot stands: before the first change of a step, after a step that was cut
# off, after one that came to its end.
_TYPES = ("step-start", "snapshot", "step-finish")


def _parts_of_steps(session_id: str) -> QuerySet[Part]:
    return (
        Part.objects.filter(session=session_id, type__in=_TYPES)
        .select_related("message")
        .only("data", "message__seq")
        .order_by("message__seq", "seq", "id")
    )


# What the end of each turn asks for.
_PARTS_SINCE = CompiledQuery(
    lambda session_id, seq: _parts_of_steps(session_id).filter(message__seq__gte=seq), str, int
)


@dataclass(frozen=True)
class ChangedStep:
    """The trees before and after a step. `seq` is that of its message.

    `after` is None for the newest step while nobody has looked since: it was cut off.
    """

    message_id: str
    seq: int
    before: str
    after: str | None


def changed_steps(
    session: Session,
    *,
    from_seq: int,
    before_seq: int | None = None,
    message_id: str | None = None,
    unchanged: bool = False,
) -> list[ChangedStep]:
    """Find the steps of the messages from `from_seq` on and before `before_seq`, and of a message.

    Returns: the steps that may have changed something, in order; with `unchanged` also those of
    which it is known that nothing in a snapshot has changed. The changes of sub-agents are in
    the steps that called them.
    """
    rows: Iterable[Part]
    if before_seq is None and message_id is None:
        rows = _PARTS_SINCE.all(session.pk, from_seq)
    else:
        wanted = Q(message__seq__gte=from_seq)
        if before_seq is not None:
            wanted &= Q(message__seq__lt=before_seq)
        if message_id is not None:
            wanted |= Q(message=message_id)
        rows = _parts_of_steps(session.pk).filter(wanted)
    found = [
        (owner, trees)
        for owner, own in groupby(rows, key=lambda row: (row.message_id, row.message.seq))
        if (trees := [str(row.data["snapshot"]) for row in own if row.data.get("snapshot")])
    ]
    steps = []
    for index, ((message, seq), trees) in enumerate(found):
        # What a step that was cut off left is what the next one found.
        following = found[index + 1][1][0] if index + 1 < len(found) else None
        after = trees[-1] if len(trees) > 1 else following
        if unchanged or after != trees[0]:
            steps.append(ChangedStep(message, seq, trees[0], after))
    return steps


def changed_paths(session: Session, *, most_patches: int | None = None) -> list[str]:
    """`most_patches`: how many of the newest steps that changed files are looked at.

    Returns: the files that its agent has changed, from its folder, the last ones first.
    """
    parts = Part.objects.visible(session).filter(type="patch")
    newest = parts.order_by("-seq").values_list("data", flat=True)[:most_patches]
    root = PurePosixPath(session.worktree)
    # Patches name files from the folder; a whole path stays what it is.
    named = [root / str(one) for data in newest for one in data.get("files", [])]
    inside = [str(path.relative_to(root)) for path in named if path.is_relative_to(root)]
    return list(dict.fromkeys(inside))
