from __future__ import annotations

from allauth.account.adapter import get_adapter
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from opencode_web.lib.errors import NotFound
from opencode_web.lib.public_url import absolute_url
from teams.actions.attempts import Kind, count_attempt
from teams.actions.invites import (
    InviteUnusable,
    accept_invite,
    accept_invite_as_new,
    create_invite,
    find_invite,
    revoke_invite,
)
from teams.forms import AcceptForm, InviteForm
from teams.http import INVITE, TeamRequest, attempt, client_ip, done, show, team_view
from teams.models import Invite, Membership, Role
from teams.views.members import show_members


@require_POST
@never_cache
@team_view(need=Role.ADMIN)
def invite_create(request: TeamRequest) -> HttpResponse:
    form = InviteForm(request.POST, role=request.access.role)
    made = attempt(
        form,
        lambda: create_invite(
            request.access,
            role=Role(form.cleaned_data["role"]),
            email=form.cleaned_data["email"],
            lifetime=form.lifetime,
            ip=client_ip(request),
        ),
    )
    if made is None:
        return show_members(request, invite_form=form, status=422)
    row, secret = made
    link = absolute_url(request, reverse("invite", args=[secret]))
    return show_members(request, invite_link=link, invited=row)


@require_http_methods(["GET", "POST"])
@team_view(need=Role.ADMIN)
def invite_revoke(request: TeamRequest, *, invite: str) -> HttpResponse:
    row = request.team.invites.filter(pk=invite).first()
    if row is None:
        raise NotFound("Invitation")
    url = reverse("teams:members", args=[request.team.slug])
    if request.method == "POST":
        revoke_invite(row, access=request.access, ip=client_ip(request))
        return done(request, _("Invitation revoked."), to=url)
    context = {
        "title": _("Revoke this invitation?"),
        "text": _("Its link stops working immediately."),
        "action": _("Revoke"),
        "back": url,
    }
    return render(request, "teams/confirm.html", context)


@require_http_methods(["GET", "POST"])
@never_cache
@sensitive_post_parameters("password")
def invite(request: HttpRequest, token: str) -> HttpResponse:
    try:
        row = find_invite(token)
    except InviteUnusable:
        count_attempt(Kind.INVITE, address=client_ip(request))
        raise
    if request.user.is_authenticated:
        return _join(request, row)
    return _sign_up(request, row, token)


def _join(request: HttpRequest, row: Invite) -> HttpResponse:
    assert request.user.is_authenticated  # the caller has checked; mypy cannot know
    if request.method == "POST":
        return _welcome(request, accept_invite(row, user=request.user, ip=client_ip(request)))
    is_member = row.team.memberships.filter(user=request.user).exists()
    is_other = bool(row.email) and row.email != request.user.email.lower()
    context: dict[str, object] = {"invite": row, "is_member": is_member, "is_other": is_other}
    return render(request, "teams/invite_join.html", context)


def _sign_up(request: HttpRequest, row: Invite, token: str) -> HttpResponse:
    request.session[INVITE] = row.pk
    form = AcceptForm(request.POST if request.method == "POST" else None, email=row.email)
    if request.method == "POST":
        membership = attempt(
            form,
            lambda: accept_invite_as_new(
                row,
                email=form.cleaned_data.get("email", ""),
                name=form.cleaned_data["name"],
                password=form.cleaned_data["password"],
                ip=client_ip(request),
            ),
        )
        if membership is not None:
            get_adapter(request).login(request, membership.user)
            return _welcome(request, membership)
    sign_in = f"{reverse('account_login')}?{urlencode({'next': reverse('invite', args=[token])})}"
    context: dict[str, object] = {"invite": row, "form": form, "sign_in": sign_in}
    status = 422 if request.method == "POST" else 200
    return show(request, "teams/invite.html", "teams/_invite_form.html", context, status=status)


def _welcome(request: HttpRequest, membership: Membership) -> HttpResponse:
    request.session.pop(INVITE, None)
    url = reverse("team_home", args=[membership.team.slug])
    return done(request, _("Welcome to %(name)s.") % {"name": membership.team.name}, to=url)
