"""The keys of the pages: what there is, what a person has made of it, and which keys can be taken.

Keys are written as strokes with a blank between: `n`, `Shift+y`, `Mod+k`, `g h`. `Mod` is Ctrl, on
a Mac the command key. A letter is small and says Shift when it is held; any other character is the
one that comes out, so a layout has it where it has it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import TextChoices
from django.utils.functional import Promise
from django.utils.text import format_lazy
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from opencode_web.lib.errors import Invalid
from opencode_web.lib.json import JsonObject

# Keys of `preferences`: what is bound otherwise than at first, and whether lone characters act.
BOUND = "shortcuts"
LONE = "keys_enabled"
# What Enter does with a message while the agent works, the first one at first. Mod+Enter does the
# other.
ENTER = "enter_running"
ENTERS = ("steer", "queue")
MAX_STROKES = 2


class Group(TextChoices):
    """Where the list has them, in its order."""

    ANYWHERE = "anywhere", gettext_lazy("Anywhere")
    SESSIONS = "sessions", gettext_lazy("Sessions")
    MESSAGE = "message", gettext_lazy("Message")
    REQUESTS = "requests", gettext_lazy("Agent requests")
    PANEL = "panel", gettext_lazy("Side panel")
    CHANGES = "changes", gettext_lazy("In the changes")


@dataclass(frozen=True)
class Shortcut:
    """What a key does: `static/js` binds its id, or an element has it in `data-shortcut`."""

    id: str
    group: Group
    label: Promise
    keys: str
    # Those that act only while a part of the page has the focus may have a key of others.
    scope: str = ""
    # What fields and buttons do by themselves stays as it is.
    is_fixed: bool = False


SHORTCUTS = (
    Shortcut("palette", Group.ANYWHERE, gettext_lazy("Search and navigate"), "Mod+k"),
    Shortcut("help", Group.ANYWHERE, gettext_lazy("Show shortcuts"), "?"),
    Shortcut("home", Group.ANYWHERE, gettext_lazy("Go to all sessions"), "g h"),
    Shortcut("inbox", Group.ANYWHERE, gettext_lazy("Go to the inbox"), "g i"),
    Shortcut("usage", Group.ANYWHERE, gettext_lazy("Go to usage"), "g u"),
    Shortcut("ops", Group.ANYWHERE, gettext_lazy("Go to operations (operators)"), "g o"),
    Shortcut("new-session", Group.SESSIONS, gettext_lazy("New session"), "n"),
    Shortcut("next-session", Group.SESSIONS, gettext_lazy("Next session in the list"), "j"),
    Shortcut("previous-session", Group.SESSIONS, gettext_lazy("Previous session in the list"), "k"),
    Shortcut("rail", Group.SESSIONS, gettext_lazy("Show or hide the session list"), "["),
    Shortcut("previous-turn", Group.SESSIONS, gettext_lazy("Previous turn"), "Alt+ArrowUp"),
    Shortcut("next-turn", Group.SESSIONS, gettext_lazy("Next turn"), "Alt+ArrowDown"),
    Shortcut("rename", Group.SESSIONS, gettext_lazy("Change the title"), "t"),
    Shortcut("find", Group.SESSIONS, gettext_lazy("Find in this session"), "Mod+f"),
    Shortcut(
        "fold",
        Group.SESSIONS,
        gettext_lazy("Expand or collapse tool rows of the turn"),
        "Shift+e",
    ),
    Shortcut("write", Group.MESSAGE, gettext_lazy("Write a message"), "/"),
    Shortcut("send", Group.MESSAGE, gettext_lazy("Send the message"), "Enter", is_fixed=True),
    Shortcut(
        "newline",
        Group.MESSAGE,
        gettext_lazy("New line in the message"),
        "Shift+Enter",
        is_fixed=True,
    ),
    Shortcut(
        "queue",
        Group.MESSAGE,
        gettext_lazy("Send in the other mode while the agent works"),
        "Mod+Enter",
        is_fixed=True,
    ),
    Shortcut("model", Group.MESSAGE, gettext_lazy("Choose the model"), "Mod+Shift+m"),
    Shortcut("agent", Group.MESSAGE, gettext_lazy("Choose the agent"), "Mod+."),
    Shortcut("variant", Group.MESSAGE, gettext_lazy("Choose the thinking variant"), "Mod+Shift+d"),
    Shortcut("stop", Group.MESSAGE, gettext_lazy("Stop the turn"), "Escape Escape"),
    Shortcut("allow-once", Group.REQUESTS, gettext_lazy("Allow once"), "y"),
    Shortcut("allow-always", Group.REQUESTS, gettext_lazy("Always allow…"), "Shift+y"),
    Shortcut("reject", Group.REQUESTS, gettext_lazy("Tell the agent what to do instead"), "x"),
    *(
        Shortcut(
            f"answer-{number}",
            Group.REQUESTS,
            format_lazy(gettext_lazy("Choose answer {number}"), number=number),
            str(number),
        )
        for number in range(1, 10)
    ),
    Shortcut("changes", Group.PANEL, gettext_lazy("Show or hide changes"), "c"),
    Shortcut("review", Group.PANEL, gettext_lazy("Review changes in the full window"), "e"),
    Shortcut("files", Group.PANEL, gettext_lazy("Show or hide files"), "f"),
    Shortcut("terminal", Group.PANEL, gettext_lazy("Show or hide the terminal"), "`"),
    Shortcut("context", Group.PANEL, gettext_lazy("Show or hide context and cost"), "i"),
    Shortcut("next-file", Group.CHANGES, gettext_lazy("Next changed file"), "n", scope="changes"),
    Shortcut(
        "previous-file", Group.CHANGES, gettext_lazy("Previous changed file"), "p", scope="changes"
    ),
    Shortcut("next-change", Group.CHANGES, gettext_lazy("Next change"), "]", scope="changes"),
    Shortcut(
        "previous-change", Group.CHANGES, gettext_lazy("Previous change"), "[", scope="changes"
    ),
    Shortcut(
        "columns",
        Group.CHANGES,
        gettext_lazy("Switch between unified and split diff"),
        "u",
        scope="changes",
    ),
    Shortcut(
        "viewed", Group.CHANGES, gettext_lazy("Mark the file as viewed"), "v", scope="changes"
    ),
    Shortcut(
        "fold-files",
        Group.CHANGES,
        gettext_lazy("Expand or collapse all files"),
        "Shift+e",
        scope="changes",
    ),
    Shortcut("wrap", Group.CHANGES, gettext_lazy("Wrap long lines"), "w", scope="changes"),
    Shortcut(
        "tree", Group.CHANGES, gettext_lazy("Show or hide the file list"), "t", scope="changes"
    ),
    Shortcut("comment", Group.CHANGES, gettext_lazy("Comment on the lines"), "c", scope="changes"),
)
BY_ID = {shortcut.id: shortcut for shortcut in SHORTCUTS}

_NAMED = {
    *(f"F{number}" for number in range(1, 13)),
    *("ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"),
    *("Home", "End", "PageUp", "PageDown", "Insert", "Delete", "Backspace"),
    *("Enter", "Escape", "Space", "Plus"),
}
# What people call it.
_MOD = re.compile(r"\b(?:Ctrl|Control|Cmd|Command|Meta)\+", re.IGNORECASE)
_STROKE = re.compile(r"(?P<held>(?:Mod\+)?(?:Alt\+)?(?:Shift\+)?)(?P<key>[^\s+]|[A-Z][A-Za-z0-9]+)")
# Browsers never hand the first ones to a page; the others are how people copy, undo and press.
_TAKEN_BY_BROWSER = {f"Mod+{shift}{key}" for shift in ("", "Shift+") for key in "tnw"}
_TAKEN_BY_EDITING = {f"Mod+{key}" for key in "acvxzy"} | {"Mod+Shift+z"}
_TAKEN_BY_CONTROLS = {"Enter", "Space", "Escape", "Shift+Enter", "Mod+Enter", "Backspace", "Delete"}


def is_lone(keys: str) -> bool:
    """Whether keys begin with a character and no Mod or Alt, so that speech can press them."""
    return len(keys.split(" ")[0].removeprefix("Shift+")) == 1


def chosen_keys(preferences: JsonObject) -> dict[str, str]:
    """Returns: the keys of every shortcut by its id, as the person has them; empty for none."""
    kept = preferences.get(BOUND)
    own = kept if isinstance(kept, dict) else {}
    return {
        one.id: str(own.get(one.id, one.keys)) if not one.is_fixed else one.keys
        for one in SHORTCUTS
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
    strokes = _MOD.sub("Mod+", text).split()
    if len(strokes) > MAX_STROKES:
        raise Invalid(_("Use at most two keys, one after the other."))
    keys = " ".join(_parse_stroke(stroke) for stroke in strokes)
    if keys in _TAKEN_BY_CONTROLS:
        raise Invalid(_("This key is needed in fields and on buttons."))
    return keys


def clashing(id: str, keys: str, bound: Mapping[str, str]) -> Shortcut | None:
    """Returns: another shortcut that would act on the same keys, or on the beginning of them."""
    if not keys:
        return None
    for other in SHORTCUTS:
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
