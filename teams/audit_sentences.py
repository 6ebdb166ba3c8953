"""What each entry of the audit trail says, as a sentence with links.

An entry of old that lacks a name has `…` in its place.
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
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import Truncator
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from opencode_web.lib.json import JsonObject, JsonValue
from teams.audit_fields import field_label, said_value
from teams.audit_texts import SENTENCES
from teams.models import AuditEntry, Membership, Role, Team, User

Details = list[tuple[str, str]]

_OURS = frozenset({"teams", "providers", "tools", "agent_sessions"})
# People are known by their address.
_NAME_FIELDS = ("email", "title", "name")
_KEPT = ("name", "title", "provider", "email", "user")
_SIDES = {"before": "after", "after": "before"}
# The rest of a title would bury the sentence.
_NAME_CHARS = 60
# What the data of other rows tell of.
_NAMED = ("session", "project")

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

    `names`: kind and id -> name, "" for what has none. `members`: e-mail -> number. `actors`:
    account -> e-mail, of those whose entries were erased with something else.
    """

    team: Team
    names: dict[tuple[str, str], str]
    members: dict[str, int]
    actors: dict[int, str]


def load_known(team: Team, entries: Iterable[AuditEntry]) -> Known:
    """One query for each kind of row."""
    wanted: dict[str, set[str]] = defaultdict(set)
    unnamed: set[int] = set()
    for entry in entries:
        if entry.actor_id is not None and not entry.actor_email:
            unnamed.add(entry.actor_id)
        wanted[entry.target_type].add(entry.target_id)
        for kind in _NAMED:
            wanted[kind].add(str(entry.told.get(kind, "")))
    ours = (model for model in apps.get_models() if model._meta.app_label in _OURS)
    models = {model._meta.model_name: model for model in ours}
    names = {
        (kind, str(pk)): name
        for kind, ids in wanted.items()
        if kind in models and ids - {""}
        for pk, name in _names_of(models[kind], ids - {""}, team)
    }
    members = Membership.objects.filter(team=team).values_list("user__email", "pk")
    return Known(team, names, dict(members), _emails_of(unnamed))


def _emails_of(ids: set[int]) -> dict[int, str]:
    rows = User.objects.filter(pk__in=ids) if ids else User.objects.none()
    return dict(rows.values_list("pk", "email"))


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
    text = SENTENCES.get(f"{entry.action}:{entry.told.get('key')}") or SENTENCES.get(entry.action)
    told = str(text or "{who}: {action}")
    values = {"action": entry.action, **dict(details_of(entry.told))}
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
            shown.append((prefix + key, _text_of(value)))
    return shown


def _text_of(value: JsonValue) -> str:
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return ", ".join(map(str, value))
    return value if isinstance(value, str) else json.dumps(value)


def described(data: JsonObject) -> Details:
    """Returns: names and values in the words that people read, each change of a list in a line."""
    lists = {key: _changes_in(value) for key, value in data.items()}
    shown = _labelled(details_of({key: data[key] for key, changes in lists.items() if not changes}))
    for key, changes in lists.items():
        words = (_labelled(details_of(change)) for change in changes)
        shown += [(field_label(key), " · ".join(map(": ".join, one))) for one in words]
    return shown


def _changes_in(value: JsonValue) -> list[JsonObject]:
    found = value if isinstance(value, list) else []
    return [one for one in found if isinstance(one, dict)]


def _labelled(details: Details) -> Details:
    """Returns: the details in words; of what was changed, one line with its value before and
    after."""
    values = dict(details)
    shown: Details = []
    for name, value in details:
        side, _dot, field = name.partition(".")
        if side not in _SIDES:
            shown.append((field_label(name), said_value(name, value)))
            continue
        other = _SIDES[side] + name.removeprefix(side)
        if side == "after" and other in values:
            continue
        told = {side: said_value(field, value)}
        told[_SIDES[side]] = said_value(field, values.get(other, "…"))
        label = field_label(field) if field else pgettext("noun", "Change")
        shown.append((label, f"{told['before']} → {told['after']}"))
    return shown


def name_of(entry: AuditEntry, known: Known) -> str:
    """What is gone has no name but the one that the entry has kept."""
    kept = (entry.told.get(key) for key in _KEPT)
    name = known.names.get((entry.target_type, entry.target_id))
    return name or next((one for one in kept if one and isinstance(one, str)), entry.target_id)


def _word(name: str, values: Mapping[str, str], entry: AuditEntry, known: Known) -> str:
    if name == "it":
        page = _page_of(entry.target_type, entry.target_id, entry, known)
        return _link(name_of(entry, known), page)
    who = entry.actor_email or known.actors.get(entry.actor_id or 0, "")
    if name == "who" and not who:
        return _("The server") if entry.actor_id is None else "…"
    value = who if name == "who" else values.get(name.replace("_", "."), "…")
    if name in {"who", "user"}:
        number = known.members.get(value)
        page = _url("teams:members", team=known.team.slug) if number else ""
        return _link(value, f"{page}#member-{number}" if page else "")
    if name in _NAMED:
        return _link(known.names.get((name, value)) or value, _page_of(name, value, entry, known))
    if name == "role" or entry.action.startswith(("member.", "invite.")):
        return _role(value)
    return said_value(name, value)


def _page_of(kind: str, row_id: str, entry: AuditEntry, known: Known) -> str:
    """Returns: where a row that is still there has its page; "" without one."""
    if kind not in _PAGES or (kind, row_id) not in known.names:
        return ""
    view, argument = _PAGES[kind]
    place = {"team": known.team.slug}
    if argument:
        place[argument] = row_id
    if kind == "providerconfig":
        place[argument] = str(entry.told.get("provider"))
    if kind == "schedule":
        place["project"] = str(entry.told.get("project"))
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
