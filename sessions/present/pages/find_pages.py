"""Pages and acts that people go to by their names."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from sessions.models import Project
from sessions.present.projects import labels_of, project_url
from teams.access import TeamAccess
from teams.models import Role
from teams.shortcuts import SHORTCUTS


@dataclass(frozen=True)
class Page:
    """`key` is the id of its shortcut, `words` what it is found by beside its name."""

    label: str
    url: str
    key: str = ""
    words: str = ""


def acts(ids: Collection[str]) -> list[Page]:
    """What the keys of a page do, as entries without an address. `ids`: which of them act there."""
    return [
        Page(str(one.label), "", key=one.id, words=str(one.group.label))
        for one in SHORTCUTS
        if one.id in ids and not (one.is_fixed or one.scope or one.id in _NO_ACTS)
    ]


def command_pages(access: TeamAccess) -> list[Page]:
    """Where people of a role go to do something."""
    team = {"team": access.team.slug}
    home = reverse("team_home", kwargs=team)
    usage = Page(
        _("Usage"), reverse("sessions:usage", kwargs=team), key="usage", words="spend cost tokens"
    )
    guide = Page(_("Documentation"), reverse("docs:index"), words="help manual guide")
    if not access.sees_work:
        return [usage, guide, *_console(access)]
    inbox = Page(_("Inbox"), reverse("sessions:waiting", kwargs=team), key="inbox", words="waiting")
    pages = [Page(_("All sessions"), home, key="home", words="home"), inbox, usage]
    if access.can(Role.MEMBER):
        pages = [
            Page(_("New session"), f"{home}#prompt", key="new-session"),
            *pages,
            Page(_("New project"), reverse("sessions:project_new", kwargs=team)),
        ]
    pages += [Page(_("Archived sessions"), f"{home}?archived=1&who=team"), guide]
    projects = list(Project.objects.filter(team=access.team).order_by("name", "pk"))
    labels = labels_of(projects)
    return [
        *pages,
        *_console(access),
        *(
            Page(_("Project %(name)s") % {"name": labels[one.pk]}, project_url(one))
            for one in projects
        ),
    ]


def _console(access: TeamAccess) -> list[Page]:
    if not access.user.is_superuser:
        return []
    words = "workers turns queues"
    return [Page(_("Operations"), reverse("ops:overview"), key="ops", words=words)]


# What is there as a page, and what the list of entries itself does.
_NO_ACTS = frozenset({"palette", "home", "inbox", "usage", "ops", "new-session"})
# Pages of settings by the names of their addresses, with what else people call them.
_FOR_ALL = (
    (gettext_noop("Members"), "teams:members", "invite people roles"),
    (gettext_noop("Roles"), "teams:roles", "rights may"),
    (gettext_noop("Budgets"), "sessions:budgets", "limit money cost spend"),
)
_OF_WORK = (
    (gettext_noop("General"), "teams:general", "team name address"),
    (gettext_noop("Models"), "providers:models", "providers"),
    (gettext_noop("Permissions"), "sessions:team_rules", "rules allow deny"),
    (gettext_noop("Advanced"), "sessions:team_config", "config opencode.json commands agents"),
    (gettext_noop("MCP servers"), "sessions:team_mcp", "tools model context protocol"),
    (gettext_noop("Network"), "sessions:team_network", "hosts sandbox"),
    (gettext_noop("Sharing"), "sessions:sharing", "links public"),
    (gettext_noop("Web search"), "sessions:search", "engine"),
    (gettext_noop("Skills"), "sessions:skills", ""),
)
_FOR_ADMINS = (
    (gettext_noop("Keys"), "providers:keys", "providers models credentials"),
    (gettext_noop("Service accounts"), "teams:services", "tokens ci"),
    (gettext_noop("Webhooks"), "sessions:webhooks", "events"),
    (gettext_noop("Audit"), "teams:audit", "trail log"),
)
_OWN = (
    (gettext_noop("Profile"), "me:profile", "name password"),
    (gettext_noop("Appearance"), "me:appearance", "theme dark light"),
    (gettext_noop("Shortcuts"), "me:shortcuts", "keyboard keys"),
    (gettext_noop("Notifications"), "me:notifications", "sound alert"),
    (gettext_noop("Browsers"), "me:devices", "devices sign out"),
    (gettext_noop("API tokens"), "me:tokens", "keys"),
    (gettext_noop("My models"), "my_models:models", "providers keys subscription"),
)


_ITEMS = (
    (gettext_noop("Commands"), "commands", "slash prompts"),
    (gettext_noop("Agents"), "agents", "subagents modes"),
)


def settings_pages(access: TeamAccess) -> list[Page]:
    """The settings that a role has, of the team and of the person."""
    of_work = access.sees_work
    named = [
        *(_OF_WORK if of_work else ()),
        *_FOR_ALL,
        *(_FOR_ADMINS if access.can(Role.ADMIN) else ()),
    ]
    team = {"team": access.team.slug}
    items = "sessions:team_items"
    return [
        *(Page(_(label), reverse(name, kwargs=team), words=words) for label, name, words in named),
        *(
            Page(_(label), reverse(items, kwargs={**team, "kind": kind}), words=words)
            for label, kind, words in (_ITEMS if of_work else ())
        ),
        *(Page(_(label), reverse(name), words=words) for label, name, words in _OWN),
    ]
