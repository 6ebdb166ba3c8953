"""Changes of one item of a team's or project's settings, by a page that shows only that."""

from __future__ import annotations

import hashlib
import json

from django.db import transaction
from django.utils.translation import gettext as _

from opencode_web.lib.errors import Conflict
from opencode_web.lib.json import JsonObject, JsonValue
from sessions.access import ProjectAccess
from sessions.actions.settings import update_project_settings, update_team_settings
from sessions.models import Project
from teams.access import TeamAccess, require_role
from teams.models import Role, Team

# The way to an item: a key of the settings, and a name below it where it holds several.
ItemPath = tuple[str] | tuple[str, str]


def mark_of(value: JsonValue) -> str:
    """Returns: what tells this value from any other, for a form that is sent back later."""
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:16]


def item_of(config: JsonObject, path: ItemPath) -> JsonValue:
    """Returns: the item as it is stored; None where there is none."""
    value: JsonValue = config
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


@transaction.atomic
def put_team_item(
    access: TeamAccess, path: ItemPath, value: JsonValue, *, seen: str, ip: str | None = None
) -> None:
    """Replace an item of the team's settings; None takes it away.

    `seen` is the mark of what the page showed.
    Raises: Conflict when that is no more what is stored; Invalid when the settings are wrong with
    it. Nothing is changed then.
    """
    team = Team.objects.select_for_update().get(pk=access.team.pk)
    require_same(item_of(team.config, path), seen)
    update_team_settings(access, _with(team.config, path, value), replace=True, ip=ip)


@transaction.atomic
def put_project_item(
    access: ProjectAccess, path: ItemPath, value: JsonValue, *, seen: str, ip: str | None = None
) -> None:
    """Like `put_team_item`, for one project. Raises: Forbidden below admin, too."""
    require_role(access.team, Role.ADMIN)
    project = Project.objects.select_for_update().get(pk=access.project.pk)
    require_same(item_of(project.config, path), seen)
    update_project_settings(access, _with(project.config, path, value), replace=True, ip=ip)


def require_same(stored: JsonValue, seen: str) -> None:
    """Raises: Conflict when what is stored is not what a page showed, by its mark."""
    if mark_of(stored) != seen:
        raise Conflict(_("Someone else has changed this. Check the current version."))


def _with(config: JsonObject, path: tuple[str, ...], value: JsonValue) -> JsonObject:
    key, rest = path[0], path[1:]
    if rest:
        known = config.get(key)
        value = _with(known if isinstance(known, dict) else {}, rest, value) or None
    # What is replaced keeps its place: of rules the order counts.
    changed = {**config, key: value}
    return {name: one for name, one in changed.items() if one is not None}
