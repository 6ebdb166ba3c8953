"""The pages that people go to by name, and the navigation of the settings. See `registry.py`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from django.urls import NoReverseMatch, get_script_prefix, reverse
from django.utils.translation import gettext_lazy

from opencode_web.lib.plugins.loading import active_plugins
from teams.access import has_role, is_operator, may_create_team
from teams.commands.command import Command, Group
from teams.models import Role, User

# Who a page is for. `work`: who sees sessions and projects; `creator`: who may create teams.
Need = Literal["everybody", "work", "member", "admin", "owner", "operator", "creator"]
_ROLES = {"work": Role.VIEWER, "member": Role.MEMBER, "admin": Role.ADMIN, "owner": Role.OWNER}


@dataclass(frozen=True)
class Page(Command):
    """A page with a name.

    `view` is its route's name, `kind` what that is told beside the place, `query` what follows its
    address, `icon` one of the sprite; `below`: how names of other routes begin that belong to it.
    """

    view: str = ""
    need: Need = "everybody"
    icon: str = ""
    kind: str = ""
    below: str = ""
    query: str = ""

    @property
    def is_bindable(self) -> bool:
        """Keys press a link that every page has."""
        return bool(self.keys)

    @property
    def is_listed(self) -> bool:
        return True

    def is_for(self, user: User, role: Role | None) -> bool:
        """Whether somebody with this role in the team that the page belongs to may see it."""
        if self.need == "operator":
            return is_operator(user)
        if self.need == "creator":
            return may_create_team(user)
        return self.need == "everybody" or (role is not None and has_role(role, _ROLES[self.need]))

    def url(self, place: Mapping[str, str]) -> str:
        """Its address; empty where its app has no pages.

        `place`: the `team`, and of a project's page the `project`.
        """
        wanted = {name: place[name] for name in _PLACES.get(self.group, ("team",))}
        own = {"kind": self.kind} if self.kind else {}
        try:
            return reverse(self.view, kwargs={**wanted, **own}) + self.query
        except NoReverseMatch:
            return ""

    def fit(self, view: str, kwargs: Mapping[str, object]) -> int:
        """Returns: how many characters of a route's name say that it belongs to this page."""
        if self.kind and kwargs.get("kind") != self.kind:
            return 0
        names = [self.view, *self.below.split()]
        return max((len(name) for name in names if view.startswith(name)), default=0)


# What the address of a page says, where it is not the team alone.
_PLACES: dict[str, tuple[str, ...]] = {
    Group.PROJECT: ("team", "project"),
    Group.ACCOUNT: (),
    Group.OPERATIONS: (),
    Group.ANYWHERE: (),
}
TEAM_GROUPS = (
    *(Group.TEAM, Group.PEOPLE, Group.MODELS, Group.AGENTS),
    *(Group.SECURITY, Group.AUTOMATION, Group.DATA),
)


def current_page(pages: Iterable[Page], view: str, kwargs: Mapping[str, object]) -> Page | None:
    """Returns: the page that a route belongs to."""
    rated = [(page.fit(view, kwargs), page) for page in pages]
    best = max(rated, key=lambda one: one[0], default=None)
    return best[1] if best and best[0] else None


# fmt: off
_GO = (
    Page("new-session", Group.GO, gettext_lazy("New session"), view="team_home", icon="plus",
         need="member", slash="new clear", keys="n", query="#prompt"),
    Page("home", Group.GO, gettext_lazy("All sessions"), view="team_home", icon="house",
         need="work", slash="home exit quit", keys="g h"),
    Page("board", Group.GO, gettext_lazy("Board"), view="sessions:board", icon="columns-2",
         need="work", slash="board", words="kanban columns review"),
    Page("inbox", Group.GO, gettext_lazy("Inbox"), view="sessions:waiting", icon="message-square",
         need="work", slash="inbox", words="waiting", keys="g i"),
    Page("new-project", Group.GO, gettext_lazy("New project"), view="sessions:project_new",
         icon="plus", need="member"),
    Page("archived", Group.GO, gettext_lazy("Archived sessions"), view="team_home", icon="folder",
         need="work", query="?archived=1&who=team"),
    Page("documentation", Group.ANYWHERE, gettext_lazy("Documentation"), view="docs:index",
         icon="circle-help", slash="docs", words="help manual guide"),
    Page("install", Group.ANYWHERE, gettext_lazy("Install app"), view="docs:index", icon="monitor",
         words="phone home screen pwa", query="#install-the-app-on-a-phone"),
    Page("new-team", Group.ANYWHERE, gettext_lazy("New team"), view="new_team", icon="plus",
         need="creator"),
)
_PROJECT = (
    Page("project", Group.PROJECT, gettext_lazy("Project"), view="sessions:project",
         icon="folder", need="work"),
    Page("project-settings", Group.PROJECT, gettext_lazy("Settings of the project"),
         view="sessions:project_settings", icon="settings", need="work",
         words="opencode.json saved permissions delete"),
    Page("project-mcp", Group.PROJECT, gettext_lazy("MCP servers of the project"),
         view="sessions:project_mcp", icon="cpu", need="work", slash="mcps mcp", words="tools"),
    Page("project-network", Group.PROJECT, gettext_lazy("Network of the project"),
         view="sessions:project_network", icon="link", need="work", words="hosts sandbox"),
    Page("project-commands", Group.PROJECT, gettext_lazy("Commands of the project"),
         view="sessions:commands", icon="terminal", need="work", words="slash prompts"),
    Page("repository", Group.PROJECT, gettext_lazy("Agent files of the repository"),
         view="sessions:repository", icon="file-text", need="work", words="trust AGENTS.md"),
    Page("publishing", Group.PROJECT, gettext_lazy("Publishing of the project"),
         view="sessions:publishing", icon="git-branch", need="admin",
         words="forge github gitlab token"),
    Page("integration", Group.PROJECT, gettext_lazy("Integration of the project"),
         view="sessions:integration", icon="link", need="work",
         words="github gitlab gitea webhook comments"),
    Page("secrets", Group.PROJECT, gettext_lazy("Secrets of the project"),
         view="sessions:secrets", icon="key-round", need="admin", words="environment variables"),
    Page("schedules", Group.PROJECT, gettext_lazy("Schedules of the project"),
         view="sessions:schedules", icon="clock", need="work", words="cron automation"),
)
_TEAM = (
    Page("general", Group.TEAM, gettext_lazy("General"), view="teams:general", icon="settings",
         need="work", words="team name address settings"),
    Page("members", Group.PEOPLE, gettext_lazy("Members"), view="teams:members", icon="users",
         words=gettext_lazy("invite people roles")),
    Page("groups", Group.PEOPLE, gettext_lazy("Groups"), view="teams:groups", icon="users",
         need="admin", words="people access approvers", below="teams:group"),
    Page("roles", Group.PEOPLE, gettext_lazy("Roles"), view="teams:roles", icon="list-checks",
         words="rights may"),
    Page("models", Group.MODELS, gettext_lazy("Models"), view="providers:models", icon="cpu",
         need="work", words=gettext_lazy("providers"),
         below="providers: sessions:default_model sessions:model_uses"),
    Page("keys", Group.MODELS, gettext_lazy("Keys"), view="providers:keys", icon="key-round",
         need="admin", slash="connect", words=gettext_lazy("providers models credentials")),
    Page("usage", Group.MODELS, gettext_lazy("Usage"), view="sessions:usage", icon="chart-column",
         slash="usage", words="spend cost tokens", keys="g u"),
    Page("budgets", Group.MODELS, gettext_lazy("Budgets"), view="sessions:budgets", icon="lock",
         words=gettext_lazy("limit money cost spend"), below="sessions:budget_ask"),
    Page("team-agents", Group.AGENTS, gettext_lazy("Agents"), view="sessions:team_items",
         icon="bot", need="work", words="subagents modes", kind="agents",
         below="sessions:team_item"),
    Page("team-commands", Group.AGENTS, gettext_lazy("Commands"), view="sessions:team_items",
         icon="terminal", need="work", words="slash prompts", kind="commands",
         below="sessions:team_item"),
    Page("skills", Group.AGENTS, gettext_lazy("Skills"), view="sessions:skills", icon="file-text",
         need="work", slash="skills", below="sessions:skill"),
    Page("team-mcp", Group.AGENTS, gettext_lazy("MCP servers"), view="sessions:team_mcp",
         icon="cpu", need="work", words="tools model context protocol"),
    Page("team-plugins", Group.AGENTS, gettext_lazy("Plugins"), view="sessions:team_plugins",
         icon="cpu", need="work", words="npm packages hooks"),
    Page("web-search", Group.AGENTS, gettext_lazy("Web search"), view="sessions:search",
         icon="globe", need="work", words="engine"),
    Page("permissions", Group.SECURITY, gettext_lazy("Permissions"), view="sessions:team_rules",
         icon="shield-check", need="work", slash="permissions", words="rules allow deny"),
    Page("network", Group.SECURITY, gettext_lazy("Network"), view="sessions:team_network",
         icon="link", need="work", words="hosts sandbox"),
    Page("team-secrets", Group.SECURITY, gettext_lazy("Secrets"), view="sessions:team_secrets",
         icon="key-round", need="work", words="environment variables keys redaction"),
    Page("sharing", Group.SECURITY, gettext_lazy("Sharing"), view="sessions:sharing",
         icon="external-link", need="work", words="links public"),
    Page("approvals", Group.SECURITY, gettext_lazy("Approvals"), view="sessions:approvals",
         icon="users", words="second person four eyes two person approve requests"),
    Page("services", Group.AUTOMATION, gettext_lazy("Service accounts"), view="teams:services",
         icon="bot", need="admin", words="tokens ci", below="teams:service"),
    Page("webhooks", Group.AUTOMATION, gettext_lazy("Webhooks"), view="sessions:webhooks",
         icon="send", need="admin", words="events", below="sessions:webhook"),
    Page("slack", Group.AUTOMATION, "Slack", view="sessions:slack", icon="send",
         need="work", words="chat channels messages", below="sessions:slack"),
    Page("audit", Group.DATA, gettext_lazy("Audit"), view="teams:audit", icon="scroll-text",
         need="admin", words="trail log"),
    Page("retention", Group.DATA, gettext_lazy("Retention"), view="sessions:retention",
         icon="clock", need="admin", words="legal hold days keep delete old",
         below="sessions:hold"),
    Page("team-export", Group.DATA, gettext_lazy("Export"), view="team_export", icon="copy",
         need="owner", words="archive move server backup download"),
    Page("erase", Group.DATA, gettext_lazy("Erase"), view="sessions:erase", icon="trash-2",
         need="owner", words="delete remove for good gdpr forget"),
    Page("advanced", Group.DATA, gettext_lazy("Advanced"), view="sessions:team_config",
         icon="settings", need="work", words="config opencode.json commands agents"),
)
_ACCOUNT = (
    Page("profile", Group.ACCOUNT, gettext_lazy("Profile"), view="me:profile", icon="user",
         words="name password"),
    Page("appearance", Group.ACCOUNT, gettext_lazy("Appearance"), view="me:appearance",
         icon="palette", slash="themes theme", words=gettext_lazy("dark light language")),
    Page("shortcuts", Group.ACCOUNT, gettext_lazy("Shortcuts"), view="me:shortcuts",
         icon="keyboard", words="keyboard keys"),
    Page("notifications", Group.ACCOUNT, gettext_lazy("Notifications"), view="own_notifications",
         icon="info", words="sound alert push e-mail quiet webhook",
         below="own_push own_webhook"),
    Page("devices", Group.ACCOUNT, gettext_lazy("Browsers"), view="me:devices", icon="monitor",
         words=gettext_lazy("devices sign out everywhere")),
    Page("security", Group.ACCOUNT, gettext_lazy("Security"), view="mfa_index",
         icon="shield-check", below="mfa_",
         words="mfa 2fa two-step two-factor passkey totp authenticator recovery code sso"),
    Page("tokens", Group.ACCOUNT, gettext_lazy("API tokens"), view="me:tokens", icon="key-round",
         words="keys editor acp zed jetbrains neovim emacs"),
    Page("my-data", Group.ACCOUNT, gettext_lazy("Personal data"), view="me_data",
         icon="file-text", words="privacy export download gdpr"),
    Page("my-models", Group.ACCOUNT, gettext_lazy("My models"), view="my_models:models",
         icon="cpu", words=gettext_lazy("providers keys subscription"), below="my_models:"),
    Page("own-mcp", Group.ACCOUNT, gettext_lazy("MCP sign-ins"), view="own_mcp", icon="cpu",
         words="model context protocol oauth accounts"),
)
_OPERATIONS = (
    Page("ops", Group.OPERATIONS, gettext_lazy("Overview"), view="ops:overview", icon="monitor",
         need="operator", words="operations workers turns queues console", keys="g o"),
    Page("ops-history", Group.OPERATIONS, gettext_lazy("History"), view="ops:history",
         icon="chart-column", need="operator", words="charts spend tokens errors over time"),
    Page("ops-announcements", Group.OPERATIONS, gettext_lazy("Announcements"),
         view="ops:announcements", icon="info", need="operator", words="maintenance banner"),
    Page("ops-turns", Group.OPERATIONS, gettext_lazy("Turns"), view="ops:turns",
         icon="refresh-cw", need="operator"),
    Page("ops-workers", Group.OPERATIONS, gettext_lazy("Workers"), view="ops:workers", icon="cpu",
         need="operator"),
    Page("ops-queues", Group.OPERATIONS, gettext_lazy("Queues"), view="ops:queues",
         icon="list-checks", need="operator"),
    Page("ops-folders", Group.OPERATIONS, gettext_lazy("Folders"), view="ops:folders",
         icon="folder", need="operator", below="ops:folder"),
    Page("ops-events", Group.OPERATIONS, gettext_lazy("Events"), view="ops:events", icon="clock",
         need="operator"),
    Page("ops-health", Group.OPERATIONS, gettext_lazy("Health"), view="ops:health",
         icon="shield-check", need="operator", below="ops:findings"),
    Page("ops-backups", Group.OPERATIONS, gettext_lazy("Backups"), view="ops:backups",
         icon="copy", need="operator"),
    Page("ops-models", Group.OPERATIONS, gettext_lazy("Models"), view="instance_models:models",
         icon="cpu", need="operator", below="instance_models:"),
    Page("ops-limits", Group.OPERATIONS, gettext_lazy("Teams"), view="ops:limits", icon="users",
         need="operator", words="limits fair quota turns terminals", below="ops:limit"),
    Page("ops-budgets", Group.OPERATIONS, gettext_lazy("Budgets"), view="ops:budgets",
         icon="chart-column", need="operator", words=gettext_lazy("limit money cost spend")),
    Page("ops-catalog", Group.OPERATIONS, gettext_lazy("Model catalog"), view="ops:catalog",
         icon="bot", need="operator"),
    Page("ops-plugins", Group.OPERATIONS, gettext_lazy("Plugins"), view="ops:plugins",
         icon="cpu", need="operator", words="npm packages hooks"),
    Page("ops-addresses", Group.OPERATIONS, gettext_lazy("Private addresses"),
         view="ops:addresses", icon="lock", need="operator"),
    Page("ops-emergency", Group.OPERATIONS, gettext_lazy("Emergency access"),
         view="ops:emergency", icon="shield-check", need="operator"),
    Page("ops-people", Group.OPERATIONS, gettext_lazy("People"), view="ops:people",
         icon="users", need="operator", words="accounts deactivate operator sign out",
         below="ops:person"),
    Page("ops-identity", Group.OPERATIONS, gettext_lazy("Identity"), view="ops:identity",
         icon="key-round", need="operator", words="sso saml oidc mfa password reset",
         below="ops:provider"),
    Page("ops-retention", Group.OPERATIONS, gettext_lazy("Retention"), view="ops:retention",
         icon="clock", need="operator", words="legal hold days keep", below="ops:hold"),
    Page("ops-erasures", Group.OPERATIONS, gettext_lazy("Erasure"), view="ops:erasures",
         icon="trash-2", need="operator", words="delete person team for good gdpr forget"),
    Page("ops-directory", Group.OPERATIONS, gettext_lazy("Directory (SCIM)"),
         view="ops:directory", icon="refresh-cw", need="operator",
         words="scim provisioning okta entra groups tokens"),
    Page("ops-audit", Group.OPERATIONS, gettext_lazy("Audit"), view="ops:audit",
         icon="scroll-text", need="operator"),
)
# fmt: on

PAGES = (*_GO, *_PROJECT, *_TEAM, *_ACCOUNT, *_OPERATIONS)


@dataclass(frozen=True)
class PluginPage(Page):
    """A link of a plugin that the operator has installed: to another site, or to a path here."""

    address: str = ""

    def url(self, place: Mapping[str, str]) -> str:
        is_path = self.address.startswith("/")
        return get_script_prefix().rstrip("/") + self.address if is_path else self.address


def plugin_pages() -> list[Page]:
    """Returns: the links of the installed plugins that work now."""
    return [
        PluginPage(
            f"plugin-{plugin.name}-{entry.id}",
            Group.ANYWHERE,
            entry.label,
            address=entry.url,
            icon="external-link",
            need=entry.need,
            words=entry.words,
        )
        for plugin in active_plugins()
        for entry in plugin.menu
    ]
