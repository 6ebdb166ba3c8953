"""An issue tracker of a project: admins connect it. The rest is as of the forge."""

from __future__ import annotations

from django.http import HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from opencode_web.lib.errors import NotFound
from opencode_web.lib.outside import waits_outside
from sessions.forms.tracker import TrackerForm
from sessions.integrations.setup import service_accounts
from sessions.integrations.systems import TRACKERS
from sessions.integrations.trackers import probe_and_connect
from sessions.views.integration import page_url, show_page
from sessions.views.requests import project_of
from teams.http import TeamRequest, attempt, client_ip, done, team_view
from teams.models import Role


@waits_outside
@require_http_methods(["GET", "POST"])
@never_cache
@team_view()
def tracker(request: TeamRequest, project: str, tracker: str) -> HttpResponse:
    """Read it, or connect it."""
    posted = request.method == "POST"
    access = project_of(request, project, need=Role.ADMIN if posted else Role.VIEWER)
    if tracker not in TRACKERS:
        raise NotFound("Issue tracker", tracker)
    if not posted:
        return show_page(request, access, tracker)
    form, ip = TrackerForm(request.POST, accounts=service_accounts(access)), client_ip(request)
    if attempt(form, lambda: probe_and_connect(access, tracker, form.draft, ip=ip)) is None:
        return show_page(request, access, tracker, form=form, status=422)
    return done(request, _("Saved."), to=page_url(access, tracker))
