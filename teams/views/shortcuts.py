"""The keys of a person: all of them to change, and the list that `?` opens over any page."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET, require_POST

from opencode_web.lib.errors import Conflict, Invalid
from teams.actions.shortcuts import bind_shortcut, reset_shortcuts
from teams.actions.tastes import remember_taste
from teams.actions.users import set_keys_enabled
from teams.commands.acts import ANSWERS
from teams.commands.command import Command, Group
from teams.commands.pages import TEAM_GROUPS
from teams.commands.registry import BINDABLE
from teams.http import UserRequest, done, show, user_view
from teams.shortcuts import ENTER, ENTERS, acting_keys, chosen_keys


@dataclass(frozen=True)
class Fault:
    """What was wrong with the keys that somebody gave."""

    id: str
    keys: str
    text: str
    can_take: bool


@dataclass
class Row:
    """A shortcut as the list has it."""

    shortcut: Command
    keys: str
    fault: Fault | None = None

    @property
    def is_changed(self) -> bool:
        return self.keys != self.shortcut.keys


@dataclass
class Section:
    """The shortcuts of one group."""

    group: Group
    rows: list[Row] = field(default_factory=list)


@require_GET
@user_view
def shortcuts(request: UserRequest) -> HttpResponse:
    return _page(request)


@require_GET
@user_view
def shortcut_list(request: UserRequest) -> HttpResponse:
    acting = acting_keys(request.user.preferences)
    sections = {group: Section(group) for group in Group}
    for one in BINDABLE:
        keys = one.keys if one.is_fixed else acting.get(one.id, "")
        if one.id in ANSWERS[1:]:
            continue
        if one.id == ANSWERS[0]:
            one = replace(one, label=gettext_lazy("Choose an answer"))
            keys = " ".join(acting[answer] for answer in ANSWERS if answer in acting)
        if keys or one.slash:
            group = Group.GO if one.group in TEAM_GROUPS else one.group
            sections[group].rows.append(Row(one, keys))
    context = {"sections": [section for section in sections.values() if section.rows]}
    return render(request, "teams/_keys_list.html", context)


@require_POST
@user_view
def shortcut(request: UserRequest, shortcut: str) -> HttpResponse:
    keys = None if "reset" in request.POST else request.POST.get("keys", "")
    try:
        bind_shortcut(request.user, shortcut, keys=keys, take="take" in request.POST)
    except (Invalid, Conflict) as exc:
        # What a reset would clash with is taken by the same button.
        can_take = isinstance(exc, Conflict)
        return _page(request, Fault(shortcut, keys or "", exc.message, can_take), status=422)
    return _saved(request, shortcut)


@require_POST
@user_view
def shortcuts_reset(request: UserRequest) -> HttpResponse:
    reset_shortcuts(request.user)
    return done(request, _("All shortcuts are reset."), to=_url())


@require_POST
@user_view
def shortcuts_lone(request: UserRequest) -> HttpResponse:
    set_keys_enabled(request.user, enabled="enabled" in request.POST)
    return _saved(request, "lone")


@require_POST
@user_view
def shortcuts_enter(request: UserRequest) -> HttpResponse:
    chosen = request.POST.get("enter", "")
    if chosen not in ENTERS:
        raise Invalid(_("Choose what Enter does."), field="enter")
    remember_taste(request.user, key=ENTER, value=chosen)
    return _saved(request, "enter")


def _saved(request: UserRequest, what: str) -> HttpResponse:
    return _page(request, saved=what) if request.htmx else done(request, _("Saved."), to=_url())


def _page(
    request: UserRequest, fault: Fault | None = None, *, saved: str = "", status: int = 200
) -> HttpResponse:
    context: dict[str, object] = {
        "sections": _sections(request, fault),
        "saved": saved,
        "acting": json.dumps(acting_keys(request.user.preferences)),
        "lone_act": request.user.keys_enabled,
        "enter": request.user.enter_running,
        "is_changed": chosen_keys(request.user.preferences) != chosen_keys({}),
    }
    template = ("teams/shortcuts.html", "teams/_shortcuts.html")
    return show(request, *template, context, status=status)


def _sections(request: UserRequest, fault: Fault | None = None) -> list[Section]:
    bound = chosen_keys(request.user.preferences)
    sections = {group: Section(group) for group in Group}
    for one in BINDABLE:
        wrong = fault if fault and fault.id == one.id else None
        sections[one.group].rows.append(Row(one, bound[one.id], wrong))
    return [section for section in sections.values() if section.rows]


def _url() -> str:
    return reverse("me:shortcuts")
