"""Which steps of a session have changed files, as the snapshots around them, from the rows."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

from django.db.models import Q

from sessions.models import Part, Session

# Where the hash of a snapshot stands: before the first change of a step, after a step that was cut
# off, after one that came to its end.
_TYPES = ("step-start", "snapshot", "step-finish")


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
    wanted = Q(message__seq__gte=from_seq)
    if before_seq is not None:
        wanted &= Q(message__seq__lt=before_seq)
    if message_id is not None:
        wanted |= Q(message=message_id)
    rows = (
        Part.objects.filter(wanted, session=session, type__in=_TYPES)
        .order_by("message__seq", "seq", "id")
        .values_list("message_id", "message__seq", "data")
    )
    found = [
        (owner, trees)
        for owner, own in groupby(rows, key=lambda row: row[:2])
        if (trees := [str(data["snapshot"]) for *_, data in own if data.get("snapshot")])
    ]
    steps = []
    for index, ((message, seq), trees) in enumerate(found):
        # What a step that was cut off left is what the next one found.
        following = found[index + 1][1][0] if index + 1 < len(found) else None
        after = trees[-1] if len(trees) > 1 else following
        if unchanged or after != trees[0]:
            steps.append(ChangedStep(message, seq, trees[0], after))
    return steps
