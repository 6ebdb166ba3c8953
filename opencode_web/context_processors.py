from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from teams.access import teams_of


def site(request: HttpRequest) -> dict[str, object]:
    """What every page shows: the version, the theme of the person, and the teams to switch to."""
    user = request.user
    return {
        "version": settings.VERSION,
        "theme": getattr(user, "theme", ""),
        # Lazy: fragments do not show the switcher, so they do not ask the database for it.
        "teams": SimpleLazyObject(lambda: list(teams_of(user))),
    }
