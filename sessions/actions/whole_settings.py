"""Replacing the settings of a team or project as a whole, by a page that shows all of them.

Other pages keep what they set in the same place, so what would be lost is agreed to first.
"""

from __future__ import annotations

from django.db import transaction
from django.utils.translation import gettext as _

from opencode_web.lib.errors import Conflict
from opencode_web.lib.json import JsonObject
from sessions.access import ProjectAccess
from sessions.actions.projects import update_project
from sessions.actions.settings import update_team_settings
from sessions.actions.team_items import mark_of, require_same
from sessions.models import Project
from sessions.rules.removals import removals, say_removals
from teams.access import TeamAccess, require_role
from teams.models import Role, Team


class NotAgreed(Conflict):
    """Settings would lose what nobody has agreed to lose. `mark` is what agreeing takes."""

    def __init__(self, gone: dict[str, list[str]]) -> None:
        said = _("Nothing is saved yet. Saving removes: %(what)s.")
        super().__init__(said % {"what": say_removals(gone)})
        self.mark = _mark(gone)


@transaction.atomic
def replace_team_settings(
    access: TeamAccess, data: JsonObject, *, seen: str, agreed: str = "", ip: str | None = None
) -> JsonObject:
    """Put settings in place of all that a team has.

    `seen` is the mark of what the page showed, `agreed` that of what may be lost.
    Returns: the settings as stored.
    Raises: Conflict when others are stored by now; NotAgreed; Invalid naming what is wrong.
    Nothing is changed then.
    """
    team = Team.objects.select_for_update().get(pk=access.team.pk)
    require_same(team.config, seen)
    after = update_team_settings(access, data, replace=True, ip=ip)
    _require_agreed(team.config, after, agreed)
    return after


@transaction.atomic
def replace_project_settings(
    access: ProjectAccess, data: JsonObject, *, seen: str, agreed: str = ""
) -> JsonObject:
    """Like `replace_team_settings`, for one project. Raises: Forbidden below admin, too."""
    require_role(access.team, Role.ADMIN)
    project = Project.objects.select_for_update().get(pk=access.project.pk)
    require_same(project.config, seen)
    after: JsonObject = update_project(access, config=data).config
    _require_agreed(project.config, after, agreed)
    return after


def _require_agreed(before: JsonObject, after: JsonObject, agreed: str) -> None:
    gone = removals(before, after)
    if gone and _mark(gone) != agreed:
        raise NotAgreed(gone)


def _mark(gone: dict[str, list[str]]) -> str:
    return mark_of({key: [*names] for key, names in gone.items()})
