"""Commands and pages that people go to by their names."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace

from django.utils.translation import gettext as _

from sessions.models import Project
from sessions.present.projects import labels_of, project_url
from sessions.visibility import projects_in
from teams.access import TeamAccess
from teams.commands.acts import ACTS
from teams.commands.command import Command, Group
from teams.commands.pages import PAGES, TEAM_GROUPS, Page, plugin_pages

_SETTINGS = (*TEAM_GROUPS, Group.ACCOUNT, Group.OPERATIONS)
# A label of one of these says too little by itself.
_NAMED_BY_GROUP = (Group.OPERATIONS, Group.TERMINAL)


@dataclass(frozen=True)
class Target:
    """A command or a page as the list has it.

    `key` is the id of the command, `words` what it is found by beside its name, `names` those
    that it has in the message field. An act has no address.
    """

    label: str
    url: str
    key: str = ""
    words: str = ""
    names: list[str] = field(default_factory=list)
    # Whose settings a page is of.
    whose: str = ""
    # The first groups first.
    rank: int = len(Group)


def acts(ids: Collection[str]) -> list[Target]:
    """What can be done on a page. `ids`: what acts there."""
    return [_target(one, "") for one in ACTS if one.is_listed and one.id in ids]


def command_pages(access: TeamAccess, project: Project | None = None) -> list[Target]:
    """Where people of a role go to do something, from a page that is about `project`, or from one
    that is about none where the team has a single one."""
    projects = list(projects_in(access).order_by("name", "pk"))
    if project is None and len(projects) == 1:
        project = projects[0]
    place = {"team": access.team.slug}
    if project is not None:
        place["project"] = project.pk
    groups = [Group.GO, Group.ANYWHERE, *([Group.PROJECT] if project is not None else [])]
    pages = [one for one in (*PAGES, *plugin_pages()) if one.group in groups or one.keys]
    labels = labels_of(projects)
    return [
        *_for_person(access, pages, place),
        *(
            Target(_("Project %(name)s") % {"name": labels[one.pk]}, project_url(one))
            for one in projects
        ),
    ]


def settings_pages(access: TeamAccess) -> list[Target]:
    """The settings that a role has, of the team, the person and the instance."""
    pages = [one for one in PAGES if one.group in _SETTINGS and not one.keys]
    return _for_person(access, pages, {"team": access.team.slug})


def slash_targets(access: TeamAccess, project: Project, acting: Collection[str]) -> list[Target]:
    """What has a name after `/` in the message field. What does not act here has no key either."""
    pages = [one for one in PAGES if one.slash]
    place = {"team": access.team.slug, "project": project.pk}
    idle = [replace(_target(one, ""), key="") for one in ACTS if one.slash and one.id not in acting]
    found = [*acts(acting), *_for_person(access, pages, place), *idle]
    return [one for one in found if one.names]


def _for_person(access: TeamAccess, pages: Iterable[Page], place: dict[str, str]) -> list[Target]:
    found = [(one, one.url(place)) for one in pages if one.is_for(access.user, access.role)]
    return [_target(one, url) for one, url in found if url]


def _target(command: Command, url: str) -> Target:
    label = str(command.label)
    if command.group in _NAMED_BY_GROUP:
        label = f"{command.group.label}: {label}"
    words = f"{command.group.label} {command.slash} {command.words}"
    rank = [*Group].index(command.group)
    whose = _("Team") if command.group in TEAM_GROUPS else ""
    if command.group == Group.ACCOUNT:
        whose = str(Group.ACCOUNT.label)
    return Target(label, url, command.id, words, command.names, whose, rank)
