"""What a person can go to from anywhere: pages by their names, sessions by title and by what was
said in them. The same list for the search page and for the palette.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from django.urls import reverse

from sessions.browse.fuzzy import score
from sessions.models import Project, Session
from sessions.present.place import Place
from sessions.present.projects import labels_of, project_url
from sessions.present.rail import build_rows
from sessions.present.sessions import Row
from sessions.text_search import MAX_QUERY_CHARS, Piece, Said, find_said, words_of
from teams.access import TeamAccess
from teams.models import Role

MAX_SESSIONS = 12
MAX_HITS = 3
_MAX_PAGES = 6
# What a query begins with that is about one kind only.
PREFIXES = {">": "commands", "#": "sessions"}


@dataclass(frozen=True)
class Page:
    """`key` is its shortcut, `words` what it is found by beside its name."""

    label: str
    url: str
    key: str = ""
    words: str = ""


@dataclass(frozen=True)
class Hit:
    url: str
    pieces: list[Piece]


@dataclass(frozen=True)
class FoundSession:
    row: Row
    hits: list[Hit] = field(default_factory=list)


@dataclass(frozen=True)
class Found:
    """What fits a query; without one, where people go most: recent sessions and commands."""

    query: str
    commands: list[Page]
    sessions: list[FoundSession]
    settings: list[Page]

    @property
    def is_empty(self) -> bool:
        return not (self.commands or self.sessions or self.settings)


def load_found(access: TeamAccess, query: str) -> Found:
    """`query` may begin with one of `PREFIXES`. It is cut to `MAX_QUERY_CHARS`."""
    query = query[:MAX_QUERY_CHARS]
    only = PREFIXES.get(query[:1], "")
    text = (query[1:] if only else query).strip()
    commands = _fitting(_commands(access), text) if only in ("", "commands") else []
    settings = _fitting(_settings(access), text) if only == "" and text else []
    sessions = _sessions(access, text) if only in ("", "sessions") else []
    return Found(query, commands, sessions, settings)


def _fitting(pages: Iterable[Page], text: str) -> list[Page]:
    if not text:
        return [*pages][:_MAX_PAGES]
    rated = [(score(text, f"{page.label} {page.words}"), page) for page in pages]
    # Scattered letters fit nearly everything: only a name that has it as a whole is meant.
    fitting = [(rate, page) for rate, page in rated if rate is not None and rate > 2_500]
    fitting.sort(key=lambda one: (-one[0], one[1].label))
    return [page for _, page in fitting[:_MAX_PAGES]]


def _sessions(access: TeamAccess, text: str) -> list[FoundSession]:
    rows = Session.objects.filter(project__team=access.team).select_related(
        "project__team", "owner"
    )
    newest = rows.order_by("-updated_at", "pk")
    words = words_of(text)
    if not words:
        recent = newest.filter(parent=None, archived_at=None)[:MAX_SESSIONS]
        return [FoundSession(row) for row in build_rows(list(recent))] if not text else []
    titled = newest
    for word in words:
        titled = titled.filter(title__icontains=word)
    said = find_said(access.team, text)
    order = dict.fromkeys([*titled.values_list("pk", flat=True)[:MAX_SESSIONS]])
    order |= dict.fromkeys(one.session for one in said)
    ids = [*order][:MAX_SESSIONS]
    found = rows.in_bulk(ids)
    shown = [found[one] for one in ids if one in found]
    places = {one.pk: Place.of(one) for one in shown}
    return [
        FoundSession(
            row, [_hit(places[row.id], one) for one in said if one.session == row.id][:MAX_HITS]
        )
        for row in build_rows(shown)
    ]


def _hit(place: Place, said: Said) -> Hit:
    return Hit(f"{place.url('session')}?at={said.message}#turn-{said.prompt}", said.pieces)


def _commands(access: TeamAccess) -> list[Page]:
    team = {"team": access.team.slug}
    home = reverse("team_home", kwargs=team)
    pages = [Page("All sessions", home, words="home inbox")]
    if access.can(Role.MEMBER):
        pages = [
            Page("New session", f"{home}#prompt", key="N"),
            *pages,
            Page("New project", reverse("sessions:project_new", kwargs=team)),
        ]
    pages.append(Page("Archived sessions", f"{home}?archived=1&who=team"))
    projects = list(Project.objects.filter(team=access.team).order_by("name", "pk"))
    labels = labels_of(projects)
    return [*pages, *(Page(f"Project {labels[one.pk]}", project_url(one)) for one in projects)]


# Pages of settings by the names of their addresses, with what else people call them.
_FOR_ALL = (
    ("General", "teams:general", "team name address"),
    ("Members", "teams:members", "invite people roles"),
    ("Models", "providers:models", "providers keys"),
    ("Agents and rules", "sessions:team_config", "config permissions opencode.json"),
    ("Network", "sessions:team_network", "hosts sandbox"),
    ("Sharing", "sessions:sharing", "links public"),
    ("Web search", "sessions:search", "engine"),
    ("Skills", "sessions:skills", ""),
)
_FOR_ADMINS = (
    ("Service accounts", "teams:services", "tokens ci"),
    ("Webhooks", "sessions:webhooks", "events"),
    ("Audit", "teams:audit", "trail log"),
)
_OWN = (
    ("Profile", "me:profile", "name password"),
    ("Appearance", "me:appearance", "theme dark light shortcuts"),
    ("API tokens", "me:tokens", "keys"),
)


def _settings(access: TeamAccess) -> list[Page]:
    named = [*_FOR_ALL, *(_FOR_ADMINS if access.can(Role.ADMIN) else ())]
    team = {"team": access.team.slug}
    pages = [Page(label, reverse(name, kwargs=team), words=words) for label, name, words in named]
    return [*pages, *(Page(label, reverse(name), words=words) for label, name, words in _OWN)]
