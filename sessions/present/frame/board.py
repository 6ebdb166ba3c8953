"""The sessions of a team in columns: what needs somebody, runs, is to be reviewed, is done."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from django.db.models import Count, F, Max, Q
from django.urls import reverse
from django.utils.translation import gettext as _

from sessions.actions.fork import origin_title
from sessions.changes.turn_diffs import counts_now
from sessions.models import Checkout, ComparedSession, Message, Outcome, Session, State, ViewedFile
from sessions.present.frame.rail import (
    MAX_SHOWN,
    RailFilter,
    build_rows,
    filter_query,
    filtered,
    group_of_ask,
)
from sessions.present.place import Place
from sessions.present.sessions import Row
from teams.access import TeamAccess
from teams.models import User

# Of those that have ended; older ones are in the list.
ENDED_SHOWN = 60
_GONE = (Checkout.State.RESCUED, Checkout.State.DROPPED)


@dataclass(frozen=True)
class Family:
    """A session; or several, which are forks of one or attempts at one prompt. `title` is empty
    for one alone, `compare_url` for what is not compared."""

    id: str
    title: str
    compare_url: str
    rows: list[Row]


@dataclass(frozen=True)
class Column:
    key: str
    label: str
    # Of its chip; empty where nobody has to know how many there are.
    look: str
    families: list[Family] = field(default_factory=list)

    @property
    def count(self) -> int:
        return sum(len(family.rows) for family in self.families)


@dataclass(frozen=True)
class Board:
    """`more_url` is where older ones are, if there are any."""

    url: str
    columns: list[Column]
    more_url: str


def load_board(access: TeamAccess, chosen: RailFilter) -> Board:
    """The sessions that a filter lets through, as one person sees them: what is reviewed differs.

    The number of queries does not depend on that of the sessions.
    """
    team, user = access.team, access.user
    rows = filtered(access, chosen).order_by("-active_at")
    active = list(rows.exclude(state=State.IDLE)[:MAX_SHOWN])
    # What nobody has asked for anything is in no column.
    ended = list(rows.filter(state=State.IDLE).exclude(outcome=Outcome.NONE)[: ENDED_SHOWN + 1])
    sessions = [*active, *ended[:ENDED_SHOWN]]
    to_review = unreviewed(ended[:ENDED_SHOWN], user)
    found: dict[str, list[Row]] = {"ask": [], "others": [], "run": [], "review": [], "done": []}
    for row in build_rows(sessions, access):
        found[_key(row, access, is_to_review=row.id in to_review)].append(row)
    kin = _kin_of(sessions)
    columns = (
        Column("ask", _("Needs you"), "ask"),
        *([Column("others", _("Waiting for others"), "")] if found["others"] else []),
        Column("run", _("Running"), "run"),
        Column("review", _("To review"), "idle"),
        Column("done", _("Done"), "done"),
    )
    page = reverse("sessions:board", kwargs={"team": team.slug})
    return Board(
        url=f"{page}?{filter_query(chosen, shown=chosen.shown)}",
        columns=[replace(one, families=_grouped(found[one.key], kin)) for one in columns],
        more_url=reverse("team_home", kwargs={"team": team.slug})
        if len(ended) > ENDED_SHOWN
        else "",
    )


def _key(row: Row, access: TeamAccess, *, is_to_review: bool) -> str:
    if row.group == "ask":
        return group_of_ask(row, access.in_team.role, access.user)
    if row.group != "rest":
        return "run"
    return "review" if is_to_review else "done"


@dataclass(frozen=True)
class _Kin:
    """By session: what family it is of, and where it is compared."""

    families: dict[str, str]
    compare_urls: dict[str, str]


def _kin_of(sessions: list[Session]) -> _Kin:
    # Forks of an attempt belong to its comparison, too.
    rows = ComparedSession.objects.filter(session__in={one.family_id for one in sessions})
    groups = dict(rows.values_list("session", "group"))
    return _Kin(
        {one.pk: groups.get(one.family_id, one.family_id) for one in sessions},
        {one.pk: Place.of(one).url("compare") for one in sessions if one.pk in groups},
    )


def _grouped(rows: Iterable[Row], kin: _Kin) -> list[Family]:
    """They stand together, where the newest of them is."""
    grouped: dict[str, list[Row]] = {}
    for row in rows:
        grouped.setdefault(kin.families[row.id], []).append(row)
    return [
        Family(
            key,
            origin_title(own[-1].title) if len(own) > 1 else "",
            next((kin.compare_urls[row.id] for row in own if row.id in kin.compare_urls), ""),
            own,
        )
        for key, own in grouped.items()
    ]


def unreviewed(sessions: Iterable[Session], user: User) -> set[str]:
    """Returns: the ids of those whose changes are neither committed nor all viewed by the person.

    Up to three queries, and one for each session with reverted files. What is committed is known
    when the files were looked at since.
    """
    files = {one.pk: counts_now(one).files for one in sessions}
    changed = [session for session in sessions if files[session.pk]]
    if not changed:
        return set()
    committed = _committed(changed)
    left = [session for session in changed if session.pk not in committed]
    return {session.pk for session in left} - _viewed(left, files, user)


def _committed(sessions: list[Session]) -> set[str]:
    own = [session.pk for session in sessions if session.folder]
    shared = {session.project_id for session in sessions if not session.folder}
    rows = Checkout.objects.filter(Q(session__in=own) | Q(pk__in=shared))
    places = {row.pk: row for row in rows}
    return {session.pk for session in sessions if _is_clean(session, places)}


def _is_clean(session: Session, places: dict[str, Checkout]) -> bool:
    place = places.get(session.files_id)
    if place is None:
        return False
    is_newer = place.looked_at is not None and place.looked_at > session.active_at
    return place.state in _GONE or (is_newer and not place.dirty)


def _viewed(sessions: list[Session], files: dict[str, int], user: User) -> set[str]:
    marks = ViewedFile.objects.filter(user=user, session__in=sessions).values("session")
    counted = marks.annotate(paths=Count("path", distinct=True), last=Max("seq"))
    seen = {one["session"]: one["last"] for one in counted if one["paths"] >= files[one["session"]]}
    if not seen:
        return set()
    # The same files may have changed again since.
    is_kept = Q(session__hidden_from=None) | Q(seq__lt=F("session__hidden_from"))
    prompts = Message.objects.filter(is_kept, session__in=seen, role="user")
    prompts = prompts.filter(data__has_key="summary")
    changed = dict(prompts.values_list("session").annotate(Max("seq")))
    return {one for one, last in seen.items() if last >= changed.get(one, 0)}
