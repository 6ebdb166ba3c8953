"""What axe-core and a ruler find on a page, in both themes and at four widths."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

from bench import npm
from tests.e2e.installation import ROOT

VERSION = "4.14.1"
SHOTS = ROOT / "test-results" / "pages"
WIDE, PHONE = 1440, 390
SMALL, TABLET = 320, 1024
_HEIGHT = {WIDE: 900, PHONE: 844, SMALL: 568, TABLET: 768}
_ALL = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
# A theme changes colours and nothing else, and a width what has room.
_COLOURS = ["color-contrast"]
_ROOM = [*_COLOURS, "target-size", "scrollable-region-focusable"]
# There the ruler is enough.
_NONE = list[str]()
# The last is how the page is left.
_VARIANTS = (
    ("light", SMALL, _NONE), ("light", TABLET, _NONE),
    ("dark", PHONE, _ROOM), ("light", WIDE, _ALL),
)  # fmt: skip
# What is there at one width only is part of a frame.
_OF_FRAMES = (
    ("light", SMALL, _ALL), ("light", PHONE, _COLOURS), ("dark", PHONE, _ALL),
    ("light", TABLET, _ALL), ("dark", WIDE, _COLOURS), ("light", WIDE, _ALL),
)  # fmt: skip
# An agent's text has the headings that it has, and a line half beneath the prompt that stays above
# the log can be scrolled from under it.
_RUN = """async (runOnly) => {
    const { violations } = await axe.run(document, { resultTypes: ["violations"], runOnly });
    const above = document.querySelector(".turn-now:not([hidden])")?.getBoundingClientRect();
    const box = (element) => element.getBoundingClientRect();
    const excused = {
        "heading-order": (element) => element.closest(".prose"),
        "target-size": (element) => above && element.closest("#log")
            && box(element).top < above.bottom && box(element).bottom > above.top,
    };
    const own = ({ id, nodes }) => [id, nodes
        .filter(({ target }) => !excused[id]?.(document.querySelector(target.join(" "))))
        .map(({ html, any }) => `${html.slice(0, 160)} ${any.map((one) => one.message)}`)];
    return violations.map(own).filter(([, places]) => places.length);
}"""
# What is wider than the page, for the message; the page itself decides.
_WIDER = """() => document.documentElement.scrollWidth <= innerWidth ? [] :
    [...document.body.querySelectorAll("*")]
        .filter((one) => one.getBoundingClientRect().right > innerWidth + 1)
        .slice(0, 5).map((one) => one.outerHTML.slice(0, 160))"""


def install_axe() -> str:
    """Returns: the script of axe-core. Raises: Unavailable."""
    folder = npm.cache("axe", VERSION)
    script = folder / "node_modules" / "axe-core" / "axe.min.js"
    return npm.install([f"axe-core@{VERSION}"], script, folder).read_text()


def find_faults(
    page: Page, name: str, axe: str, *, is_frame: bool = False, pictures: bool = False
) -> Iterator[str]:
    """Look at the page as it stands. `is_frame`: each theme at both widths. `pictures`: keep them.

    Returns: a line for each rule that is broken, and for what makes a page scroll sideways.
    """
    page.evaluate(axe)
    for theme, width, rules in _OF_FRAMES if is_frame or pictures else _VARIANTS:
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")  # type: ignore[arg-type]
        page.set_viewport_size({"width": width, "height": _HEIGHT[width]})
        where = f"{name}, {theme}, {width} px"
        if pictures:
            page.screenshot(path=Path(SHOTS, f"{name}-{theme}-{width}.png"))
        found: list[Any] = page.evaluate(_RUN, rules) if rules else []
        for rule, places in found:
            yield f"{where}: {rule} at {len(places)}: {places[0]}"
        for element in page.evaluate(_WIDER):
            yield f"{where}: wider than the page: {element}"
