"""The page on which owners have their team exported, and download it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods

from opencode_web.backup.files import CHUNK_BYTES
from opencode_web.transfer.jobs import access_export, request_export
from teams.http import TeamRequest, done, show, team_view
from teams.models import Role, TeamExport


@require_http_methods(["GET", "POST"])
@never_cache
@team_view(need=Role.OWNER)
def export(request: TeamRequest) -> HttpResponse:
    """List the archives, and have one made."""
    url = reverse("team_export", args=[request.team.slug])
    if request.method == "POST":
        request_export(request.access)
        return done(request, _("The export has begun."), to=url)
    rows = list(TeamExport.objects.filter(team=request.team).order_by("-created_at")[:10])
    open_states = (TeamExport.State.WAITING, TeamExport.State.RUNNING)
    context: dict[str, object] = {
        "rows": [(row, 100 * row.done // (row.total or 1), row.is_ready()) for row in rows],
        "is_made": any(row.state in open_states for row in rows),
        "team": request.team,
        "now": timezone.now(),
    }
    return show(request, "teams/export.html", "teams/_export.html", context)


@require_GET
@never_cache
@team_view(need=Role.OWNER)
def export_download(request: TeamRequest, export: str) -> HttpResponseBase:
    """The file."""
    row, path = access_export(request.access, export)
    name = f"{request.team.slug}-{row.created_at:%Y-%m-%d}.tar"
    response = StreamingHttpResponse(_pieces(path), content_type="application/x-tar")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    response["Content-Length"] = str(row.size_bytes)
    return response


async def _pieces(path: Path) -> AsyncIterator[bytes]:
    # A file response would be read into memory as a whole under ASGI.
    with path.open("rb") as file:
        while piece := await asyncio.to_thread(file.read, CHUNK_BYTES):
            yield piece
