from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from django import template
from django.http import HttpRequest
from django.template.context import Context
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from teams.access import TeamAccess, in_emergency
from teams.announcements import HIDDEN, shown_announcements
from teams.commands.command import Group
from teams.commands.pages import PAGES, TEAM_GROUPS, Page, current_page, plugin_pages
from teams.commands.registry import BY_ID
from teams.models import Announcement, Membership, User
from teams.shortcuts import acting_keys, key_names

register = template.Library()


@register.simple_tag(takes_context=True)
def key(context: Context, id: str) -> SafeString | str:
    """The keys of a shortcut. In a fragment, rendered once for all, labels.js corrects them."""
    user = getattr(context.get("request"), "user", None)
    bound = acting_keys(user.preferences) if isinstance(user, User) else {id: BY_ID[id].keys}
    text = written(context, bound.get(id, ""))
    return format_html('<kbd data-key-for="{}"{}>{}</kbd>', id, "" if text else " hidden", text)


@register.simple_tag(takes_context=True)
def command(context: Context, id: str) -> SafeString:
    """What a command is called in a menu, with its keys."""
    shown = key(context, id) if BY_ID[id].is_bindable else ""
    return format_html("{}{}", BY_ID[id].label, shown)


@dataclass(frozen=True)
class NavGroup:
    """Pages of the settings under a heading; `pages`: [(page, address, whether it is shown)]."""

    group: Group
    pages: list[tuple[Page, str, bool]]


@register.simple_tag
def operators_in(access: TeamAccess | None) -> list[Membership]:
    """The operators who are in the team because of an emergency."""
    return in_emergency(access) if access else []


@register.simple_tag(takes_context=True)
def announcements(context: Context) -> list[Announcement]:
    """What operators tell, but for what this browser has hidden. Maintenance cannot be hidden."""
    hidden = context["request"].session.get(HIDDEN, [])
    return [row for row in shown_announcements() if row.stops_prompts or row.pk not in hidden]


@register.simple_tag(takes_context=True)
def settings_nav(context: Context, kind: str = "team") -> list[NavGroup]:
    """The settings that who looks may see: of the `team`, of their `account`, of `operations`."""
    groups = TEAM_GROUPS if kind == "team" else (Group(kind),)
    request = context["request"]
    role = request.access.role if kind == "team" else None
    place = {"team": request.team.slug} if kind == "team" else {}
    pages = [one for one in PAGES if one.group in groups and one.is_for(request.user, role)]
    match = request.resolver_match
    shown = current_page(pages, match.view_name, match.kwargs) if match else None
    return [nav for group in groups if (nav := _nav_group(group, pages, place, shown)).pages]


@register.simple_tag(takes_context=True)
def plugin_links(context: Context) -> list[tuple[Page, str]]:
    """The links of installed plugins that who looks may see, with their addresses."""
    user, shell = context["request"].user, context.get("shell")
    role = shell.role if shell else None
    return [(one, one.url({})) for one in plugin_pages() if one.is_for(user, role)]


def _nav_group(
    group: Group, pages: Iterable[Page], place: dict[str, str], shown: Page | None
) -> NavGroup:
    own = [(one, one.url(place), one is shown) for one in pages if one.group is group]
    return NavGroup(group, [page for page in own if page[1]])


@register.simple_tag(takes_context=True)
def strokes(context: Context, keys: str) -> SafeString | str:
    """Any keys as they are written on the keyboard, each stroke by itself."""
    rows = ((written(context, one), one) for one in keys.split())
    return format_html_join(" ", '<kbd data-keys="{1}">{0}</kbd>', rows)


@register.simple_tag(takes_context=True)
def typed(context: Context, keys: str) -> str:
    """Any keys as the shortcuts page takes them."""
    is_mac = _is_mac(context)
    names = {"Mod": "Cmd"} if is_mac else key_names(is_mac=False)
    for part in ("Mod", "Shift"):
        keys = keys.replace(f"{part}+", f"{names.get(part, part)}+")
    return keys


@register.simple_tag(takes_context=True)
def written(context: Context, keys: str) -> str:
    """Returns: any keys as one line such as `Ctrl K` or `G H`."""
    names = key_names(is_mac=_is_mac(context))
    parts = (part for stroke in keys.split() for part in stroke.split("+"))
    return " ".join(names.get(part, part.upper() if len(part) == 1 else part) for part in parts)


@register.simple_tag(takes_context=True)
def key_names_json(context: Context) -> str:
    """What labels.js takes them from, for what is drawn later."""
    return json.dumps(key_names(is_mac=_is_mac(context)))


def _is_mac(context: Context) -> bool:
    # Also in what is included with nothing but its own values.
    request = getattr(context, "request", None)
    agent = request.headers.get("User-Agent", "") if isinstance(request, HttpRequest) else ""
    return any(name in agent for name in ("Macintosh", "iPhone", "iPad"))
