"""How a changed file goes back, and how what went back comes back again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from sessions.models import Session
from sessions.present.changes.entries import Asked, ChangeEntry, Source
from sessions.present.changes.file_diff import file_id, file_names
from sessions.present.place import Place


@dataclass(frozen=True)
class Revert:
    """A form. `says` is what becomes of the file, `lost` what is thrown away with it."""

    url: str
    names: dict[str, str]
    says: str
    lost: str


@dataclass(frozen=True)
class Undo:
    """A form. `id` is that of the file's card, whether one is shown or not."""

    id: str
    path: str
    url: str


def build_revert(entry: ChangeEntry, place: Place, asked: Asked) -> Revert | None:
    """Returns: None where a file cannot go back by itself."""
    if entry.turn:
        names = {"file": entry.path, "old": entry.old, "turn": entry.turn}
        lost = _("Later changes to it are reverted, too. You can undo this until the next message.")
        is_whole = asked.source is Source.SESSION and not asked.turn
        says = _before_session(entry) if is_whole else _before_turn(entry)
        return Revert(place.url("file_revert"), names, says, lost)
    if asked.turn or asked.source is not Source.UNCOMMITTED:
        return None
    names = {**file_names(entry, asked), "looked": entry.stamp}
    return Revert(place.url("review_revert"), names, _committed(entry), _lost(entry))


def build_undos(session: Session, place: Place) -> list[Undo]:
    """For every file that was put back, or lines of it, and can come back, by name."""
    url = place.url("file_undo")
    paths = sorted(str(one["file"]) for one in session.file_reverts)
    return [Undo(file_id(path), path, url) for path in paths]


def without(undos: Sequence[Undo], page: Sequence[ChangeEntry]) -> list[Undo]:
    """Those of files that have no card on the page to be undone at."""
    shown = {entry.path for entry in page}
    return [undo for undo in undos if undo.path not in shown]


def _before_session(entry: ChangeEntry) -> str:
    if entry.status == "added":
        return _("The file is removed, because it did not exist before this session.")
    if entry.status == "renamed":
        text = _(
            "%(file)s is removed, and %(old)s is restored to its state before this session "
            "changed it."
        )
        return text % {"file": entry.path, "old": entry.old}
    return _("The file is restored to its state before this session changed it.")


def _before_turn(entry: ChangeEntry) -> str:
    if entry.status == "added":
        return _("The file is removed, because it did not exist before this turn.")
    if entry.status == "renamed":
        text = _("%(file)s is removed, and %(old)s is restored to its state before this turn.")
        return text % {"file": entry.path, "old": entry.old}
    return _("The file is restored to its state before this turn.")


def _committed(entry: ChangeEntry) -> str:
    match entry.status:
        case "added":
            return _("The file is removed, because it is not in the last commit.")
        case "deleted":
            return _("The file is restored from the last commit.")
        case "renamed":
            names = {"file": entry.path, "old": entry.old}
            return _("%(file)s is removed, and %(old)s is restored from the last commit.") % (names)
    return _("The file is reset to the last commit.")


def _lost(entry: ChangeEntry) -> str:
    if entry.binary or not entry.added + entry.removed:
        return _("Its current content is discarded. You can undo this until the next message.")
    return _(
        "The changes shown here (+%(added)s -%(removed)s) are discarded, no matter who "
        "made them. You can undo this until the next message."
    ) % {"added": entry.added, "removed": entry.removed}
