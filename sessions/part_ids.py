"""The order of the parts of a message, which clients read from their ids."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import pairwise

from opencode_web.lib.compiled import CompiledRows
from opencode_web.lib.ids import new_id, new_id_between
from sessions.events.parts import AnyPart
from sessions.models import Part

_PART = CompiledRows(lambda part_id: Part.objects.filter(pk=part_id).values_list("pk"), str)


def is_any_taken(ids: Iterable[str]) -> bool:
    """Returns: whether one of these is the id of a part that there is."""
    return any(_PART.all(part_id) for part_id in ids)


def with_ascending_ids(parts: list[AnyPart], *, given: Collection[str] = ()) -> list[AnyPart]:
    """Returns: the parts with ids that sort in the order of the parts.

    Clients know the `given` ids, so these stay unless they contradict the order themselves.
    """
    ids = [part.id for part in parts]
    if all(one < other for one, other in pairwise(ids)):
        return parts
    try:
        fitted = _fitted(ids, given)
    except ValueError:
        fitted = [new_id("prt") for _ in parts]
    return [
        part.model_copy(update={"id": part_id}) for part, part_id in zip(parts, fitted, strict=True)
    ]


def _fitted(ids: list[str], given: Collection[str]) -> list[str]:
    """Raises: ValueError."""
    # For each id the next one behind it that has to stay.
    following, bounds = "", list[str]()
    for part_id in reversed(ids):
        bounds.append(following)
        following = part_id if part_id in given else following
    fitted: list[str] = []
    for part_id, before in zip(ids, reversed(bounds), strict=True):
        after = fitted[-1] if fitted else ""
        if part_id not in given:
            fitted.append(new_id_between("prt", after=after, before=before))
        elif after < part_id:
            fitted.append(part_id)
        else:
            raise ValueError(f"{part_id} has to come after {after}")
    return fitted
