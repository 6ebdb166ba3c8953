"""The teams: their size and spend, how much each may use at the same time, and what it uses."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods

from opencode_web.ops.access import access_any_team, operator_view
from sessions.actions.team_limits import FIELDS, MOST, set_limits
from sessions.present.team_uses import load_uses
from teams.http import UserRequest, attempt, client_ip, done
from teams.models import Team

_PER_PAGE = 50


def _number(least: int, **more: Any) -> forms.IntegerField:  # as the field takes them
    return forms.IntegerField(required=False, min_value=least, max_value=MOST, **more)


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
            "Sandboxed commands that run at the same time, on all workers together. Others wait."
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


@require_GET
@never_cache
@operator_view
def limits(request: UserRequest) -> HttpResponse:
    """List the teams with their size, their spend, what they may use and what they use now."""
    rows = Team.objects.order_by("name", "pk")
    page = Paginator(rows, _PER_PAGE).get_page(request.GET.get("page"))
    context: dict[str, object] = {"page": page, "uses": load_uses(list(page))}
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
