"""What operators see, set and tell of the whole server: samples, teams, announcements."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Literal

from django.utils import timezone
from ninja import Field, Query, Router, Schema
from typing_extensions import TypedDict

from opencode_web.lib.errors import NotFound
from sessions.actions.team_limits import FIELDS, MOST, set_limits
from sessions.api.auth import ApiRequest, asks_as_operator, require_operator
from sessions.models import ServerSample
from sessions.present.team_uses import TeamUse, load_uses
from sessions.wire import to_ms
from teams.actions.announcements import Draft, end_announcement, post_announcement
from teams.announcements import planned_announcements, shown_announcements
from teams.http import client_ip
from teams.models import Announcement, Team

router = Router(tags=["instance"])

_SPANS = {"day": (60, 1), "week": (3600, 7), "month": (3600, 30)}


class SampleWire(TypedDict):
    """One minute or hour. `time` in milliseconds, waits in seconds, `cost` in US dollars.

    `tokens` by the ID of the team.
    """

    time: int
    running: float
    queued: float
    workers: float
    queueAge: float
    responses: int
    failures: int
    cost: float
    tokens: dict[str, int]


class TeamLimitsWire(TypedDict):
    turns: int | None
    commands: int | None
    terminals: int | None
    diskMB: int | None


class TeamUseWire(TypedDict):
    """One team, what it uses and what it may use. `cost` in US dollars, this month in UTC.

    A limit of null is none. `limits` are those that operators have set for this team, where null
    stands for the limit of the server.
    """

    id: str
    slug: str
    name: str
    members: int
    projects: int
    cost: float
    running: int
    waiting: int
    terminals: int
    diskBytes: int
    mostTurns: int | None
    mostCommands: int | None
    mostTerminals: int
    mostDiskBytes: int | None
    limits: TeamLimitsWire


class AnnouncementWire(TypedDict):
    """Times in milliseconds; without an end it is shown until somebody ends it."""

    id: int
    text: str
    level: str
    maintenance: bool
    start: int
    end: int | None


class TeamLimitsBody(Schema):
    """What is left out stays; null stands for the limit of the server."""

    turns: int | None = Field(default=None, ge=1, le=MOST)
    commands: int | None = Field(default=None, ge=1, le=MOST)
    terminals: int | None = Field(default=None, ge=0, le=MOST)
    diskMB: int | None = Field(default=None, ge=1, le=MOST)


class AnnouncementBody(Schema):
    """A text for every page, and with `maintenance` the reason why no messages are accepted."""

    text: str = Field(max_length=500)
    level: Literal["info", "warn", "bad"] = "info"
    maintenance: bool = False
    start: datetime | None = None
    end: datetime | None = None


@router.get("/instance/samples", summary="What the server did over time, for operators")
def get_samples(
    request: ApiRequest, range: Literal["day", "week", "month"] = "day"
) -> list[SampleWire]:
    """Minutes of a day, or hours of a week or month, the oldest first."""
    require_operator(request)
    step_s, days = _SPANS[range]
    since = timezone.now() - timedelta(days=days)
    rows = ServerSample.objects.filter(step_s=step_s, start__gte=since).order_by("start")
    return [
        {
            "time": to_ms(row.start),
            "running": row.running,
            "queued": row.queued,
            "workers": row.workers,
            "queueAge": row.queue_age_s,
            "responses": row.responses,
            "failures": row.failures,
            "cost": float(row.cost),
            "tokens": row.tokens,
        }
        for row in rows
    ]


@router.get("/instance/teams", summary="The teams, what they use and what they may use")
def get_teams(
    request: ApiRequest,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    after: Annotated[str, Query(max_length=64)] = "",
) -> list[TeamUseWire]:
    """By slug. `after` is the slug of the last team that you have."""
    require_operator(request)
    rows = Team.objects.filter(slug__gt=after).order_by("slug")[:limit]
    return [_to_team_use(use) for use in load_uses(list(rows))]


@router.patch("/instance/teams/{slug}", summary="Set the limits of a team")
def update_team_limits(request: ApiRequest, slug: str, body: TeamLimitsBody) -> TeamUseWire:
    """Sessions that there is room for now go on."""
    require_operator(request)
    team = Team.objects.filter(slug=slug).first()
    if team is None:
        raise NotFound("Team", slug)
    given = body.model_dump(exclude_unset=True)
    limits = {
        field: given.get(name, getattr(team, field))
        for name, field in zip(TeamLimitsBody.model_fields, FIELDS, strict=True)
    }
    changed = set_limits(team, request.auth.user, limits=limits, ip=client_ip(request))
    return _to_team_use(load_uses([changed])[0])


@router.get("/instance/announcements", summary="Announcements and maintenance")
def get_announcements(request: ApiRequest) -> list[AnnouncementWire]:
    """Those that are shown now. Operators also get planned ones."""
    rows = planned_announcements() if asks_as_operator(request) else shown_announcements()
    return [_to_wire(row) for row in rows]


@router.post("/instance/announcements", summary="Post an announcement, or begin maintenance")
def create_announcement(request: ApiRequest, body: AnnouncementBody) -> AnnouncementWire:
    """During maintenance prompts get 503 with `Retry-After`, and running turns finish."""
    require_operator(request)
    draft = Draft(
        text=body.text,
        level=body.level,
        stops_prompts=body.maintenance,
        starts_at=_aware(body.start),
        ends_at=_aware(body.end),
    )
    return _to_wire(post_announcement(request.auth.user, draft, ip=client_ip(request)))


@router.delete(
    "/instance/announcements/{announcement_id}", summary="End an announcement or maintenance"
)
def delete_announcement(request: ApiRequest, announcement_id: int) -> bool:
    require_operator(request)
    end_announcement(request.auth.user, announcement_id, ip=client_ip(request))
    return True


def _aware(time: datetime | None) -> datetime | None:
    """Without a time zone it is in UTC."""
    return timezone.make_aware(time) if time is not None and timezone.is_naive(time) else time


def _to_wire(row: Announcement) -> AnnouncementWire:
    return {
        "id": row.pk,
        "text": row.text,
        "level": row.level,
        "maintenance": row.stops_prompts,
        "start": to_ms(row.starts_at),
        "end": to_ms(row.ends_at) if row.ends_at else None,
    }


def _to_team_use(use: TeamUse) -> TeamUseWire:
    team = use.team
    return {
        "id": team.pk,
        "slug": team.slug,
        "name": team.name,
        "members": use.people,
        "projects": use.projects,
        "cost": float(use.spent),
        "running": use.running,
        "waiting": use.waiting,
        "terminals": use.open_terminals,
        "diskBytes": use.disk_bytes,
        "mostTurns": use.turns,
        "mostCommands": use.commands,
        "mostTerminals": use.terminals,
        "mostDiskBytes": use.most_disk_bytes,
        "limits": {
            "turns": team.max_turns,
            "commands": team.max_commands,
            "terminals": team.max_terminals,
            "diskMB": team.max_disk_mb,
        },
    }
