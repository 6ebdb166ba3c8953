"""Colors, contrast, density and text size of a person's own, on pages that show most of them."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from bench.npm import Unavailable
from tests.e2e.axe import find_faults, install_axe
from tests.e2e.browser import of_page
from tests.e2e.installation import Installation
from tests.e2e.world import Names, make_world

pytestmark = [*of_page, pytest.mark.deep]

# Colors that are hard to read on each other, as themes for terminals have them.
THEME = json.dumps(
    {
        "defs": {"night": "#2E3440", "snow": "#ECEFF4", "frost": "#88C0D0", "faint": "#4C566A"},
        "theme": {
            "primary": {"dark": "frost", "light": "#5E81AC"},
            "secondary": "#81A1C1",
            "text": {"dark": "snow", "light": "night"},
            "textMuted": "faint",
            "background": {"dark": "night", "light": "snow"},
            "backgroundPanel": {"dark": "#3B4252", "light": "#E5E9F0"},
            "backgroundElement": {"dark": "#434C5E", "light": "#D8DEE9"},
            "error": "#BF616A",
            "warning": "#D08770",
            "success": "#A3BE8C",
            "border": "faint",
            "syntaxComment": "faint",
            "syntaxKeyword": "#81A1C1",
        },
    }
)
PAGES = ("s/{done}", "s/{done}?panel=changes", "s/{asking}", "", "settings/models/")


@pytest.fixture(scope="module")
def axe() -> str:
    try:
        return install_axe()
    except Unavailable as exc:
        pytest.skip(f"axe-core: {exc}")


@pytest.fixture(scope="module")
def names(server: Installation) -> Iterator[Names]:
    with server.client() as client:
        made = make_world(server, client)
        yield made
        for state in ("running", "retrying"):
            client.post(f"/session/{made[state]}/abort")


@pytest.fixture
def appearance(server: Installation, signed_in: BrowserContext) -> Iterator[Page]:
    page = signed_in.new_page()
    page.goto(f"{server.url}/me/appearance")
    yield page
    page.close()


def _save(page: Page, **tastes: str) -> None:
    for name, value in tastes.items():
        page.locator(f'[name="{name}"][value="{value}"]').check()
    page.locator("#appearance [type=submit]").click()
    expect(page.locator("#toasts .toast")).to_have_count(1)


def _token(page: Page, name: str) -> str:
    script = "name => getComputedStyle(document.body).getPropertyValue(name)"
    return str(page.evaluate(script, name))


def _walk(page: Page, server: Installation, names: Names, axe: str) -> list[str]:
    faults: list[str] = []
    for path in (*(f"/t/{{team}}/{one}" for one in PAGES), "/me/appearance"):
        page.goto(server.url + path.format(**names))
        faults += find_faults(page, path, axe)
    return faults


def test_axe_finds_nothing_in_a_theme_of_ones_own(
    server: Installation, names: Names, appearance: Page, axe: str
) -> None:
    page = appearance
    page.locator("#own-theme textarea").fill(THEME)
    page.get_by_role("button", name="Use theme").click()
    expect(page.locator("#own-theme .chip")).to_have_text("Own theme")
    expect(page.locator("#own-theme .notice")).to_contain_text("shown with more contrast")
    page.emulate_media(color_scheme="dark")
    expect(page.locator("body")).to_have_css("background-color", "rgb(46, 52, 64)")

    assert _walk(page, server, names, axe) == []
    page.get_by_role("button", name="Remove theme").click()
    expect(page.locator("#own-theme .chip")).to_have_count(0)


def test_axe_finds_nothing_with_high_contrast_and_large_text(
    server: Installation, names: Names, appearance: Page, axe: str
) -> None:
    page = appearance
    before = page.locator(".section h2").first.bounding_box()
    page.locator("[name=high_contrast]").check()
    _save(page, text_size="large", density="compact")
    after = page.locator(".section h2").first.bounding_box()
    assert before
    assert after
    assert after["height"] > before["height"]
    assert _token(page, "--s-3") == "8px"

    assert _walk(page, server, names, axe) == []
    page.locator("[name=high_contrast]").uncheck()
    _save(page, text_size="", density="")


def test_a_wrong_theme_says_so_in_its_place(appearance: Page) -> None:
    appearance.locator("#own-theme textarea").fill('{"theme": {}}')
    appearance.get_by_role("button", name="Use theme").click()
    expect(appearance.locator("#own-theme [role=alert]")).to_contain_text("has no color for")
