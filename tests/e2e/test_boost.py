"""Going from page to page of the settings without a load of a whole page, in a real browser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress

import pytest
from playwright.sync_api import BrowserContext, Error, Locator, Page, Route, expect

from bench.npm import Unavailable
from tests.e2e.axe import find_faults, install_axe
from tests.e2e.browser import of_page
from tests.e2e.installation import Installation

pytestmark = [*of_page, pytest.mark.deep]
KEYS = "Keyboard shortcuts"


@pytest.fixture
def tab(signed_in: BrowserContext) -> Iterator[Page]:
    page = signed_in.new_page()
    yield page
    page.close()


def open_settings(page: Page, address: str) -> None:
    page.goto(address)
    page.wait_for_selector("[hx-boost\\:inherited]")
    page.evaluate("document.isFirst = true")


def link(page: Page, name: str) -> Locator:
    return page.get_by_role("navigation", name="Settings").get_by_role(
        "link", name=name, exact=True
    )


def is_swapped(page: Page) -> bool:
    return bool(page.evaluate("document.isFirst === true"))


def expect_page(page: Page, name: str, heading: str = "") -> None:
    top = page.get_by_role("heading", level=1)
    expect(top).to_have_text(heading or name)
    expect(top).to_be_focused()
    expect(page.locator(".nav-item[aria-current]")).to_have_text(name)
    expect(page).to_have_title(re.compile(rf"^{heading or name} · "))


def test_settings_go_from_page_to_page_without_a_load(server: Installation, page: Page) -> None:
    team = f"{server.url}/t/{server.team}"
    open_settings(page, f"{team}/settings/general")
    for name, path in (("Members", "settings/members"), ("Usage", "usage"), ("Roles", "roles")):
        page.locator(".page").evaluate("(sheet) => (sheet.scrollTop = 500)")
        link(page, name).click()
        expect_page(page, name)
        assert page.url.endswith(path)
        assert page.locator(".page").evaluate("(sheet) => sheet.scrollTop") == 0
    page.go_back()
    expect_page(page, "Usage")
    page.go_back()
    expect_page(page, "Members")
    page.go_forward()
    expect_page(page, "Usage")
    assert is_swapped(page)
    # What hangs on the whole page works as before.
    page.keyboard.press("Control+k")
    page.get_by_role("combobox").fill("audit")
    expect(page.get_by_role("option").first).to_contain_text("Audit")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("/settings/audit$"))
    assert not is_swapped(page)


def test_what_was_typed_is_there_again_for_who_comes_back(server: Installation, page: Page) -> None:
    open_settings(page, f"{server.url}/me/profile")
    page.get_by_label("Name", exact=True).fill("Ada, Countess")
    link(page, "Shortcuts").click()
    expect_page(page, "Shortcuts", KEYS)
    # The module of this page has come with it.
    field = page.get_by_label("Inbox", exact=True)
    expect(page.locator("html")).to_have_attribute("data-records", "on")
    field.press("q")
    expect(field).to_have_value("q")
    page.go_back()
    expect_page(page, "Profile")
    expect(page.get_by_label("Name", exact=True)).to_have_value("Ada, Countess")
    page.go_forward()
    expect(page.get_by_label("Inbox", exact=True)).to_have_value("q")
    link(page, "Profile").click()
    expect(page.get_by_label("Name", exact=True)).to_have_value("ada")
    assert is_swapped(page)


@pytest.mark.parametrize("status", [403, 404, 500])
def test_an_error_is_a_whole_page(server: Installation, tab: Page, status: int) -> None:
    def fail(route: Route) -> None:
        html = "<!doctype html><title>No</title><h1>This went wrong</h1>"
        route.fulfill(status=status, content_type="text/html", body=html)

    open_settings(tab, f"{server.url}/t/{server.team}/settings/general")
    tab.route("**/settings/members", fail)
    link(tab, "Members").click()
    expect(tab.get_by_role("heading", name="This went wrong")).to_be_visible()
    expect(tab).to_have_title("No")
    assert tab.url.endswith("/members")
    tab.go_back()
    expect(tab.get_by_role("heading", level=1)).to_have_text("General")


def test_another_build_and_what_is_signed_out_load_a_whole_page(
    server: Installation, tab: Page
) -> None:
    general = f"{server.url}/t/{server.team}/settings/general"
    open_settings(tab, general)
    tab.evaluate("document.documentElement.dataset.build = 'older'")
    link(tab, "Members").click()
    expect(tab.get_by_role("heading", level=1)).to_have_text("Members")
    expect(tab.locator("html")).not_to_have_attribute("data-build", "older")
    assert not is_swapped(tab)

    open_settings(tab, general)
    (cookie,) = [one for one in tab.context.cookies() if one["name"] == "sessionid"]
    tab.context.clear_cookies(name="sessionid")
    link(tab, "Members").click()
    tab.wait_for_url(re.compile(r"/login\?next=.*members$"))
    expect(tab.get_by_role("button", name="Sign in", exact=True)).to_be_visible()
    tab.context.add_cookies([cookie])


def test_only_the_last_of_two_clicks_counts(server: Installation, tab: Page) -> None:
    open_settings(tab, f"{server.url}/me/profile")
    late: list[Route] = []
    tab.route("**/me/appearance", lambda route: late.append(route), times=1)
    link(tab, "Appearance").click()
    link(tab, "Shortcuts").click()
    expect_page(tab, "Shortcuts", KEYS)
    with suppress(Error):
        late[0].continue_()
    tab.wait_for_timeout(500)
    expect_page(tab, "Shortcuts", KEYS)
    tab.go_back()
    expect_page(tab, "Profile")
    link(tab, "Back to your team").click()
    tab.wait_for_url(re.compile("/t/[^/]+/$"))
    assert not is_swapped(tab)


def test_the_pages_have_one_policy_and_the_same_scripts(
    server: Installation, signed_in: BrowserContext, tab: Page
) -> None:
    for start in (f"{server.url}/me/profile", f"{server.url}/t/{server.team}/settings/general"):
        tab.goto(start)
        links = tab.locator('[data-boost] a:not([hx-boost="false"])')
        paths = links.evaluate_all("(all) => all.map((one) => one.href)")
        assert len(paths) > 5
        frames = set()
        for path in paths:
            answer = signed_in.request.get(path)
            scripts = re.findall(r'<(?:script|link)\b[^>]*(?:src|href)="[^"]+"', answer.text())
            frames.add((answer.headers["content-security-policy"], *scripts))
        assert len(frames) == 1


def test_axe_finds_nothing_on_a_page_that_was_swapped_in(server: Installation, page: Page) -> None:
    try:
        axe = install_axe()
    except Unavailable as exc:
        pytest.skip(f"axe-core: {exc}")
    open_settings(page, f"{server.url}/t/{server.team}/settings/general")
    link(page, "Members").click()
    expect_page(page, "Members")
    assert list(find_faults(page, "boosted", axe)) == []
