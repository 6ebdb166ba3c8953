from __future__ import annotations

import json

from django.conf import settings
from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject
from django.utils.translation import get_language

from opencode_web.lib.build import build_id
from opencode_web.lib.languages import is_translated
from teams.access import may_create_team, teams_of
from teams.http import shell_access
from teams.models import User
from teams.shortcuts import BOUND, LONE, acting_keys
from teams.themes import theme_version


def site(request: HttpRequest) -> dict[str, object]:
    """What every page needs: version, build, theme, language and keys of a person, their teams."""
    user, language = request.user, get_language()
    preferences = getattr(user, "preferences", {})
    return {
        "version": settings.VERSION,
        "build": build_id(),
        "theme": getattr(user, "theme", ""),
        "theme_version": theme_version(user) if isinstance(user, User) else "",
        "words": f"words/{language}.js" if language and is_translated(language) else "",
        "shortcuts": SimpleLazyObject(lambda: json.dumps(acting_keys(preferences))),
        "rebound": bool(preferences.get(BOUND)) or not preferences.get(LONE, True),
        "may_create_team": isinstance(user, User) and may_create_team(user),
        "shell": SimpleLazyObject(lambda: shell_access(request)),
        # Lazy: fragments do not show the switcher, so they do not ask the database for it.
        "teams": SimpleLazyObject(lambda: list(teams_of(user, need=None))),
    }
