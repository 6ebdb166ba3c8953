"""Read a theme file of the terminal program.

Source: https://opencode.ai/docs/themes. A color is `#rrggbb`, a number of the 256 of terminals,
`none`, the name of another one, or `{"dark": …, "light": …}`; `defs` has names of its own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from django.utils.translation import gettext as _

from opencode_web.lib.colors import Color, from_ansi, from_hex
from opencode_web.lib.errors import Invalid
from opencode_web.lib.json import JsonObject, JsonValue

MAX_BYTES = 64 * 1024
_MAX_COLORS = 500
_MAX_STEPS = 20
_NO_COLORS = frozenset({"thinkingOpacity"})
_NEEDED = ("background", "text", "primary")
_TRANSPARENT = frozenset({"none", "transparent"})

Mode = Literal["light", "dark"]
# A name of the file's -> color and opacity; without those that are `none`.
Colors = dict[str, tuple[Color, float]]


@dataclass(frozen=True, slots=True)
class ThemeColors:
    """The colors of a theme on a light and on a dark screen."""

    light: Colors
    dark: Colors


def parse_theme(text: str) -> ThemeColors:
    """Raises: Invalid for anything but a theme with valid colors."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as exc:
        raise Invalid(_("This is not valid JSON.")) from exc
    theme = found.get("theme") if isinstance(found, dict) else None
    defs = found.get("defs", {}) if isinstance(found, dict) else None
    if not isinstance(theme, dict) or not isinstance(defs, dict):
        raise Invalid(_("This is not an OpenCode theme: it has no “theme” with colors."))
    missing = [name for name in _NEEDED if name not in theme]
    if missing:
        raise Invalid(_("The theme has no color for %(names)s.") % {"names": ", ".join(missing)})
    if len(theme) + len(defs) > _MAX_COLORS:
        raise Invalid(_("A theme has at most %(count)s colors.") % {"count": _MAX_COLORS})
    return ThemeColors(_resolve_all(theme, defs, "light"), _resolve_all(theme, defs, "dark"))


def _resolve_all(theme: JsonObject, defs: JsonObject, mode: Mode) -> Colors:
    names = {**theme, **defs}
    colors: Colors = {}
    for name, value in theme.items():
        color = None if name in _NO_COLORS else _resolve(name, value, names, mode)
        if color is not None and color[1]:
            colors[name] = color
    return colors


def _resolve(
    name: str, value: JsonValue, names: Mapping[str, JsonValue], mode: Mode
) -> tuple[Color, float] | None:
    for _step in range(_MAX_STEPS):
        if isinstance(value, dict) and set(value) == {"light", "dark"}:
            value = value[mode]
        elif isinstance(value, str) and value in names:
            value = names[value]
        else:
            break
    if isinstance(value, str) and value in _TRANSPARENT:
        return None
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 255:
        return from_ansi(value), 1.0
    color = from_hex(value) if isinstance(value, str) else None
    if color is None:
        # JSON can have half a character, which no page can.
        shown = name[:40].encode(errors="replace").decode()
        raise Invalid(_("“%(name)s” is not a valid color.") % {"name": shown})
    return color
