"""Going from page to page, in a real browser on a real server."""

from __future__ import annotations

import re

import httpx
from playwright.sync_api import Page, expect

from tests.e2e.browser import of_page
from tests.e2e.installation import Installation
from tests.e2e.rest import new_session

pytestmark = of_page
# Longer than Chromium waits before it fetches the page of a link under the pointer.
RESTED_MS = 800


def go_to(page: Page, server: Installation, path: str) -> None:
    page.goto(f"{server.url}/t/{server.team}/{path}")
    expect(page.locator("#live")).to_have_attribute("data-state", "live")


def was_fetched_ahead(page: Page) -> bool:
    entry = page.evaluate("performance.getEntriesByType('navigation')[0].deliveryType")
    return bool(entry == "navigational-prefetch")


def test_the_page_of_a_link_is_fetched_while_the_pointer_rests_on_it(
    server: Installation, client: httpx.Client, page: Page
) -> None:
    first, second = new_session(client), new_session(client)
    go_to(page, server, f"s/{first}")
    row = page.locator(f"#row-{second} [data-session-row]")
    row.hover()
    page.wait_for_timeout(RESTED_MS)
    row.click()
    page.wait_for_url(f"**/{second}")
    assert was_fetched_ahead(page)
    expect(page.locator("#live")).to_have_attribute("data-state", "live")


def test_who_goes_through_the_sessions_by_keys_has_the_next_one_fetched_ahead(
    server: Installation, client: httpx.Client, page: Page
) -> None:
    third, second, first = (new_session(client) for _ in range(3))
    go_to(page, server, f"s/{first}")
    page.keyboard.press("j")
    page.wait_for_url(f"**/{second}")
    expect(page.locator(f"#row-{third} [data-ahead]")).to_be_visible()
    page.wait_for_timeout(RESTED_MS)
    page.keyboard.press("j")
    page.wait_for_url(f"**/{third}")
    assert was_fetched_ahead(page)


def test_a_page_that_was_fetched_long_ago_reads_its_lists_again(
    server: Installation, client: httpx.Client, page: Page
) -> None:
    session = new_session(client)

    page.add_init_script(
        "addEventListener('readystatechange', () => {"
        "  document.querySelector('main').dataset.made = 1000;"
        "}, { capture: true, once: true });"
    )
    with page.expect_request(re.compile(r"/rail\?")):
        go_to(page, server, f"s/{session}")
