"""The keys of commands: what a person has made of them, and which keys can be taken.

Keys are written as strokes with a blank between: `n`, `Shift+y`, `Mod+k`, `g h`. `Mod` is Ctrl, on
a Mac the command key. A letter is small and says Shift when it is held; any other character is the
one that comes out, so a layout has it where it has it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from opencode_web.lib.errors import Invalid
from opencode_web.lib.json import JsonObject
from teams.commands.command import Command
from teams.commands.registry import BINDABLE, BY_ID

# Keys of `preferences`: what is bound otherwise than at first, and whether lone characters act.
BOUND = "shortcuts"
LONE = "keys_enabled"
# What Enter does with a message while the agent works, the first one at first. Mod+Enter does the
# other.
ENTER = "enter_running"
ENTERS = ("steer", "queue")
MAX_STROKES = 2

_NAMED = {
    *(f"F{number}" for number in range(1, 13)),
    *("ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"),
    *("Home", "End", "PageUp", "PageDown", "Insert", "Delete", "Backspace"),
    *("Enter", "Escape", "Space", "Plus"),
}
# What keyboards have written on them, in the language of the page.
_WRITTEN: dict[str, Promise | str] = {
    "Mod": gettext_lazy("Ctrl"),
    "Shift": gettext_lazy("Shift"),
    "Alt": gettext_lazy("Alt"),
    "Enter": gettext_lazy("Enter"),
    "Escape": gettext_lazy("Esc"),
    "Space": gettext_lazy("Space"),
    "Backspace": gettext_lazy("Backspace"),
    "Delete": gettext_lazy("Del"),
    "Insert": gettext_lazy("Ins"),
    "Home": gettext_lazy("Home"),
    "End": gettext_lazy("End"),
    "PageUp": gettext_lazy("PgUp"),
    "PageDown": gettext_lazy("PgDn"),
    "Plus": "+",
    "ArrowUp": "↑",
    "ArrowDown": "↓",
    "ArrowLeft": "←",
    "ArrowRight": "→",
}
_WRITTEN_ON_MAC = {"Mod": "⌘", "Alt": "⌥", "Shift": "⇧"}
# What people call them.
_MOD = re.compile(r"\b(?:Ctrl|Control|Strg|Cmd|Command|Meta)\+", re.IGNORECASE)
_SHIFT = re.compile(r"\bUmschalt\+", re.IGNORECASE)
_STROKE = re.compile(r"(?P<held>(?:Mod\+)?(?:Alt\+)?(?:Shift\+)?)(?P<key>[^\s+]|[A-Z][A-Za-z0-9]+)")
# Browsers never hand the first ones to a page; the others are how people copy, undo and press.
_TAKEN_BY_BROWSER = {f"Mod+{shift}{key}" for shift in ("", "Shift+") for key in "tnw"}
_TAKEN_BY_EDITING = {f"Mod+{key}" for key in "acvxzy"} | {"Mod+Shift+z"}
_TAKEN_BY_CONTROLS = {"Enter", "Space", "Escape", "Shift+Enter", "Mod+Enter", "Backspace", "Delete"}


def key_names(*, is_mac: bool) -> dict[str, str]:
    """Returns: what is written on the keys that are not called as in our notation."""
    names = {part: str(name) for part, name in _WRITTEN.items()}
    return {**names, **(_WRITTEN_ON_MAC if is_mac else {})}


def is_lone(keys: str) -> bool:
    """Whether keys begin with a character and no Mod or Alt, so that speech can press them."""
    return len(keys.split(" ")[0].removeprefix("Shift+")) == 1


def chosen_keys(preferences: JsonObject) -> dict[str, str]:
    """Returns: the keys of every shortcut by its id, as the person has them; empty for none."""
    kept = preferences.get(BOUND)
    own = kept if isinstance(kept, dict) else {}
    return {
        one.id: str(own.get(one.id, one.keys)) if not one.is_fixed else one.keys for one in BINDABLE
    }


def acting_keys(preferences: JsonObject) -> dict[str, str]:
    """Returns: the keys that act, by id: without those that are fixed, empty or switched off."""
    lone_act = preferences.get(LONE, True)
    return {
        name: keys
        for name, keys in chosen_keys(preferences).items()
        if keys and not BY_ID[name].is_fixed and (lone_act or not is_lone(keys))
    }


def parse_keys(text: str) -> str:
    """Returns: the keys in their one form; empty for none.

    Raises: Invalid when they are none, or a browser or a field needs them for itself.
    """
    strokes = _SHIFT.sub("Shift+", _MOD.sub("Mod+", text)).split()
    if len(strokes) > MAX_STROKES:
        raise Invalid(_("Use at most two keys, one after the other."))
    keys = " ".join(_parse_stroke(stroke) for stroke in strokes)
    if keys in _TAKEN_BY_CONTROLS:
        raise Invalid(_("This key is needed in fields and on buttons."))
    return keys


def clashing(id: str, keys: str, bound: Mapping[str, str]) -> Command | None:
    """Returns: another shortcut that would act on the same keys, or on the beginning of them."""
    if not keys:
        return None
    for other in BINDABLE:
        taken = bound.get(other.id, "")
        if other.id == id or not taken or other.scope != BY_ID[id].scope:
            continue
        if f"{taken} ".startswith(f"{keys} ") or f"{keys} ".startswith(f"{taken} "):
            return other
    return None


def _parse_stroke(text: str) -> str:
    found = _STROKE.fullmatch(text)
    if found is None:
        raise _no_key(text)
    held, key = found["held"], found["key"]
    if len(key) == 1:
        if key != key.lower():
            key, held = key.lower(), held if "Shift+" in held else f"{held}Shift+"
        elif key == key.upper():
            held = held.replace("Shift+", "")
    elif key not in _NAMED:
        raise _no_key(text)
    stroke = held + key
    if stroke in _TAKEN_BY_BROWSER:
        raise Invalid(_("Browsers reserve this key."))
    if stroke in _TAKEN_BY_EDITING:
        raise Invalid(_("Fields need this key for copy and undo."))
    return stroke


def _no_key(text: str) -> Invalid:
    said = _("“%(keys)s” is not a valid shortcut. Write keys as n, Shift+y, Mod+k or g h.")
    return Invalid(said % {"keys": text[:40]})
