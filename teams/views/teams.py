from __future__ import annotations

from typing import Any

from django import forms
from django.db.models import Q
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from teams.access import may_create_team, operators, require_role, teams_of
from teams.actions.identity import set_team_policy
from teams.actions.teams import create_team, delete_team, rename_team, transfer_team
from teams.forms import DeleteTeamForm, NewTeamForm, PolicyForm, TeamForm, TransferForm
from teams.http import (
    LAST_TEAM,
    TeamRequest,
    UserRequest,
    attempt,
    client_ip,
    done,
    show,
    team_view,
    user_view,
)
from teams.models import IdentityProvider, Role, Team


class TeamPolicyForm(PolicyForm):
    """A team can say which identity provider counts."""

    sso_provider = forms.ChoiceField(label=gettext_lazy("Single sign-on with"), required=False)

    def __init__(self, data: Any = None, *, team: Team) -> None:  # as the base class
        initial = {name: getattr(team, name) for name in self.base_fields}
        super().__init__(data, initial=initial)
        # The one that was chosen stays to choose, and is not lost by a form that is sent again.
        rows = IdentityProvider.objects.filter(Q(is_enabled=True) | Q(slug=team.sso_provider))
        choices = rows.order_by("name").values_list("slug", "name")
        self.fields["sso_provider"].choices = [  # type: ignore[attr-defined]  # of a ChoiceField
            ("", _("Any identity provider")),
            *choices,
        ]


@require_GET
@user_view
def home(request: UserRequest) -> HttpResponse:
    teams = list(teams_of(request.user, need=None))
    if not teams:
        return redirect("new_team")
    last = request.session.get(LAST_TEAM)
    team = next((team for team in teams if team.pk == last), teams[0])
    return redirect("team_home", team=team.slug)


@require_http_methods(["GET", "POST"])
@user_view
def new_team(request: UserRequest) -> HttpResponse:
    form = NewTeamForm(request.POST or None)
    if request.method == "POST":
        ip = client_ip(request)
        team = attempt(
            form, lambda: create_team(request.user, name=form.cleaned_data["name"], ip=ip)
        )
        if team is not None:
            url = reverse("team_home", args=[team.slug])
            return done(request, _("Team %(name)s created.") % {"name": team.name}, to=url)
    allowed = may_create_team(request.user)
    context: dict[str, object] = {
        "form": form,
        "teams": teams_of(request.user, need=None),
        "allowed": allowed,
        "operators": [] if allowed else [user.display_name for user in operators()],
    }
    status = 422 if request.method == "POST" else 200
    return show(request, "teams/new_team.html", "teams/_new_team.html", context, status=status)


@require_GET
@team_view(need=None)
def settings_home(request: TeamRequest) -> HttpResponse:
    first = "teams:general" if request.access.sees_work else "teams:members"
    return redirect(first, team=request.team.slug)


@require_http_methods(["GET", "POST"])
@team_view()
def general(request: TeamRequest) -> HttpResponse:
    if request.method != "POST":
        return _show_general(request)
    require_role(request.access, Role.ADMIN)
    form = TeamForm(request.POST)
    # On a fault the rest of the page still shows the team as it is stored.
    before = (request.team.name, request.team.slug)
    team = attempt(
        form,
        lambda: rename_team(
            request.team, actor=request.user, ip=client_ip(request), **form.cleaned_data
        ),
    )
    if team is None:
        request.team.name, request.team.slug = before
        return _show_general(request, status=422, team_form=form)
    return done(request, "Saved.", to=reverse("teams:general", args=[team.slug]))


@require_POST
@team_view(need=Role.OWNER)
def policy(request: TeamRequest) -> HttpResponse:
    form = TeamPolicyForm(request.POST, team=request.team)

    def act() -> bool:
        set_team_policy(
            request.access,
            mfa=form.cleaned_data["requires_mfa"],
            sso=form.cleaned_data["requires_sso"],
            provider=form.cleaned_data["sso_provider"],
            ip=client_ip(request),
        )
        return True

    if not attempt(form, act):
        return _show_general(request, status=422, policy_form=form)
    return done(request, _("Saved."), to=reverse("teams:general", args=[request.team.slug]))


@require_POST
@team_view(need=Role.OWNER)
def transfer(request: TeamRequest) -> HttpResponse:
    form = TransferForm(request.POST, access=request.access)
    team = attempt(
        form,
        lambda: transfer_team(
            request.team,
            actor=request.user,
            to=form.cleaned_data["member"],
            ip=client_ip(request),
        ),
    )
    if team is None:
        return _show_general(request, status=422, transfer_form=form)
    name = form.cleaned_data["member"].user.display_name
    url = reverse("teams:general", args=[team.slug])
    return done(request, _("%(name)s is now the owner. You are an admin.") % {"name": name}, to=url)


@require_POST
@team_view(need=Role.OWNER)
def delete(request: TeamRequest) -> HttpResponse:
    form = DeleteTeamForm(request.POST)

    def act() -> bool:
        delete_team(
            request.team,
            actor=request.user,
            confirm=form.cleaned_data["confirm"],
            ip=client_ip(request),
        )
        return True

    if not attempt(form, act):
        return _show_general(request, status=422, delete_form=form)
    return done(request, _("%(name)s deleted.") % {"name": request.team.name}, to=reverse("home"))


def _show_general(request: TeamRequest, *, status: int = 200, **forms: object) -> HttpResponse:
    team = request.team
    context: dict[str, object] = {
        "team": team,
        "can_rename": request.access.can(Role.ADMIN),
        "can_own": request.access.can(Role.OWNER),
        "team_form": TeamForm(initial={"name": team.name, "slug": team.slug}),
        "policy_form": TeamPolicyForm(team=team),
        "transfer_form": TransferForm(access=request.access),
        "delete_form": DeleteTeamForm(),
        **forms,
    }
    return show(request, "teams/general.html", "teams/_general.html", context, status=status)
