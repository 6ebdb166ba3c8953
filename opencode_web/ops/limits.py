"""How much of the server each team may use at the same time, and what it uses now."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django import forms
from django.conf import settings
from django.core.paginator import Paginator
from django.db.models import Count, Sum
from django.db.models.functions import Now
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods

from opencode_web.ops.access import access_any_team, operator_view
from sessions.actions.team_limits import FIELDS, set_limits
from sessions.models import Project, Run, Terminal
from sessions.queue_position import load_line
from teams.http import UserRequest, attempt, client_ip, done
from teams.limits import most_commands, most_disk_mb, most_terminals, most_turns
from teams.models import Team

_PER_PAGE = 50
_MOST = 100_000_000
_MB = 1024 * 1024


def _number(least: int, **more: Any) -> forms.IntegerField:  # as the field takes them
    return forms.IntegerField(required=False, min_value=least, max_value=_MOST, **more)


class LimitsForm(forms.Form):
    """An empty field stands for what the server allows every team."""

    max_turns = _number(
        1,
        label=gettext_lazy("Turns"),
        help_text=gettext_lazy(
            "Turns that run at the same time, including those of sub-agents. Other sessions of the "
            "team wait until one ends."
        ),
    )
    max_commands = _number(
        1,
        label=gettext_lazy("Commands"),
        help_text=gettext_lazy(
            "Sandboxed commands that each worker process runs at the same time. Others wait."
        ),
    )
    max_terminals = _number(
        0,
        label=gettext_lazy("Terminals"),
        help_text=gettext_lazy(
            "Terminals that members have open at the same time. 0 turns them off."
        ),
    )
    max_disk_mb = _number(
        1,
        label=gettext_lazy("Disk space (MB)"),
        help_text=gettext_lazy(
            "Project folders, worktrees and snapshots, measured every hour. Above it, the team "
            "cannot send messages or add projects until it deletes some."
        ),
    )

    def __init__(self, *given: Any, **more: Any) -> None:  # as Django's takes them
        super().__init__(*given, **more)
        defaults = (
            settings.TURNS_PER_TEAM,
            settings.COMMANDS_PER_TEAM,
            settings.TERMINALS_PER_TEAM,
            settings.DISK_PER_TEAM_MB,
        )
        for name, default in zip(FIELDS, defaults, strict=True):
            no_limit = not default and name != "max_terminals"
            shown = _("No limit") if no_limit else str(default)
            self.fields[name].widget.attrs["placeholder"] = shown


@dataclass(frozen=True)
class Use:
    """A limit of None is none. `own` tells whether a limit is the team's own."""

    team: Team
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
        return any(getattr(self.team, name) is not None for name in FIELDS)

    @property
    def is_held(self) -> bool:
        return self.turns is not None and self.running >= self.turns and self.waiting > 0


@require_GET
@never_cache
@operator_view
def limits(request: UserRequest) -> HttpResponse:
    """List what the teams may use, and what they use now."""
    rows = Team.objects.order_by("name", "pk")
    page = Paginator(rows, _PER_PAGE).get_page(request.GET.get("page"))
    context: dict[str, object] = {"page": page, "uses": load_uses(page.object_list)}
    return render(request, "ops/limits.html", context)


@require_http_methods(["GET", "POST"])
@never_cache
@operator_view
def limit(request: UserRequest, team: str) -> HttpResponse:
    """Set what one team may use."""
    row = access_any_team(request.user, team)
    form = LimitsForm(
        request.POST if request.method == "POST" else None,
        initial={name: getattr(row, name) for name in FIELDS},
    )
    changed = attempt(
        form,
        lambda: set_limits(row, request.user, limits=form.cleaned_data, ip=client_ip(request)),
    )
    if changed is not None:
        text = _("The limits of %(team)s are saved.") % {"team": row.name}
        return done(request, text, to=reverse("ops:limits"))
    context: dict[str, object] = {"form": form, "team": row}
    return render(request, "ops/limit.html", context, status=422 if form.is_bound else 200)


def load_uses(teams: Iterable[Team]) -> list[Use]:
    """Five queries at most, whatever the number of teams."""
    held = Run.objects.filter(lease_until__gte=Now())
    running = dict(held.values_list("session__project__team").annotate(Count("pk")))
    order = load_line().order
    waiting = Counter(one.team for one in [*order.ready, *order.held])
    open_ = Terminal.objects.exclude(status=Terminal.Status.EXITED).filter(lease_until__gt=Now())
    terminals = dict(open_.values_list("project__team").annotate(Count("pk")))
    disks = dict(Project.objects.values_list("team").annotate(Sum("disk_bytes")))
    return [
        Use(
            team=team,
            running=running.get(team.pk, 0),
            waiting=waiting[team.pk],
            turns=most_turns(team.max_turns),
            commands=most_commands(team),
            open_terminals=terminals.get(team.pk, 0),
            terminals=most_terminals(team),
            disk_bytes=disks.get(team.pk, 0),
            most_disk_bytes=None if (most := most_disk_mb(team)) is None else most * _MB,
        )
        for team in teams
    ]
