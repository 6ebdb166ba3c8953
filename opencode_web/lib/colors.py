"""Arithmetic of sRGB colors, with the contrast of WCAG 2.2."""

from __future__ import annotations

import re
from collections.abc import Iterable

Color = tuple[int, int, int]

BLACK: Color = (0, 0, 0)
WHITE: Color = (255, 255, 255)
_HEX = re.compile(r"#(?:[0-9a-fA-F]{3,4}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})", re.ASCII)
_STEPS = 20
# The six intensities of the color cube of terminals.
_CUBE = (0, 95, 135, 175, 215, 255)
_ANSI = (
    *("#000000", "#800000", "#008000", "#808000", "#000080", "#800080", "#008080", "#c0c0c0"),
    *("#808080", "#ff0000", "#00ff00", "#ffff00", "#0000ff", "#ff00ff", "#00ffff", "#ffffff"),
)


def from_hex(text: str) -> tuple[Color, float] | None:
    """Returns: the color and its opacity, 0 to 1; None for what is not `#rgb`, `#rrggbb`, or one
    of these with an opacity."""
    if not _HEX.fullmatch(text):
        return None
    digits = text[1:] if len(text) > 5 else "".join(digit * 2 for digit in text[1:])
    red, green, blue, *opacity = bytes.fromhex(digits)
    return (red, green, blue), (opacity[0] / 255 if opacity else 1.0)


def to_hex(color: Color) -> str:
    """Returns: `#rrggbb`."""
    return "#" + bytes(color).hex()


def from_ansi(number: int) -> Color:
    """Returns: one of the 256 colors of terminals, as xterm has them."""
    if number < len(_ANSI):
        return parse_hex(_ANSI[number])
    if number < 232:
        cube, blue = divmod(number - 16, 6)
        red, green = divmod(cube, 6)
        return _CUBE[red], _CUBE[green], _CUBE[blue]
    gray = (number - 232) * 10 + 8
    return gray, gray, gray


def parse_hex(text: str) -> Color:
    """Returns: the color of a text that is known to be one. Raises: ValueError."""
    found = from_hex(text)
    if found is None:
        raise ValueError("not a color")
    return found[0]


def mix(color: Color, other: Color, share: float) -> Color:
    """Returns: `color` with a `share`, 0 to 1, of the other one."""
    red, green, blue = (
        round(one + (two - one) * share) for one, two in zip(color, other, strict=True)
    )
    return red, green, blue


def contrast(color: Color, other: Color) -> float:
    """Returns: 1 for the same color, to 21 for black on white."""
    light, dark = sorted((_luminance(color), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(color: Color) -> float:
    red, green, blue = (
        part / 255 / 12.92 if part <= 10 else ((part / 255 + 0.055) / 1.055) ** 2.4
        for part in color
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def with_contrast(color: Color, others: Iterable[Color], least: float, toward: Color) -> Color:
    """Returns: the color with as little of `toward` as gives it this contrast to all others."""
    others = [*others]
    for step in range(_STEPS):
        mixed = mix(color, toward, step / _STEPS)
        if all(contrast(mixed, other) >= least for other in others):
            return mixed
    return toward
