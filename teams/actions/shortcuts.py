from __future__ import annotations

from django.db import transaction
from django.utils.translation import gettext as _

from opencode_web.lib.errors import Conflict, Invalid, NotFound
from teams.commands.registry import BY_ID
from teams.models import User
from teams.shortcuts import BOUND, chosen_keys, clashing, parse_keys


@transaction.atomic
def bind_shortcut(user: User, id: str, *, keys: str | None, take: bool = False) -> User:
    """Give a shortcut other keys: none for an empty text, those it had at first for None.

    With `take` another shortcut that has these keys loses them. A taste, so nothing is audited.
    Raises: NotFound for no shortcut; Invalid for what is no key; Conflict when another has it.
    """
    shortcut = BY_ID.get(id)
    if shortcut is None or not shortcut.is_bindable:
        raise NotFound("Shortcut", id)
    locked = User.objects.select_for_update().get(pk=user.pk)
    bound = chosen_keys(locked.preferences)
    bound[id] = shortcut.keys if keys is None else parse_keys(keys)
    while other := clashing(id, bound[id], bound):
        if other.is_fixed:
            raise Invalid(_("This key is needed in fields and on buttons."))
        if not take:
            said = _("This key is already used for “%(other)s”.") % {"other": other.label}
            raise Conflict(said)
        bound[other.id] = ""
    return _keep(user, locked, {one: has for one, has in bound.items() if has != BY_ID[one].keys})


@transaction.atomic
def reset_shortcuts(user: User) -> User:
    """Give all shortcuts the keys they had at first."""
    locked = User.objects.select_for_update().get(pk=user.pk)
    return _keep(user, locked, {})


def _keep(user: User, locked: User, bound: dict[str, str]) -> User:
    user.preferences = {**locked.preferences, BOUND: {**bound}}
    user.save(update_fields=["preferences"])
    return user
