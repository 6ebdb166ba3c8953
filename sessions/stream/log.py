"""What the streams read from the log and the rows. Synchronous: call it through `in_view_db`."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Max, Q

from opencode_web.lib.json import JsonObject
from opencode_web.lib.shapes import as_json
from sessions.access import visible_projects, visible_sessions
from sessions.changes.turn_diffs import newest_diffs
from sessions.events.bodies import EventsBody
from sessions.events.live import to_record
from sessions.models import Event, Project, Session
from sessions.stream.cursor import Cursor
from sessions.visibility import overseen_teams
from sessions.wire import session_to_wire
from teams.auth import Principal, principal_teams, require_live

PAGE = 200


@dataclass(frozen=True)
class Page:
    """Events after a cursor. `end` is the id up to which nothing is left; None says read on."""

    bodies: list[EventsBody]
    end: int | None


def newest_cursor() -> Cursor:
    """Where the log ends now."""
    return Cursor(Event.objects.aggregate(newest=Max("pk"))["newest"] or 0)


def live_team_ids(principal: Principal) -> frozenset[str]:
    """The teams whose streams the principal may see now. Raises: Unauthorized."""
    require_live(principal)
    return frozenset(team.pk for team in principal_teams(principal))


def overseen_of(principal: Principal) -> frozenset[str]:
    """Returns: ids of the teams in which the principal sees everything."""
    return frozenset(overseen_teams(principal.user.pk))


def is_seen(principal: Principal, id: str) -> bool:
    """Whether the principal sees a session or project; not one that is gone."""
    rows = visible_sessions(principal) if id.startswith("ses_") else visible_projects(principal)
    return rows.filter(pk=id).exists()


def session_info(session_id: str) -> JsonObject | None:
    """Returns: the session as it is now, or None when it is gone."""
    session = Session.objects.select_related("project").filter(pk=session_id).first()
    return as_json(session_to_wire(session)) if session else None


def project_directory(project_id: str) -> str:
    """Returns: the folder of a project; "" when it is gone."""
    return Project.objects.filter(pk=project_id).values_list("directory", flat=True).first() or ""


def session_diffs(session_id: str) -> list[JsonObject]:
    """Returns: the file diffs of the newest turn that is not rolled back."""
    session = Session.objects.filter(pk=session_id).first()
    return newest_diffs(session) if session else []


def read_page(cursor: Cursor, principal: Principal, project_id: str | None) -> Page:
    """Read what the log has after the cursor, as bus bodies of one event each, oldest first."""
    # First: what commits while the rows are read is found by the next call or comes live.
    end = newest_cursor().newest
    if end <= cursor.newest and not cursor.missing:
        return Page([], end)
    sessions = visible_sessions(principal)
    if project_id is not None:
        sessions = sessions.filter(project=project_id)
    rows = list(
        Event.objects.filter(Q(pk__gt=cursor.newest) | Q(pk__in=cursor.missing_ids()))
        .filter(pk__lte=end, session__in=sessions)
        .select_related("session__project")
        .order_by("pk")[:PAGE]
    )
    return Page([_to_body(row) for row in rows], end if len(rows) < PAGE else None)


def _to_body(event: Event) -> EventsBody:
    session = event.session
    project = session.project
    return {
        "t": "events",
        "session": event.session_id,
        "team": project.team_id,
        "project": project.pk,
        "directory": session.directory,
        "events": [to_record(event)],
    }
