from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest


def site(request: HttpRequest) -> dict[str, object]:
    """What every page shows: the version, and the theme the signed-in person chose."""
    return {"version": settings.VERSION, "theme": getattr(request.user, "theme", "")}
