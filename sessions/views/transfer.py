from __future__ import annotations

from django.http import HttpResponse
from django.utils.translation import gettext as _

from opencode_web.lib.errors import Invalid
from opencode_web.lib.json_body import parse_json
from sessions.actions.imports import import_session
from sessions.present.place import Place
from sessions.views.requests import form_of_project, project_of
from teams.http import TeamRequest, done, team_view
from teams.models import Role


@form_of_project
@team_view()
def import_document(request: TeamRequest, project: str) -> HttpResponse:
    """A session of a file that somebody exported, here or elsewhere."""
    access = project_of(request, project, need=Role.MEMBER)
    file = request.FILES.get("file")
    document = parse_json(file.read()) if file is not None else None
    if not isinstance(document, dict):
        raise Invalid(_("Choose a JSON file exported from a session."))
    session = import_session(access, document.get("info"), document.get("messages"))
    return done(request, _("Session imported."), to=Place.of(session).url("session"))
