"""What is rolled back, and what can be done with one turn."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext

from opencode_web.lib.json import JsonObject, object_of, text_of
from sessions.changes.turn_diffs import Counts, diffs_of, rest_of
from sessions.events.removal import Restored
from sessions.models import Message, Session
from sessions.present.place import Place
from sessions.present.stored_text import stored_text

_LISTED = 50
# What a rollback does with a file that a turn has added, and with any other.
_BACK = {"added": gettext_noop("removed"), "deleted": gettext_noop("comes back")}


@dataclass(frozen=True)
class FileLine:
    """A file and what becomes of it, in a few words."""

    path: str
    what: str


@dataclass(frozen=True)
class Reverted:
    """The line above the message field, and what there is to know about files."""

    text: str
    restore_url: str
    files: list[FileLine] = field(default_factory=list)
    kept: list[FileLine] = field(default_factory=list)
    more: int = 0
    note: str = ""


@dataclass(frozen=True)
class TurnMenu:
    """`id` is the turn's. `files` are those that a rollback to before it puts back, and `messages`
    how many of people it hides."""

    id: str
    fork_url: str
    revert_url: str
    delete_url: str
    messages: int
    files: list[FileLine] = field(default_factory=list)
    more: int = 0


def load_reverted(session: Session) -> Reverted | None:
    """Returns: None while nothing is rolled back."""
    if session.hidden_from is None:
        return None
    count = Message.objects.hidden(session).filter(role="user").count()
    # An answer can be rolled back from its middle on, without any message of a person.
    stored = object_of(session.revert, "restored")
    done = Restored.model_validate(stored) if stored else Restored()
    files = [FileLine(one.file, _done(one.status, meanwhile=one.meanwhile)) for one in done.files]
    if count:
        said = ngettext("%(count)s message rolled back", "%(count)s messages rolled back", count)
        words = [said % {"count": count}]
    else:
        words = [_("The end of the answer is rolled back")]
    if done.total:
        said = ngettext("%(count)s file restored", "%(count)s files restored", done.total)
        words.append(said % {"count": done.total})
    if done.kept:
        kept = len(done.kept)
        said = ngettext("%(count)s not restored", "%(count)s not restored", kept)
        words.append(said % {"count": kept})
    return Reverted(
        " · ".join(words),
        Place.of(session).url("restore"),
        files=files[:_LISTED],
        kept=[FileLine(one.file, one.reason) for one in done.kept[:_LISTED]],
        more=max(0, done.total - _LISTED),
        note=stored_text(done.cause, done.note),
    )


def _done(status: str, *, meanwhile: bool) -> str:
    words = {"added": _("came back"), "deleted": _("removed")}.get(status, _("as it was"))
    return _("%(what)s; somebody had changed it since") % {"what": words} if meanwhile else words


def build_turn_menu(session: Session, turn_id: str, *, from_seq: int) -> TurnMenu:
    """`from_seq`: where a rollback to before the turn begins."""
    place = Place.of(session)
    later = Message.objects.visible(session).filter(role="user", seq__gte=from_seq)
    rows = later.filter(data__has_key="summary").order_by("seq").values_list("data", flat=True)
    found = list(rows)
    files = list(_going_back(found))
    unlisted = sum((rest_of(data) for data in found), Counts()).files
    return TurnMenu(
        id=turn_id,
        fork_url=place.url("turn_fork", turn=turn_id),
        revert_url=place.url("turn_revert", turn=turn_id),
        delete_url=place.url("turn_delete", turn=turn_id),
        messages=later.count(),
        files=files[:_LISTED],
        more=max(0, len(files) - _LISTED) + unlisted,
    )


def _going_back(prompts: Iterable[JsonObject]) -> Iterable[FileLine]:
    """The first change of a file since then says what undoing all of them does."""
    first: dict[str, str] = {}
    for data in prompts:
        for diff in diffs_of(data):
            first.setdefault(text_of(diff, "file"), text_of(diff, "status"))
    for path, status in sorted(first.items()):
        yield FileLine(path, _(_BACK.get(status, gettext_noop("as it was"))))
