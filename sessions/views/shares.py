"""Links to a session, for those who may share it; and which links a team allows."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from opencode_web.lib.public_url import absolute_url
from sessions.access import SessionAccess
from sessions.actions.settings import update_team_settings
from sessions.actions.shares import create_share, revoke_share
from sessions.config.sharing import KEY, Links
from sessions.forms.shares import ShareForm, SharingForm
from sessions.models import Share
from sessions.present.frame.rail import load_rail
from sessions.present.place import Place
from sessions.shares.access import visible_shares
from sessions.shares.links import share_token
from sessions.shares.policy import most_links, project_links, team_links
from sessions.shares.scan import Findings, scan_session
from sessions.views.requests import rail_filter, session_of
from teams.access import require_role
from teams.http import TeamRequest, attempt, client_ip, done, team_view
from teams.models import Role


@require_http_methods(["GET", "POST"])
@never_cache
@team_view()
def shares(request: TeamRequest, session: str) -> HttpResponse:
    access = session_of(request, session, need=Role.MEMBER)
    allowed = project_links(access.project)
    if request.method != "POST":
        return _show(request, access, ShareForm(allowed=allowed))
    form, found = ShareForm(request.POST, allowed=allowed), None
    if form.is_valid() and form.cleaned_data["scope"] == Share.Scope.PUBLIC:
        found = scan_session(access.session, details=form.cleaned_data["details"])
    if found and not form.cleaned_data["confirmed"]:
        return _show(request, access, form, found=found, status=422)
    share = attempt(form, lambda: _create(access, form, ip=client_ip(request)))
    if share is None:
        return _show(request, access, form, found=found, status=422)
    return _changed(request, access, _("Link created."))


def _create(access: SessionAccess, form: ShareForm, *, ip: str | None) -> Share:
    fields = form.cleaned_data
    days = int(fields["days"])
    return create_share(access, scope=fields["scope"], days=days, details=fields["details"], ip=ip)


@require_POST
@team_view()
def share_revoke(request: TeamRequest, session: str, share: str) -> HttpResponse:
    access = session_of(request, session, need=Role.MEMBER)
    revoke_share(access, share, ip=client_ip(request))
    return _changed(request, access, _("Link revoked. It no longer opens the session."))


def _changed(request: TeamRequest, access: SessionAccess, said: str) -> HttpResponse:
    if request.htmx:
        form = ShareForm(allowed=project_links(access.project))
        return _show(request, access, form, said=said)
    return done(request, said, to=Place.of(access.session).url("shares"))


def _show(
    request: TeamRequest,
    access: SessionAccess,
    form: ShareForm,
    *,
    found: Findings | None = None,
    said: str = "",
    status: int = 200,
) -> HttpResponse:
    place = Place.of(access.session)
    context = {
        "url": place.url("shares"),
        "back_url": place.url("session"),
        "session": access.session,
        "form": form,
        "found": found,
        "said": said,
        "allowed": project_links(access.project) is not Links.NONE,
        "limit": _limit(request, access),
        "links": [_link(request, place, one) for one in visible_shares(access)],
    }
    if request.htmx:
        # The header's button becomes the panel; what is sent from the panel changes its inside.
        name = "_share_form" if request.method == "POST" else "_share"
        return render(request, f"sessions/{name}.html", context, status=status)
    context["rail"] = load_rail(request.access, rail_filter(request), current=access.session.pk)
    return render(request, "sessions/share.html", context, status=status)


def _limit(request: TeamRequest, access: SessionAccess) -> dict[str, str] | None:
    """What keeps links from being for anybody, and where who may can change it."""
    allowed, of_team = project_links(access.project), team_links(request.team)
    if allowed is Links.PUBLIC:
        return None
    at_team = reverse("sessions:sharing", kwargs={"team": request.team.slug})
    named = {"team": request.team.slug, "project": access.project.pk}
    at_project = reverse("sessions:project", kwargs=named)
    if of_team is Links.NONE:
        text, url = _("The team does not allow links to sessions."), at_team
    elif allowed is Links.NONE:
        text, url = _("Sharing is turned off in this project's settings."), at_project
    elif most_links() is not Links.PUBLIC:
        text, url = _("This server does not allow public links. An operator can change this."), ""
    else:
        text, url = _("The team only allows links for its members."), at_team
    may = request.access.can(Role.ADMIN)
    who = "" if may or not url else _("A team admin can change this.")
    return {"text": f"{text} {who}".strip(), "url": url if may else ""}


def _link(request: TeamRequest, place: Place, share: Share) -> dict[str, object]:
    path = reverse("shared", kwargs={"token": share_token(share.pk)})
    return {
        "id": share.pk,
        "url": absolute_url(request, path),
        "public": share.scope == Share.Scope.PUBLIC,
        "details": share.details,
        "by": share.created_by.display_name if share.created_by else "",
        "until": share.expires_at,
        "opened": share.opened_at,
        "revoke_url": place.url("share_revoke", share=share.pk),
    }


@require_http_methods(["GET", "POST"])
@team_view()
def sharing(request: TeamRequest) -> HttpResponse:
    """Which links sessions of the team may have: everybody reads it, admins set it."""
    stored, most = team_links(request.team), most_links()
    if request.method != "POST":
        return _sharing_page(request, SharingForm(stored=stored, most=most))
    require_role(request.access, Role.ADMIN)
    form, ip = SharingForm(request.POST, stored=stored, most=most), client_ip(request)
    saved = attempt(
        form, lambda: update_team_settings(request.access, {KEY: form.cleaned_data}, ip=ip)
    )
    if saved is None:
        return _sharing_page(request, form, status=422)
    url = reverse("sessions:sharing", kwargs={"team": request.team.slug})
    return done(request, _("Saved. This also applies to existing links."), to=url)


def _sharing_page(request: TeamRequest, form: SharingForm, *, status: int = 200) -> HttpResponse:
    context = {
        "form": form,
        "in_force": team_links(request.team),
        "may_change": request.access.can(Role.ADMIN),
        "bounded": most_links() is not Links.PUBLIC,
    }
    return render(request, "sessions/sharing.html", context, status=status)
