from __future__ import annotations

import pytest

from opencode_web.lib.colors import (
    BLACK,
    WHITE,
    contrast,
    from_ansi,
    from_hex,
    to_hex,
    with_contrast,
)


@pytest.mark.parametrize(
    ("text", "color", "opacity"),
    [
        ("#fff", WHITE, 1.0),
        ("#8ea8ff", (142, 168, 255), 1.0),
        ("#8EA8FF00", (142, 168, 255), 0.0),
        ("#f00f", (255, 0, 0), 1.0),
    ],
)
def test_hex_colors_are_read(text: str, color: tuple[int, int, int], opacity: float) -> None:
    assert from_hex(text) == (color, opacity)


@pytest.mark.parametrize("text", ["", "#", "fff", "#ff", "#fffff", "#ggg", "#fff\n", "#٣٣٣", "red"])
def test_nothing_else_is_a_color(text: str) -> None:
    assert from_hex(text) is None


@pytest.mark.parametrize(
    ("number", "color"),
    [
        *((0, "#000000"), (15, "#ffffff"), (16, "#000000"), (196, "#ff0000"), (231, "#ffffff")),
        *((67, "#5f87af"), (232, "#080808"), (255, "#eeeeee")),
    ],
)
def test_the_colors_of_terminals(number: int, color: str) -> None:
    assert to_hex(from_ansi(number)) == color


def test_contrast_is_that_of_wcag() -> None:
    assert contrast(BLACK, WHITE) == pytest.approx(21)
    assert contrast((118, 118, 118), WHITE) == pytest.approx(4.54, abs=0.01)


def test_a_color_changes_no_more_than_it_has_to() -> None:
    gray = (118, 118, 118)
    assert with_contrast(gray, [WHITE], 4.5, BLACK) == gray
    darker = with_contrast((150, 150, 150), [WHITE], 4.5, BLACK)
    assert 4.5 <= contrast(darker, WHITE) < 5.5
