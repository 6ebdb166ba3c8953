"""Colors of a person's own: kept as tokens of `static/css/tokens.css`, served as a style sheet."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path

from django.conf import settings

from opencode_web.lib.build import build_id
from opencode_web.lib.colors import (
    BLACK,
    WHITE,
    Color,
    contrast,
    from_hex,
    mix,
    parse_hex,
    to_hex,
    with_contrast,
)
from opencode_web.lib.json import JsonObject, JsonValue
from teams.models import User
from teams.theme_file import Colors, Mode, ThemeColors

# Contrast of text, as WCAG 2.2 wants it for AA and AAA.
LEAST, HIGH = 4.5, 7.0
_LEAST_BORDER = 3.0
# On a surface there is room for text that is not black or white.
_ROOM = 1.5

Tokens = dict[str, Color]

# Token -> the color of a theme file.
_SURFACES = {"bg-app": "background", "bg-1": "backgroundPanel", "bg-3": "backgroundElement"}
_DIFF = {"add-bg": "diffAddedBg", "del-bg": "diffRemovedBg"}
_TEXTS = {
    "tx-1": "text",
    "tx-3": "textMuted",
    "ac": "primary",
    "vio": "secondary",
    "ok": "success",
    "bad": "error",
    "warn": "warning",
    "code-keyword": "syntaxKeyword",
    "code-string": "syntaxString",
    "code-number": "syntaxNumber",
    "code-comment": "syntaxComment",
}
_LINES = {"line-1": "borderSubtle", "line-2": "border"}
# Text in a color stands on plain surfaces and on these, other text on all. Each has one of its own.
_BENEATH = {
    "ac": ("ac-bg", "ok-bg", "bad-bg", "warn-bg"),
    "ok": ("ok-bg", "add-bg"),
    "bad": ("bad-bg", "del-bg"),
    "warn": ("warn-bg",),
    "vio": ("vio-bg",),
}
_WORDS = {"add": "ok", "del": "bad"}
# What no theme has.
_MADE = frozenset({"on-ac", "ac-solid-hover"})

_DEFAULT = re.compile(r"--([a-z0-9-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);")


@cache
def _default_tokens(mode: Mode) -> Tokens:
    sheet = Path(settings.ASSETS_DIR, "static/css/tokens.css").read_text(encoding="utf-8")
    rows = _DEFAULT.findall(sheet)
    # The first ones: high contrast has the same names.
    return {name: parse_hex(dark if mode == "dark" else light) for name, light, dark in rows[::-1]}


def _tokens_of(colors: Colors, mode: Mode) -> Tokens:
    """Returns: the tokens that a theme gives, as its author wants them."""
    tokens = dict(_default_tokens(mode))

    def take(names: Mapping[str, str]) -> None:
        for token, name in names.items():
            if name in colors:
                color, opacity = colors[name]
                tokens[token] = mix(tokens["bg-app"], color, opacity)

    take(_SURFACES)
    take(_TEXTS)
    take(_LINES)
    tokens["bg-2"] = mix(tokens["bg-app"], tokens["bg-1"], 0.5)
    tokens["tx-2"] = mix(tokens["tx-1"], tokens["tx-3"], 0.5)
    tokens["ac-solid"] = tokens["ac"]
    for name in _BENEATH:
        tokens[f"{name}-bg"] = mix(tokens["bg-app"], tokens[name], 0.14)
    for name, state in _WORDS.items():
        tokens[f"{name}-bg"] = tokens[f"{state}-bg"]
    take(_DIFF)
    for name, state in _WORDS.items():
        tokens[f"{name}-word"] = mix(tokens[f"{name}-bg"], tokens[state], 0.2)
    return tokens


def _readable(tokens: Tokens, least: float) -> Tokens:
    """Returns: the tokens, changed as little as makes each text readable on each surface."""
    ink, paper = (WHITE, BLACK) if _is_dark(tokens) else (BLACK, WHITE)
    fitted = dict(tokens)
    surfaces = [name for name in tokens if name.startswith("bg-") or name.endswith(("-bg", "word"))]
    for name in surfaces:
        fitted[name] = with_contrast(tokens[name], [ink], least * _ROOM, paper)
    beneath = [fitted[name] for name in surfaces]
    plain = [fitted[name] for name in surfaces if name.startswith("bg-")]
    for name in (*_TEXTS, "tx-2"):
        own = [fitted[one] for one in _BENEATH.get(name, ())]
        fitted[name] = with_contrast(tokens[name], [*plain, *own] if own else beneath, least, ink)
    fitted["line-2"] = with_contrast(tokens["line-2"], beneath, _LEAST_BORDER, ink)
    if least == HIGH:
        fitted["line-1"] = fitted["line-2"]
    # Text on an accent is white or black, whichever needs less of a change.
    accent = tokens["ac-solid"]
    fitted["on-ac"] = max((WHITE, BLACK), key=lambda one: contrast(one, accent))
    away = BLACK if fitted["on-ac"] == WHITE else WHITE
    fitted["ac-solid"] = with_contrast(accent, [fitted["on-ac"]], least, away)
    fitted["ac-solid-hover"] = mix(fitted["ac-solid"], away, 0.14)
    return fitted


def _is_dark(tokens: Tokens) -> bool:
    return contrast(tokens["bg-app"], WHITE) > contrast(tokens["bg-app"], BLACK)


def to_stored(name: str, theme: ThemeColors) -> JsonObject:
    """Returns: what is kept of a theme: its name, its tokens, and how many were hard to read."""
    modes: dict[Mode, Tokens] = {
        "light": _tokens_of(theme.light, "light"),
        "dark": _tokens_of(theme.dark, "dark"),
    }
    changed = {
        name
        for tokens in modes.values()
        for name, color in _readable(tokens, LEAST).items()
        if name not in _MADE and color != tokens[name]
    }
    kept: dict[str, JsonValue] = {
        mode: {token: to_hex(color) for token, color in tokens.items()}
        for mode, tokens in modes.items()
    }
    return {"name": name, "changed": len(changed), **kept}


def theme_of(user: User) -> JsonObject | None:
    """Returns: what `to_stored` gave."""
    kept = user.preferences.get("colors")
    return kept if isinstance(kept, dict) else None


def theme_version(user: User) -> str:
    """Returns: what changes with the style sheet; "" for who has none of their own."""
    if theme_of(user) is None and not user.high_contrast:
        return ""
    text = json.dumps([theme_of(user), user.high_contrast, build_id()], sort_keys=True)
    return sha256(text.encode()).hexdigest()[:16]


def style_sheet(user: User) -> str:
    """Returns: the colors of a person as CSS, made of nothing but our names and `#rrggbb`."""
    kept = theme_of(user) or {}
    modes = (_kept_tokens(kept, "light"), _kept_tokens(kept, "dark"))
    css = _rules(modes, HIGH if user.high_contrast else LEAST)
    if not user.high_contrast:
        css += f"@media (prefers-contrast: more) {{\n{_rules(modes, HIGH)}}}\n"
    darkness = {_is_dark(tokens) for tokens in modes}
    if kept and len(darkness) == 1:
        # What the browser draws itself has to fit a theme that is dark, or light, everywhere.
        scheme = "dark" if darkness.pop() else "light"
        css += f":root, :root[data-theme] {{ color-scheme: {scheme}; }}\n"
    return css


def _kept_tokens(kept: JsonObject, mode: Mode) -> Tokens:
    tokens, given = dict(_default_tokens(mode)), kept.get(mode)
    for name, text in given.items() if isinstance(given, dict) else ():
        color = from_hex(text) if isinstance(text, str) else None
        if name in tokens and color is not None:
            tokens[name] = color[0]
    return tokens


def _rules(modes: tuple[Tokens, Tokens], least: float) -> str:
    light, dark = (_readable(tokens, least) for tokens in modes)
    lines = [
        f"  --{name}: light-dark({to_hex(light[name])}, {to_hex(dark[name])});" for name in light
    ]
    shades = ["255 255 255" if one["on-ac"] == BLACK else "0 0 0" for one in (light, dark)]
    lines.append(f"  --on-ac-kbd: light-dark(rgb({shades[0]} / 0.24), rgb({shades[1]} / 0.24));")
    return ":root {\n" + "\n".join(lines) + "\n}\n"
