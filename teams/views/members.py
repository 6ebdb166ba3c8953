from __future__ import annotations

from dataclasses import dataclass

from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from opencode_web.lib.errors import Invalid, NotFound
from teams.access import require_role
from teams.actions.browsers import browsers_of
from teams.actions.members import change_role, leave_team, remove_member, set_approver
from teams.actions.tokens import revoke_member_token
from teams.forms import InviteForm, RoleForm, roles_below
from teams.http import TeamRequest, client_ip, done, show, team_view
from teams.models import ApiToken, Invite, Membership, Role, Team, User
from teams.people import columns, day_in_words, people_rows
from teams.views.devices import name_of
from teams.views.tokens import ask_to_revoke


@dataclass(frozen=True)
class _MemberBrowser:
    """A browser in which a member is signed in; the day alone, as in the table of members."""

    user: User
    name: str
    seen: str


@require_GET
@team_view(need=None)
def members(request: TeamRequest) -> HttpResponse:
    return show_members(request)


@require_POST
@team_view(need=Role.ADMIN)
def member_role(request: TeamRequest, *, member: int) -> HttpResponse:
    membership = _find(request, member)
    form = RoleForm(request.POST)
    if not form.is_valid():
        raise Invalid(_("This role does not exist."))
    role = Role(form.cleaned_data["role"])
    changed = change_role(membership, access=request.access, role=role, ip=client_ip(request))
    text = _("%(name)s is now %(role)s.") % {"name": changed.user.display_name, "role": role.noun}
    return done(request, text, to=reverse("teams:members", args=[request.team.slug]))


@require_POST
@team_view(need=Role.ADMIN)
def member_approver(request: TeamRequest, *, member: int) -> HttpResponse:
    is_approver = request.POST.get("approver") == "1"
    changed = set_approver(
        _find(request, member),
        access=request.access,
        is_approver=is_approver,
        ip=client_ip(request),
    )
    said = _("%(name)s is now an approver.") if is_approver else _("%(name)s is no approver now.")
    text = said % {"name": changed.user.display_name}
    return done(request, text, to=reverse("teams:members", args=[request.team.slug]))


@require_http_methods(["GET", "POST"])
@team_view(need=Role.ADMIN)
def member_remove(request: TeamRequest, *, member: int) -> HttpResponse:
    membership = _find(request, member)
    name = membership.user.display_name
    url = reverse("teams:members", args=[request.team.slug])
    if request.method == "POST":
        remove_member(membership, access=request.access, ip=client_ip(request))
        return done(request, _("%(name)s is no longer a member.") % {"name": name}, to=url)
    context = {
        "title": _("Remove %(name)s?") % {"name": name},
        "text": _(
            "%(name)s loses access to %(team)s immediately, and their API tokens for it stop "
            "working. Sessions and projects are kept."
        )
        % {"name": name, "team": request.team.name},
        "action": _("Remove"),
        "back": url,
    }
    return render(request, "teams/confirm.html", context)


@require_http_methods(["GET", "POST"])
@team_view(need=Role.ADMIN)
def member_token(request: TeamRequest, *, token: str) -> HttpResponse:
    """Revoke a token of a member."""
    row = _tokens(request.team).filter(pk=token).first()
    if row is None:
        raise NotFound("Token")
    url = reverse("teams:members", args=[request.team.slug])
    if request.method == "POST":
        revoke_member_token(request.access, row, ip=client_ip(request))
        return done(request, _("Token %(name)s revoked.") % {"name": row.name}, to=url)
    return ask_to_revoke(request, row, back=url)


@require_http_methods(["GET", "POST"])
@team_view(need=None)
def leave(request: TeamRequest) -> HttpResponse:
    if request.method == "POST":
        leave_team(request.access, ip=client_ip(request))
        return done(
            request, _("You have left %(name)s.") % {"name": request.team.name}, to=reverse("home")
        )
    context = {
        "title": _("Leave %(name)s?") % {"name": request.team.name},
        "text": _(
            "You lose access immediately, and your API tokens for this team stop working. You "
            "need a new invitation to come back."
        ),
        "action": _("Leave"),
        "back": reverse("teams:members", args=[request.team.slug]),
    }
    return render(request, "teams/confirm.html", context)


def show_members(
    request: TeamRequest,
    *,
    invite_form: InviteForm | None = None,
    invite_link: str = "",
    invited: Invite | None = None,
    status: int = 200,
) -> HttpResponse:
    """The page of members and invitations; `invite_link` is shown once, right after it was made
    for `invited`."""
    access = request.access
    people = list(request.team.memberships.filter(user__service_of=None).select_related("user"))
    can_manage = access.can(Role.ADMIN)
    sort = request.GET.get("sort", "role")
    context: dict[str, object] = {
        "team": request.team,
        "can_manage": can_manage,
        "rows": people_rows(access, people, sort=sort),
        "columns": columns(sort),
        "roles": roles_below(access.role),
        "invite_form": invite_form or InviteForm(role=access.role),
        "invite_link": invite_link,
        "invited": invited,
        "invites": request.team.invites.open().select_related("created_by").order_by("expires_at")
        if can_manage
        else [],
        "tokens": _tokens(request.team).order_by("user__email", "name") if can_manage else [],
        "browsers": _browsers([row.user for row in people]) if can_manage else [],
    }
    return show(request, "teams/members.html", "teams/_members.html", context, status=status)


def _tokens(team: Team) -> QuerySet[ApiToken]:
    """Returns: those of people; those of service accounts have pages of their own."""
    return ApiToken.objects.live().filter(team=team, user__service_of=None).select_related("user")


def _browsers(people: list[User]) -> list[_MemberBrowser]:
    known = {user.pk: user for user in people}
    rows = sorted(browsers_of(*people), key=lambda row: known[row.user_id].email)
    return [
        _MemberBrowser(known[row.user_id], name_of(row), day_in_words(row.last_seen_at.date()))
        for row in rows
    ]


def _find(request: TeamRequest, member: int) -> Membership:
    require_role(request.access, Role.ADMIN)
    people = request.team.memberships.filter(user__service_of=None)
    membership = people.select_related("user").filter(pk=member).first()
    if membership is None:
        raise NotFound("Member")
    return membership
