"""The list of sessions beside every page: what needs a person, what runs, what is done."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from urllib.parse import urlencode

from django.db.models import Q, QuerySet
from django.template.defaultfilters import capfirst
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from opencode_web.lib.json import text_of
from sessions.approvals.requests import changes_to_decide
from sessions.config.cost_limit import role_to_answer
from sessions.models import (
    ComparedSession,
    PermissionRequest,
    Pin,
    QuestionRequest,
    Session,
    State,
    WaitsFor,
)
from sessions.present.approval_titles import title_of
from sessions.present.conversation.asks import asked_by, permission_summary
from sessions.present.conversation.questions import question_summary
from sessions.present.conversation.running_calls import calls_at_work
from sessions.present.frame.forks import origins_of
from sessions.present.projects import labels_of
from sessions.present.pulls import newest_pulls
from sessions.present.sessions import Asked, Row, build_row
from sessions.queue_position import all_wait_for_funds, places_of
from sessions.rules.second_person import who_may_allow
from sessions.visibility import projects_in, role_for, sessions_in, with_roles
from teams.access import TeamAccess, has_role
from teams.models import Role, User

SHOWN = 40
_LAST = 1 << 30
MAX_SHOWN = 400


@dataclass(frozen=True)
class RailFilter:
    """What somebody wants to see of the list.

    `mine`: only the sessions they own; `archived`: only what was put away, else only the rest;
    `board`: its form leads to the board again, not to the home page.
    """

    mine: bool = False
    project: str = ""
    text: str = ""
    archived: bool = False
    shown: int = SHOWN
    board: bool = False


@dataclass(frozen=True)
class Group:
    key: str
    label: str
    state: str
    rows: list[Row]


@dataclass(frozen=True)
class Choice:
    id: str
    name: str


@dataclass(frozen=True)
class ChangeRow:
    """A change that waits for the person's approval."""

    id: str
    title: str
    asker: str


@dataclass(frozen=True)
class Rail:
    url: str
    new_url: str
    filter_url: str
    mine: bool
    text: str
    project: str
    archived: bool
    projects: list[Choice]
    archive_url: str
    clear_url: str
    # What matches the filter may be empty though there are sessions; `all_url` shows the team's.
    filtered: bool
    all_url: str
    # Where messages are searched for the text of the filter.
    search_url: str
    # Rows name their project: they can be of several.
    mixed: bool = False
    # The open session is pinned.
    pinned: bool = False
    groups: list[Group] = field(default_factory=list)
    more_url: str = ""
    # What the person can approve, and the page where.
    changes: list[ChangeRow] = field(default_factory=list)
    changes_url: str = ""


def load_rail(access: TeamAccess, chosen: RailFilter, *, current: str = "") -> Rail:
    """The sessions of a team as the filter says. `current`: the open one.

    `clear_url` is empty when the filter hides nothing.
    """
    team, user = access.team, access.user
    home = reverse("team_home", kwargs={"team": team.slug})
    page = reverse("sessions:board", kwargs={"team": team.slug}) if chosen.board else home
    rows = filtered(access, chosen)
    found = list(rows.order_by("-active_at")[: chosen.shown + 1])
    pins = Pin.objects.filter(user=user, session__project__team=team)
    pinned = set(pins.values_list("session_id", flat=True))
    active = rows.filter(~Q(state=State.IDLE) | Q(pk__in=pinned)).order_by("-active_at")
    known = {session.pk for session in found}
    # What needs somebody is shown however old it is, and so is what somebody has pinned.
    extra = [session for session in active[:MAX_SHOWN] if session.pk not in known]
    shown = [*extra, *found[: chosen.shown]]
    listed = build_rows(shown, access)
    projects = list(projects_in(access).order_by("name", "pk"))
    labels = labels_of(projects)
    more = len(found) > chosen.shown
    away = replace(chosen, archived=not chosen.archived, board=False)
    refresh = reverse("sessions:rail", kwargs={"team": team.slug})
    return Rail(
        url=f"{refresh}?{filter_query(chosen, shown=chosen.shown)}&current={current}",
        new_url=f"{home}#prompt",
        filter_url=page,
        mine=chosen.mine,
        text=chosen.text,
        project=chosen.project,
        archived=chosen.archived,
        projects=[Choice(one.pk, labels[one.pk]) for one in projects],
        archive_url=f"{home}?{filter_query(away, shown=SHOWN)}",
        clear_url=f"{page}?{filter_query(RailFilter(mine=chosen.mine), shown=SHOWN)}"
        if chosen.text or chosen.project or chosen.archived
        else "",
        filtered=bool(chosen.mine or chosen.text or chosen.project),
        all_url=f"{home}?{filter_query(RailFilter(), shown=SHOWN)}",
        search_url=f"{reverse('sessions:find', args=[team.slug])}?{urlencode({'q': chosen.text})}",
        mixed=len(projects) > 1 and not chosen.project,
        pinned=current in pinned,
        groups=[Group("archived", _("Archived"), "", listed)]
        if chosen.archived and shown
        else group_rows(listed, role=access.in_team.role, user=user, pinned=pinned),
        more_url=f"{home}?{filter_query(chosen, shown=chosen.shown + 2 * SHOWN)}"
        if more and chosen.shown < MAX_SHOWN
        else "",
        changes=[
            ChangeRow(row.pk, title_of(row), row.asker.display_name)
            for row in changes_to_decide(access)
        ],
        changes_url=reverse("sessions:approvals", kwargs={"team": team.slug}),
    )


def filter_query(chosen: RailFilter, *, shown: int) -> str:
    """The filter as an address has it."""
    who = "mine" if chosen.mine else "team"
    fields = {"who": who, "project": chosen.project, "text": chosen.text}
    archived = {"archived": "1"} if chosen.archived else {}
    board = {"board": "1"} if chosen.board else {}
    return urlencode({**fields, **archived, **board, "shown": shown})


def filtered(access: TeamAccess, chosen: RailFilter) -> QuerySet[Session]:
    """The sessions of people that a filter lets through."""
    rows = with_roles(sessions_in(access), access).filter(parent=None)
    rows = rows.filter(archived_at__isnull=not chosen.archived)
    if chosen.mine:
        rows = rows.filter(owner=access.user)
    if chosen.project:
        rows = rows.filter(project_id=chosen.project)
    if chosen.text:
        rows = rows.filter(Q(title__icontains=chosen.text))
    return rows.select_related("project__team", "owner")


def build_rows(
    sessions: list[Session], access: TeamAccess | None = None, *, is_live: bool = False
) -> list[Row]:
    """One row for each session, in the given order; for everybody, without `access`.

    With it the sessions are those of `with_roles`. `is_live`: for whatever page the person is on.

    One query for pull requests, one for attempts, one for what forks were made of, two for what the
    waiting ones ask, up to six for the busy ones.
    """
    asked = _asked_in(sessions)
    line = places_of(sessions)
    unfunded = all_wait_for_funds(sessions)
    busy = [one for one in sessions if one.state == State.BUSY and one.pk not in line]
    doing = calls_at_work(busy)
    pulls = newest_pulls([session.pk for session in sessions])
    forks = {pk: origin.text for pk, origin in origins_of(sessions).items()}
    kinds = {**forks, **_attempts_of(sessions)}
    return [
        build_row(
            session,
            asked.get(session.pk),
            place=line.get(session.pk),
            no_funds=session.pk in unfunded,
            doing=doing.get(session.pk, ""),
            viewer=None if access is None or is_live else access.user,
            role=None if access is None else _role_on_page(access, session, is_live=is_live),
            pull=pulls.get(session.pk),
            kind=kinds.get(session.pk, ""),
        )
        for session in sessions
    ]


def _role_on_page(access: TeamAccess, session: Session, *, is_live: bool) -> Role | None:
    """Returns: None where the page goes by that role anyway."""
    role = role_for(access, session)
    is_usual = role == access.role == access.in_team.role
    return None if is_usual and not is_live else role


def _attempts_of(sessions: Iterable[Session]) -> dict[str, str]:
    """Returns: what tells those apart that began with one prompt, and so have one title."""
    rows = ComparedSession.objects.filter(session__in=[session.pk for session in sessions])
    places = dict(rows.values_list("session", "place"))
    names = {one.pk: (capfirst(one.agent), text_of(one.model, "id")) for one in sessions}
    return {
        pk: " · ".join(filter(None, (_("Attempt {number}").format(number=place + 1), *names[pk])))
        for pk, place in places.items()
    }


def _asked_in(sessions: Iterable[Session]) -> dict[str, Asked]:
    ids = [
        session.pk
        for session in sessions
        if session.state == State.WAITING or session.waits_for == WaitsFor.CHILDREN
    ]
    if not ids:
        return {}
    # What a sub-agent asks is answered at its root.
    tree = Q(session__in=ids) | Q(session__root__in=ids)
    permissions = (
        PermissionRequest.objects.pending()
        .filter(tree)
        .select_related("session__project__team", "admins_asked__asked_by")
    )
    questions = QuestionRequest.objects.pending().filter(tree)
    found: list[tuple[datetime, str, Asked]] = []
    people = who_may_allow(permissions)
    for row in permissions:
        top_id, said = row.session.top_id, permission_summary(row)
        asked = (
            Asked(said, None, people=people[top_id])
            if row.second_person
            else Asked(said, role_to_answer(row.permission), asks_admins=bool(asked_by(row)))
        )
        found.append((row.created_at, top_id, asked))
    found += [
        (row.created_at, row.session.top_id, Asked(question_summary(row)))
        for row in questions.select_related("session")
    ]
    first: dict[str, Asked] = {}
    for _at, top_id, asked in sorted(found, key=lambda one: (one[0], one[1], one[2].text)):
        kept = first.setdefault(top_id, asked)
        # What a member can answer needs a member, whatever else is asked.
        needs = (
            Role.MEMBER if Role.MEMBER in (kept.needs, asked.needs) else kept.needs or asked.needs
        )
        first[top_id] = replace(
            kept,
            needs=needs,
            asks_admins=kept.asks_admins or asked.asks_admins,
            people=kept.people | asked.people,
        )
    return first


def group_of_ask(row: Row, role: Role, user: User | None = None) -> str:
    """`role`: in the project if the row has none. Returns: where somebody sees a session that waits
    for a person."""
    is_named = user is not None and user.pk in row.asked.people
    is_able = row.asked.needs is not None and has_role(row.role or role, row.asked.needs)
    return "ask" if is_named or is_able else "others"


def group_rows(
    rows: Iterable[Row],
    *,
    role: Role,
    user: User | None = None,
    pinned: Collection[str] = (),
    now: datetime | None = None,
) -> list[Group]:
    """`role` and `user`: of who looks at them; `pinned`: ids of sessions that stay in a place of
    their own, until one needs somebody.

    Returns: the groups that have rows: what needs that person, or somebody else, what is pinned,
    runs or waits for a worker, who is next first, then by age.
    """
    today = (now or timezone.now()).date()
    groups = {
        "ask": Group("ask", _("Needs you"), "ask", []),
        "others": Group("others", _("Waiting for others"), "", []),
        "pinned": Group("pinned", _("Pinned"), "", []),
        "run": Group("run", _("Running"), "run", []),
        "queue": Group("queue", _("Queued"), "queue", []),
        "today": Group("today", _("Today"), "", []),
        "yesterday": Group("yesterday", _("Yesterday"), "", []),
        "older": Group("older", _("Older"), "", []),
    }
    for row in rows:
        age_days = (today - row.updated.date()).days
        groups[_key(row, role, user, age_days, is_pinned=row.id in pinned)].rows.append(row)
    groups["queue"].rows.sort(key=lambda row: row.place or _LAST)
    return [group for group in groups.values() if group.rows]


def _key(row: Row, role: Role, user: User | None, age_days: int, *, is_pinned: bool) -> str:
    if row.group == "ask":
        return group_of_ask(row, role, user)
    if is_pinned:
        return "pinned"
    if row.group != "rest":
        return row.group
    return "today" if age_days < 1 else "yesterday" if age_days < 2 else "older"
