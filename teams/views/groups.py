"""Groups of people of a team, for its admins."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from opencode_web.lib.errors import NotFound
from teams.actions.groups import (
    access_group,
    create_group,
    delete_group,
    put_in_group,
    take_from_group,
    update_group,
)
from teams.group_form import GroupForm
from teams.http import TeamRequest, attempt, client_ip, done, team_view
from teams.models import Role, TeamGroup


@require_http_methods(["GET", "POST"])
@team_view(need=Role.ADMIN)
def groups(request: TeamRequest) -> HttpResponse:
    """List them, or make one."""
    data = request.POST if request.method == "POST" else None
    form, made = GroupForm(data), None
    if data is not None:
        made = attempt(
            form,
            lambda: create_group(
                request.access, name=form.cleaned_data["name"], ip=client_ip(request)
            ),
        )
    if made is not None:
        said = _("%(name)s created. Add people next.") % {"name": made.name}
        return done(request, said, to=_url(request, made))
    rows = request.team.groups.prefetch_related("members").order_by("name")
    context = {"form": form, "rows": rows}
    return render(request, "teams/groups.html", context, status=422 if data is not None else 200)


@require_http_methods(["GET", "POST"])
@team_view(need=Role.ADMIN)
def group(request: TeamRequest, *, group: str) -> HttpResponse:
    """Read who is in it, or change its name and what its people may allow."""
    row = access_group(request.access, group)
    now = {"name": row.name, "is_approver": row.is_approver}
    form = GroupForm(request.POST) if request.method == "POST" else GroupForm(initial=now)
    if form.is_bound:
        saved = attempt(
            form,
            lambda: update_group(request.access, row, ip=client_ip(request), **form.cleaned_data),
        )
        if saved is not None:
            said = _("%(name)s saved.") % {"name": saved.name}
            return done(request, said, to=_url(request, saved))
    people = request.team.memberships.filter(expires_at=None).select_related("user")
    inside = set(row.members.values_list("pk", flat=True))
    listed = sorted(people, key=lambda one: one.user.display_name.casefold())
    context = {
        "group": row,
        "form": form,
        "members": [one for one in listed if one.pk in inside],
        "others": [one for one in listed if one.pk not in inside and one.user.is_active],
    }
    status = 422 if form.is_bound else 200
    return render(request, "teams/group.html", context, status=status)


@require_POST
@team_view(need=Role.ADMIN)
def group_member(request: TeamRequest, *, group: str) -> HttpResponse:
    """Add somebody, or remove them."""
    row, named = access_group(request.access, group), request.POST.get("member", "")
    number = int(named) if named.isdecimal() and len(named) < 19 else 0
    member = request.team.memberships.select_related("user").filter(pk=number).first()
    if member is None:
        raise NotFound("Member")
    act = put_in_group if request.POST.get("inside") == "1" else take_from_group
    act(request.access, row, member, ip=client_ip(request))
    return done(request, _("Saved."), to=_url(request, row))


@require_http_methods(["GET", "POST"])
@team_view(need=Role.ADMIN)
def group_delete(request: TeamRequest, *, group: str) -> HttpResponse:
    row = access_group(request.access, group)
    if request.method == "POST":
        delete_group(request.access, row, ip=client_ip(request))
        to = reverse("teams:groups", args=[request.team.slug])
        return done(request, _("%(name)s deleted.") % {"name": row.name}, to=to)
    context = {
        "title": _("Delete the group %(name)s?") % {"name": row.name},
        "text": _("Its people stay in the team and lose the roles in projects that it gave them."),
        "action": _("Delete"),
        "back": _url(request, row),
    }
    return render(request, "teams/confirm.html", context)


def _url(request: TeamRequest, row: TeamGroup) -> str:
    return reverse("teams:group", args=[request.team.slug, row.pk])
