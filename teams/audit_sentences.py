"""What each entry of the audit trail says, as a sentence with links.

`{who}` did it, `{it}` is what was changed; other names are those of the entry's data, `{session}`
and `{project}` with the names of the rows. An entry of old that lacks one has `…` in its place.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from string import Formatter

from django.apps import apps
from django.db.models import Model
from django.urls import NoReverseMatch, reverse
from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import Truncator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from opencode_web.lib.json import JsonObject
from teams.audit import AuditAction as Did
from teams.models import AuditEntry, Membership, Role, Team

Details = list[tuple[str, str]]

_OURS = frozenset({"teams", "providers", "tools", "agent_sessions"})
# People are known by their address.
_NAME_FIELDS = ("email", "title", "name")
_KEPT = ("name", "title", "provider", "email", "user")
# The rest of a title would bury the sentence.
_NAME_CHARS = 60
# What the data of other rows tell of.
_NAMED = ("session", "project")

# fmt: off
SENTENCES: dict[str, Promise] = {
    Did.TEAM_CREATED: gettext_lazy("{who} created the team {name}."),
    Did.TEAM_RENAMED: gettext_lazy("{who} renamed the team from {before_name} to {after_name}."),
    Did.TEAM_DELETED: gettext_lazy("{who} deleted the team {name}."),
    Did.TEAM_TRANSFERRED: gettext_lazy("{who} made {to} the owner of the team."),
    Did.BUDGETS_CHANGED: gettext_lazy("{who} changed the budgets."),
    Did.CONFIG_CHANGED: gettext_lazy("{who} changed the settings of {it}."),
    Did.MEMBER_JOINED: gettext_lazy("{user} joined the team as {role}."),
    Did.MEMBER_ROLE_CHANGED: gettext_lazy(
        "{who} changed the role of {user} from {before} to {after}."),
    Did.MEMBER_REMOVED: gettext_lazy("{who} removed {user} from the team."),
    Did.MEMBER_LEFT: gettext_lazy("{user} left the team."),
    Did.INVITE_CREATED: gettext_lazy("{who} created an invitation for the role {role}."),
    Did.INVITE_REVOKED: gettext_lazy("{who} revoked an invitation."),
    Did.INVITE_ACCEPTED: gettext_lazy("{who} accepted an invitation."),
    Did.TOKEN_CREATED: gettext_lazy("{who} created the API token {name}."),
    Did.TOKEN_REVOKED: gettext_lazy("{who} revoked the API token {name}."),
    Did.SERVICE_CREATED: gettext_lazy("{who} created the service account {it}."),
    Did.SERVICE_UPDATED: gettext_lazy("{who} changed the service account {it}."),
    Did.SERVICE_DELETED: gettext_lazy("{who} deleted the service account {name}."),
    Did.PROVIDER_CREATED: gettext_lazy("{who} connected the provider {it}."),
    Did.PROVIDER_UPDATED: gettext_lazy("{who} changed the provider {it}."),
    f"{Did.PROVIDER_UPDATED}:added": gettext_lazy("{who} added a key to the provider {it}."),
    f"{Did.PROVIDER_UPDATED}:set": gettext_lazy("{who} set the key of the provider {it}."),
    f"{Did.PROVIDER_UPDATED}:rotated": gettext_lazy("{who} replaced the key of the provider {it}."),
    f"{Did.PROVIDER_UPDATED}:removed": gettext_lazy("{who} removed a key of the provider {it}."),
    f"{Did.PROVIDER_UPDATED}:renamed": gettext_lazy("{who} renamed a key of the provider {it}."),
    Did.PROVIDER_TESTED: gettext_lazy("{who} tested the provider {it}. Result: {outcome}."),
    Did.PROVIDER_DELETED: gettext_lazy("{who} deleted the provider {provider}."),
    Did.PROVIDER_SIGNED_IN: gettext_lazy("{who} signed in to the provider {it}."),
    Did.PROVIDER_SIGNED_OUT: gettext_lazy("{who} signed out of the provider {it}."),
    Did.SEARCH_SET_UP: gettext_lazy("{who} set up web search with {engine}."),
    Did.SEARCH_SWITCHED_OFF: gettext_lazy("{who} turned off web search."),
    Did.PROJECT_CREATED: gettext_lazy("{who} created the project {it}."),
    Did.PROJECT_UPDATED: gettext_lazy("{who} changed the project {it}."),
    Did.PROJECT_DELETED: gettext_lazy("{who} deleted the project {name}."),
    Did.PUBLISHING_SET_UP: gettext_lazy("{who} set up publishing for the project {it}."),
    Did.SECRET_SET: gettext_lazy("{who} set the secret {name} of the project {it}."),
    Did.SECRET_REMOVED: gettext_lazy("{who} removed the secret {name} of the project {it}."),
    Did.MCP_SIGNED_IN: gettext_lazy("{who} signed in to the MCP server {server} in {it}."),
    Did.MCP_SIGNED_OUT: gettext_lazy("{who} signed out of the MCP server {server} in {it}."),
    Did.MCP_PROGRAM_ACCEPTED: gettext_lazy(
        "{who} accepted the program of the MCP server {server} in {it}."),
    Did.SESSION_CREATED: gettext_lazy("{who} created the session {it}."),
    Did.SESSION_RENAMED: gettext_lazy("{who} renamed the session {it}."),
    Did.SESSION_DELETED: gettext_lazy("{who} deleted the session {title}."),
    Did.SESSION_INTERRUPTED: gettext_lazy("{who} stopped the session {it}."),
    Did.COMMAND_STOPPED: gettext_lazy("{who} stopped a command in the session {it}."),
    Did.SESSION_REVERTED: gettext_lazy("{who} rolled back the session {it}."),
    Did.SESSION_UNREVERTED: gettext_lazy("{who} restored the session {it} after a rollback."),
    Did.FILE_EDITED: gettext_lazy("{who} edited {file} in the session {it}."),
    Did.PERMISSION_ADMINS_ASKED: gettext_lazy(
        "{who} asked the admins about a request in the session {it}."
    ),
    Did.FILE_STAGED: gettext_lazy("{who} staged {file} in the session {it}."),
    Did.FILE_UNSTAGED: gettext_lazy("{who} unstaged {file} in the session {it}."),
    Did.FILE_REVERTED: gettext_lazy("{who} rolled back {file} in the session {it}."),
    Did.FILE_RESTORED: gettext_lazy("{who} restored {file} in the session {it}."),
    Did.SESSION_FORKED: gettext_lazy("{who} forked the session {it}."),
    Did.SESSION_IMPORTED: gettext_lazy("{who} imported the session {it}."),
    Did.SHARE_CREATED: gettext_lazy("{who} shared the session {session}."),
    Did.SHARE_REVOKED: gettext_lazy("{who} revoked a share link of the session {session}."),
    Did.CHECKOUT_COMMITTED: gettext_lazy("{who} committed the changes of the session {it}."),
    Did.CHECKOUT_MERGED: gettext_lazy(
        "{who} merged the branch {branch} of the session {it} into {into}."),
    Did.CHECKOUT_PUSHED: gettext_lazy("{who} pushed the branch {branch} of the session {it}."),
    Did.CHECKOUT_DROPPED: gettext_lazy("{who} removed the worktree of the session {it}."),
    Did.CHECKOUT_RESTORED: gettext_lazy("{who} restored the worktree of the session {it}."),
    Did.CHECKOUT_BRANCHED: gettext_lazy("{who} kept rescued work of the project {it} as a branch."),
    Did.CHECKOUT_DISCARDED: gettext_lazy("{who} discarded rescued work of the project {it}."),
    Did.CHECKOUT_SWITCHED: gettext_lazy("{who} switched the branch of the session {it}."),
    Did.CHECKOUT_RENAMED: gettext_lazy("{who} renamed the branch of the session {it}."),
    Did.PULL_REQUEST_OPENED: gettext_lazy("{who} opened a pull request from the session {it}."),
    Did.PATCH_APPLIED: gettext_lazy("{who} applied a patch to the project {it}."),
    Did.MESSAGE_DELETED: gettext_lazy("{who} deleted messages of the session {it}."),
    Did.PART_DELETED: gettext_lazy("{who} deleted a part of a message in the session {it}."),
    Did.PART_EDITED: gettext_lazy("{who} edited a part of a message in the session {it}."),
    Did.PROMPT_ADMITTED: gettext_lazy("{who} sent a prompt to the session {it}."),
    Did.PERMISSION_REPLIED: gettext_lazy(
        "{who} replied “{reply}” to a request for {permission} in the session {it}."),
    Did.QUESTION_REPLIED: gettext_lazy("{who} replied to a question in the session {it}."),
    Did.REPOSITORY_TRUSTED: gettext_lazy("{who} trusted the agent files of the project {it}."),
    Did.REPOSITORY_TRUST_WITHDRAWN: gettext_lazy(
        "{who} withdrew the trust in the agent files of the project {it}."),
    Did.SKILL_SAVED: gettext_lazy("{who} saved the skill {name}."),
    Did.SKILL_DELETED: gettext_lazy("{who} deleted the skill {name}."),
    Did.TERMINAL_OPENED: gettext_lazy("{who} opened a terminal in the project {project}."),
    Did.TERMINAL_REMOVED: gettext_lazy("{who} closed a terminal in the project {project}."),
    Did.TERMINAL_SHOWN: gettext_lazy("{who} let others watch a terminal in the project {project}."),
    Did.TERMINAL_HIDDEN: gettext_lazy("{who} hid a terminal in the project {project} from others."),
    Did.PREVIEW_OPENED: gettext_lazy(
        "{who} opened a preview of port {port} in the project {project}."),
    Did.RULE_CREATED: gettext_lazy("{who} added a permission rule."),
    Did.RULE_REVOKED: gettext_lazy("{who} revoked the rule for {permission} “{pattern}”."),
    Did.SCHEDULE_CREATED: gettext_lazy("{who} created the schedule {it}."),
    Did.SCHEDULE_UPDATED: gettext_lazy("{who} changed the schedule {it}."),
    Did.SCHEDULE_PAUSED: gettext_lazy("{who} paused the schedule {it}."),
    Did.SCHEDULE_RESUMED: gettext_lazy("{who} resumed the schedule {it}."),
    Did.SCHEDULE_RUN: gettext_lazy("{who} ran the schedule {it}."),
    Did.SCHEDULE_DELETED: gettext_lazy("{who} deleted the schedule {name}."),
    Did.WEBHOOK_CREATED: gettext_lazy("{who} created the webhook {it}."),
    Did.WEBHOOK_UPDATED: gettext_lazy("{who} changed the webhook {it}."),
    Did.WEBHOOK_DISABLED: gettext_lazy("{who} disabled the webhook {it}."),
    Did.WEBHOOK_DELETED: gettext_lazy("{who} deleted the webhook {name}."),
    Did.WEBHOOK_PINGED: gettext_lazy("{who} sent a test to the webhook {it}."),
    Did.WEBHOOK_REDELIVERED: gettext_lazy("{who} repeated a delivery of the webhook {it}."),
    Did.OPERATOR_STOPPED_TURN: gettext_lazy(
        "The operator {who} stopped the session {it}: {reason}"),
    Did.OPERATOR_KILLED_TURN: gettext_lazy("The operator {who} killed the session {it}: {reason}"),
    Did.OPERATOR_REQUEUED_TURN: gettext_lazy(
        "The operator {who} requeued the session {it}: {reason}"),
    Did.OPERATOR_ASSIGNED_FOLDER: gettext_lazy("The operator {who} assigned the folder {name}."),
    Did.OPERATOR_WITHDREW_FOLDER: gettext_lazy("The operator {who} withdrew the folder {name}."),
}
# fmt: on

# Kind of row -> the page about it, and what the page's address calls its id.
_PAGES = {
    "team": ("teams:general", ""),
    "user": ("teams:members", ""),
    "membership": ("teams:members", ""),
    "session": ("sessions:session", "session"),
    "project": ("sessions:project", "project"),
    "webhook": ("sessions:webhook", "webhook"),
    "schedule": ("sessions:schedule", "schedule"),
    "providerconfig": ("providers:provider", "provider"),
}


@dataclass(frozen=True, slots=True)
class Known:
    """The rows of a team that entries tell of and that are still there.

    `names`: kind and id -> name, "" for what has none. `members`: e-mail -> number.
    """

    team: Team
    names: dict[tuple[str, str], str]
    members: dict[str, int]


def load_known(team: Team, entries: Iterable[AuditEntry]) -> Known:
    """One query for each kind of row."""
    wanted: dict[str, set[str]] = defaultdict(set)
    for entry in entries:
        wanted[entry.target_type].add(entry.target_id)
        for kind in _NAMED:
            wanted[kind].add(str(entry.data.get(kind, "")))
    ours = (model for model in apps.get_models() if model._meta.app_label in _OURS)
    models = {model._meta.model_name: model for model in ours}
    names = {
        (kind, str(pk)): name
        for kind, ids in wanted.items()
        if kind in models and ids - {""}
        for pk, name in _names_of(models[kind], ids - {""}, team)
    }
    members = Membership.objects.filter(team=team).values_list("user__email", "pk")
    return Known(team, names, dict(members))


def _names_of(model: type[Model], ids: set[str], team: Team) -> Iterable[tuple[object, str]]:
    rows = model._default_manager.filter(pk__in=ids)
    fields = {one.name for one in model._meta.fields}
    if "project" in fields:
        rows = rows.filter(project__team=team)
    elif "team" in fields:
        rows = rows.filter(team=team)
    for name in _NAME_FIELDS:
        if name in fields:
            return rows.values_list("pk", name)
    return [(pk, "") for pk in rows.values_list("pk", flat=True)]


def sentence_of(entry: AuditEntry, known: Known) -> SafeString:
    """Returns: the sentence as HTML; what people, models and repositories wrote is escaped."""
    text = SENTENCES.get(f"{entry.action}:{entry.data.get('key')}") or SENTENCES.get(entry.action)
    told = str(text or "{who}: {action}")
    values = {"action": entry.action, **dict(details_of(entry.data))}
    names = {name for _text, name, _spec, _conversion in Formatter().parse(told) if name}
    return format_html(told, **{name: _word(name, values, entry, known) for name in names})


def details_of(data: JsonObject, *, prefix: str = "") -> Details:
    """Returns: names and values as shown, nested ones as `before.name`, without empty ones."""
    shown: Details = []
    # PostgreSQL keeps no order of keys: what was, then what is.
    for key, value in sorted(data.items(), key=lambda item: (item[0] != "before", item[0])):
        if isinstance(value, dict):
            shown += details_of(value, prefix=f"{prefix}{key}.")
        elif value not in ("", None, [], {}):
            shown.append((prefix + key, value if isinstance(value, str) else json.dumps(value)))
    return shown


def name_of(entry: AuditEntry, known: Known) -> str:
    """What is gone has no name but the one that the entry has kept."""
    kept = (entry.data.get(key) for key in _KEPT)
    name = known.names.get((entry.target_type, entry.target_id))
    return name or next((one for one in kept if one and isinstance(one, str)), entry.target_id)


def _word(name: str, values: Mapping[str, str], entry: AuditEntry, known: Known) -> str:
    if name == "it":
        page = _page_of(entry.target_type, entry.target_id, entry, known)
        return _link(name_of(entry, known), page)
    if name == "who" and not entry.actor_email:
        return _("The server")
    value = entry.actor_email if name == "who" else values.get(name.replace("_", "."), "…")
    if name in {"who", "user"}:
        number = known.members.get(value)
        page = _url("teams:members", team=known.team.slug) if number else ""
        return _link(value, f"{page}#member-{number}" if page else "")
    if name in _NAMED:
        return _link(known.names.get((name, value)) or value, _page_of(name, value, entry, known))
    return _role(value) if entry.action.startswith(("member.", "invite.")) else value


def _page_of(kind: str, row_id: str, entry: AuditEntry, known: Known) -> str:
    """Returns: where a row that is still there has its page; "" without one."""
    if kind not in _PAGES or (kind, row_id) not in known.names:
        return ""
    view, argument = _PAGES[kind]
    place = {"team": known.team.slug}
    if argument:
        place[argument] = row_id
    if kind == "providerconfig":
        place[argument] = str(entry.data.get("provider"))
    if kind == "schedule":
        place["project"] = str(entry.data.get("project"))
    return _url(view, **place)


def _url(view: str, **place: str) -> str:
    try:
        return reverse(view, kwargs=place)
    except NoReverseMatch:
        return ""


def _link(text: str, url: str) -> str:
    short = Truncator(text).chars(_NAME_CHARS)
    return format_html('<a href="{}">{}</a>', url, short) if url else short


def _role(value: str) -> str:
    return Role(value).noun if value in Role.values else value
