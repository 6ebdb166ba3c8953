from __future__ import annotations

from django.http import HttpResponse
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_GET

from opencode_web.lib.errors import NotFound
from sessions.files import PICTURES, decode_data_url
from sessions.models import Part
from sessions.views.requests import session_of
from teams.http import TeamRequest, team_view


@require_GET
@team_view()
def attachment(request: TeamRequest, session: str, part: str) -> HttpResponse:
    """A file that came with a message: a picture is shown, everything else is saved."""
    row = session_of(request, session).session
    found = Part.objects.filter(session=row, pk=part, type="file").first()
    url = str(found.data.get("url", "")) if found else ""
    if found is None or not url.startswith("data:"):
        raise NotFound("Attachment", part)
    mime, name = str(found.data.get("mime")), str(found.data.get("filename") or "attachment")
    is_picture = mime in PICTURES
    response = HttpResponse(
        decode_data_url(url), content_type=mime if is_picture else "application/octet-stream"
    )
    if disposition := content_disposition_header(not is_picture, name):
        response["Content-Disposition"] = disposition
    response["X-Content-Type-Options"] = "nosniff"
    # A part never changes under its id.
    response["Cache-Control"] = "private, max-age=86400, immutable"
    return response
