"""The teams of the server as its operators see them: their size, their spend and their limits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Count, Sum
from django.db.models.functions import Now
from django.utils import timezone

from opencode_web.lib.days import start_of
from sessions.actions.team_limits import FIELDS
from sessions.models import Project, Run, Terminal
from sessions.queue_position import load_line
from teams.limits import most_commands, most_disk_mb, most_terminals, most_turns
from teams.models import Membership, Team, UsageEntry

_MB = 1024 * 1024


@dataclass(frozen=True)
class TeamUse:
    """A limit of None is none. Units: USD, since the first day of the month in UTC."""

    team: Team
    people: int
    projects: int
    spent: Decimal
    running: int
    waiting: int
    turns: int | None
    commands: int | None
    open_terminals: int
    terminals: int
    disk_bytes: int
    most_disk_bytes: int | None

    @property
    def own(self) -> bool:
        """Whether a limit is the team's own."""
        return any(getattr(self.team, name) is not None for name in FIELDS)

    @property
    def is_held(self) -> bool:
        return self.turns is not None and self.running >= self.turns and self.waiting > 0


def load_uses(teams: Sequence[Team]) -> list[TeamUse]:
    """Seven queries at most, whatever the number of teams."""
    held = Run.objects.filter(lease_until__gte=Now(), session__project__team__in=teams)
    running = dict(held.values_list("session__project__team").annotate(Count("pk")))
    order = load_line().order
    waiting = Counter(one.team for one in [*order.ready, *order.held])
    open_ = Terminal.objects.exclude(status=Terminal.Status.EXITED).filter(
        lease_until__gt=Now(), project__team__in=teams
    )
    terminals = dict(open_.values_list("project__team").annotate(Count("pk")))
    work = Project.objects.filter(team__in=teams).values("team")
    projects = {
        row["team"]: row for row in work.annotate(count=Count("pk"), disk=Sum("disk_bytes"))
    }
    members = Membership.objects.current().filter(
        team__in=teams, user__is_active=True, user__service_of=None
    )
    people = dict(members.values_list("team").annotate(Count("pk")))
    first = start_of(timezone.now().date().replace(day=1))
    month = UsageEntry.objects.filter(team__in=teams, time__gte=first)
    spent = dict(month.values_list("team").annotate(Sum("cost")))
    none = {"count": 0, "disk": 0}
    return [
        TeamUse(
            team=team,
            people=people.get(team.pk, 0),
            projects=projects.get(team.pk, none)["count"],
            spent=spent.get(team.pk, Decimal(0)),
            running=running.get(team.pk, 0),
            waiting=waiting[team.pk],
            turns=most_turns(team.max_turns),
            commands=most_commands(team),
            open_terminals=terminals.get(team.pk, 0),
            terminals=most_terminals(team),
            disk_bytes=projects.get(team.pk, none)["disk"],
            most_disk_bytes=None if (most := most_disk_mb(team)) is None else most * _MB,
        )
        for team in teams
    ]
