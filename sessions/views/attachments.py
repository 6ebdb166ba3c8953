"""Files that came with a message, and pictures that a tool gave to the model."""

from __future__ import annotations

from django.http import HttpResponse
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_GET

from opencode_web.lib.errors import NotFound
from sessions.events.stored import StoredFile, StoredTool
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
    if found is None:
        raise NotFound("Attachment", part)
    return _answer(found.data, part)


@require_GET
@team_view()
def call_picture(request: TeamRequest, session: str, part: str, number: int) -> HttpResponse:
    """A picture beside the output of a tool. Raises: NotFound for any other file."""
    row = session_of(request, session).session
    found = Part.objects.filter(session=row, pk=part, type="tool").first()
    call: StoredTool | None = found.data if found else None
    files = call["state"].get("attachments", []) if call else []
    file = files[number] if number < len(files) else None
    if file is None or file["mime"] not in PICTURES:
        raise NotFound("Picture", part)
    return _answer(file, part)


def _answer(file: StoredFile, part: str) -> HttpResponse:
    url = file["url"]
    if not url.startswith("data:"):
        raise NotFound("Attachment", part)
    mime, name = file["mime"], file.get("filename") or "attachment"
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
