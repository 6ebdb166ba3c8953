"""What a person can go to from anywhere: pages by their names, sessions by title and by what was
said in them. The same list for the search page and for the palette.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from opencode_web.lib.templatetags.ui import ago
from sessions.browse.fuzzy import is_whole, score
from sessions.models import Project, Session
from sessions.present.frame.rail import build_rows
from sessions.present.pages.files import Addresses
from sessions.present.pages.find_pages import Target, acts, command_pages, settings_pages
from sessions.present.place import Place
from sessions.present.sessions import Row
from sessions.text_search import (
    MAX_QUERY_CHARS,
    ExcerptPiece,
    FoundText,
    find_said,
    find_said_in,
    words_of,
)
from sessions.visibility import oversees, sessions_in
from teams.access import TeamAccess

MAX_SESSIONS = 12
MAX_HITS = 3
# In one session.
MAX_HERE = 200
_MAX_PAGES = 6
# Of commands: more where nothing else is asked for.
_MOST = {"": 8, "commands": 80}
# With fewer letters of "settings" somebody may look for anything.
_MIN_SETTINGS_CHARS = 3
# What a query begins with that is about one kind only.
PREFIXES = {">": "commands", "#": "sessions", "@": "files"}


@dataclass(frozen=True)
class FindEntry:
    """`act` is the id of what a script does where there is no address; `key` that of its shortcut.

    `pieces` are words of a conversation, below the session that they are in; `in_panel`: the page
    that is open has it in its side panel.
    """

    label: str
    url: str
    detail: str = ""
    key: str = ""
    pieces: list[ExcerptPiece] = field(default_factory=list)
    in_panel: bool = False

    @property
    def act(self) -> str:
        return "" if self.url else self.key


@dataclass(frozen=True)
class Section:
    key: str
    label: str
    entries: list[FindEntry]


@dataclass(frozen=True)
class Found:
    """What fits a query; without one, what people do or where they go most.

    `note`: why there are no files.
    """

    query: str
    sections: list[Section]
    note: str = ""

    @property
    def said(self) -> str:
        count = sum(len(section.entries) for section in self.sections)
        return ngettext("%(count)s result", "%(count)s results", count) % {"count": count}


@dataclass(frozen=True)
class HitHere:
    """`turn` and `part` name what the page has when it shows that stretch of the conversation."""

    url: str
    turn: str
    part: str
    pieces: list[ExcerptPiece]


@dataclass(frozen=True)
class FoundHere:
    """What fits in one session, in the order in which it was said. `more`: only these are shown."""

    query: str
    hits: list[HitHere]
    more: bool = False


def load_found_here(session: Session, query: str) -> FoundHere:
    """`session.project.team` should be loaded."""
    query = query[:MAX_QUERY_CHARS].strip()
    place = Place.of(session)
    said = find_said_in(session, query, limit=MAX_HERE + 1)
    hits = [HitHere(_hit_url(place, one), one.prompt, one.part, one.pieces) for one in said]
    return FoundHere(query, hits[:MAX_HERE], more=len(hits) > MAX_HERE)


def load_found(
    access: TeamAccess,
    query: str,
    *,
    acting: Collection[str] = (),
    project: Project | None = None,
    files: Section | None = None,
    note: str = "",
    current: str = "",
) -> Found:
    """`query` may begin with one of `PREFIXES`. It is cut to `MAX_QUERY_CHARS`.

    `acting`: ids of the commands that do something on the page, which is about `project`; `files`:
    what fits among them; `current`: the id of the session that is shown.
    """
    query = query[:MAX_QUERY_CHARS]
    only, text = split_prefix(query)
    commands = sessions = settings = None
    if only in ("", "commands"):
        targets = [*acts(acting), *command_pages(access, project)]
        targets.sort(key=lambda one: one.rank)
        entries = _fitting(targets, text, most=_MOST[only])
        commands = Section("commands", _("Commands"), entries)
    if only in ("", "sessions") and access.sees_work:
        label = _("Sessions") if text else _("Recent sessions")
        sessions = Section("sessions", label, _sessions(access, text, current))
    if only in ("", "commands") and text:
        settings = Section("settings", _("Settings"), _settings(access, text))
    # Without a word: on the page of a session what can be done with it, else what somebody has
    # just left.
    order = [commands, sessions, files, settings]
    if not text and "rename" not in acting:
        order = [sessions, files, commands]
    shown = [one for one in order if one is not None and one.entries]
    # Enter takes the first entry.
    shown.sort(key=lambda one: _distance(one.entries[0].label, text))
    return Found(query, shown, note)


def split_prefix(query: str) -> tuple[str, str]:
    """Returns: the only kind that a query is about, or empty; and what is looked for."""
    only = PREFIXES.get(query[:1], "")
    return only, (query[1:] if only else query).strip()


def file_section(session: Session, paths: Iterable[str], *, is_open: bool) -> Section:
    """Files of a session's folder, each in its files pane. `is_open`: its page is the one shown."""
    pane = Addresses.of(Place.of(session))
    entries = [FindEntry(path, pane.to_page(file=path), key="", in_panel=is_open) for path in paths]
    label = _("Files") if is_open else _("Files of %(project)s") % {"project": session.project.name}
    return Section("files", label, entries)


def _fitting(pages: Iterable[Target], text: str, *, most: int = _MAX_PAGES) -> list[FindEntry]:
    if not text:
        return [_entry(page) for page in [*pages][:most]]
    rated = [(score(text, f"{page.label} {page.words}"), page) for page in pages]
    # Scattered letters fit nearly everything: only a name that has it as a whole is meant.
    fitting = [(rate, page) for rate, page in rated if rate is not None and is_whole(rate, text)]
    fitting.sort(key=lambda one: (_distance(one[1].label, text), -one[0], one[1].label))
    return [_entry(page) for _, page in fitting[:most]]


def _distance(label: str, text: str) -> int:
    """Rate a name: one that begins as typed goes before one with a word that does, and that before
    what only contains it or is found by other words.
    """
    label, text = label.casefold(), text.casefold()
    if label.startswith(text):
        return 0
    return 1 if f" {text}" in label else 2


def _settings(access: TeamAccess, text: str) -> list[FindEntry]:
    """Those that fit; for the word itself all of them, to choose from."""
    pages, typed = settings_pages(access), text.casefold()
    names = ("settings", _("Settings").casefold())
    if len(typed) >= _MIN_SETTINGS_CHARS and any(name.startswith(typed) for name in names):
        return [_entry(page) for page in pages]
    return _fitting(pages, text)


def _entry(page: Target) -> FindEntry:
    detail = " · ".join([*filter(None, [page.whose]), *(f"/{name}" for name in page.names[:1])])
    return FindEntry(page.label, page.url, detail, key=page.key)


def _sessions(access: TeamAccess, text: str, current: str) -> list[FindEntry]:
    rows = sessions_in(access).select_related("project__team", "owner")
    newest = rows.order_by("-active_at", "pk")
    words = words_of(text)
    if not words:
        recent = newest.filter(parent=None, archived_at=None)[:MAX_SESSIONS]
        return [_row_entry(row) for row in build_rows(list(recent))] if not text else []
    titled = newest
    for word in words:
        titled = titled.filter(title__icontains=word)
    said = find_said(access.team, text, among=None if oversees(access.membership) else rows)
    order = dict.fromkeys([*titled.values_list("pk", flat=True)[:MAX_SESSIONS]])
    order |= dict.fromkeys(one.session for one in said)
    # Whoever looks for one wants to go there: the one that they see comes last.
    ids = sorted([*order][:MAX_SESSIONS], key=lambda one: one == current)
    found = rows.in_bulk(ids)
    shown = [found[one] for one in ids if one in found]
    places = {one.pk: Place.of(one) for one in shown}
    entries = list[FindEntry]()
    for row in build_rows(shown):
        entries.append(_row_entry(row, is_archived=bool(found[row.id].archived_at)))
        hits = [one for one in said if one.session == row.id][:MAX_HITS]
        entries += [FindEntry("", _hit_url(places[row.id], one), pieces=one.pieces) for one in hits]
    return entries


def _row_entry(row: Row, *, is_archived: bool = False) -> FindEntry:
    words = (_("archived") if is_archived else "", row.kind, row.project, ago(row.updated))
    return FindEntry(row.title, row.url, " · ".join(filter(None, words)))


def _hit_url(place: Place, said: FoundText) -> str:
    # A prompt is where its turn begins.
    part = said.part if said.message != said.prompt else ""
    return place.message_url(said.message, turn=said.prompt, part=part)
