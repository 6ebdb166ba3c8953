"""Going from page to page, in a real browser on a real server."""

from __future__ import annotations

import re

import httpx
import pytest
from playwright.sync_api import Page, Request, Route, expect

from tests.e2e.browser import of_page
from tests.e2e.installation import Installation
from tests.e2e.rest import new_session, wait_for
from tests.e2e.test_lists import have_ask

pytestmark = [*of_page, pytest.mark.deep]
# Longer than a pointer rests on a link before its page is fetched.
RESTED_MS = 500


def go_to(page: Page, server: Installation, path: str) -> None:
    page.goto(f"{server.url}/t/{server.team}/{path}")
    expect(page.locator("#live")).to_have_attribute("data-state", "live")


def fetched(page: Page, end: str) -> list[str]:
    """The purposes of the requests for addresses with this end: `prefetch`, or nothing."""
    asked: list[str] = []

    def note(request: Request) -> None:
        if re.search(f"{end}$", request.url):
            asked.append(request.headers.get("purpose", ""))

    page.on("request", note)
    return asked


def test_the_page_of_a_link_is_fetched_while_the_pointer_rests_on_it(
    server: Installation, client: httpx.Client, page: Page
) -> None:
    first, second = new_session(client), new_session(client)
    go_to(page, server, f"s/{first}")
    session, home = fetched(page, second), fetched(page, "/t/[^/]+/")
    row = page.locator(f"#row-{second} [data-session-row]")
    with page.expect_request(re.compile(f"{second}$")):
        row.hover()
    row.click()
    page.wait_for_url(f"**/{second}")
    expect(page.locator("#live")).to_have_attribute("data-state", "live")
    # Its icon is no part that keeps the pointer from the link.
    with page.expect_request(re.compile("/t/[^/]+/$")):
        page.locator(".topbar-home").hover()
    page.locator(".topbar-home").click()
    page.wait_for_url(re.compile(r"/t/[^/]+/$"))
    expect(page.locator("#live")).to_have_attribute("data-state", "live")
    assert (session, home) == (["prefetch"], ["prefetch"])


def test_who_goes_through_the_sessions_by_keys_has_those_beside_fetched_ahead(
    server: Installation, client: httpx.Client, page: Page
) -> None:
    third, second, first = (new_session(client) for _ in range(3))
    go_to(page, server, f"s/{first}")
    page.keyboard.press("j")
    page.wait_for_url(f"**/{second}")
    for session, key in ((third, "j"), (second, "k")):
        asked = fetched(page, session)
        page.wait_for_timeout(RESTED_MS)
        page.keyboard.press(key)
        page.wait_for_url(f"**/{session}")
        expect(page.get_by_role("log")).to_be_focused()
        assert "" not in asked


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


def test_pages_of_settings_are_live_and_count_what_waits(
    server: Installation, client: httpx.Client, page: Page
) -> None:
    go_to(page, server, "settings/general")
    have_ask(client, new_session(client))
    inbox = page.locator("[data-inbox]")
    expect(inbox).to_have_text("1")
    expect(page).to_have_title(re.compile(r"^\(1\) General · "))
    settings = page.get_by_role("navigation", name="Settings")
    settings.get_by_role("link", name="Members", exact=True).click()
    expect(page).to_have_title(re.compile(r"^\(1\) Members · "))
    expect(inbox).to_have_text("1")
    expect(page.locator("#live")).to_have_text("Live")
    for request in client.get("/permission").json():
        client.post(f"/permission/{request['id']}/reply", json={"reply": "once"})
    expect(inbox).to_be_hidden()
    expect(page).to_have_title(re.compile("^Members · "))


def test_keys_that_are_typed_after_n_are_for_the_message_field_of_the_next_page(
    server: Installation, client: httpx.Client, page: Page
) -> None:
    go_to(page, server, f"s/{new_session(client)}")
    late: list[Route] = []
    page.route(re.compile(r"/t/[^/]+/(#.*)?$"), lambda route: late.append(route), times=1)
    page.keyboard.press("n")
    page.keyboard.type("jx fix the")
    wait_for(lambda: late or page.wait_for_timeout(50))
    page.keyboard.press("Backspace")
    late[0].continue_()
    prompt = page.get_by_label("Message to the agent")
    expect(prompt).to_have_value("jx fix th")
    expect(prompt).to_be_focused()
    page.keyboard.type("is")
    expect(prompt).to_have_value("jx fix this")
    page.get_by_role("link", name="New session", exact=False).first.focus()
    page.keyboard.press("n")
    expect(prompt).to_be_focused()
    # It is a draft like any other.
    page.reload()
    expect(prompt).to_have_value("jx fix this")
    prompt.fill("")

    # The inbox has no message field of its own.
    go_to(page, server, "inbox")
    page.keyboard.press("n")
    page.keyboard.type("go on")
    expect(prompt).to_have_value("go on")
    prompt.fill("")

    # Nor have pages of settings. From there a page is loaded, whose scripts come after the keys.
    go_to(page, server, "settings/general")
    scripts: list[Route] = []
    page.route("**/js/app.*", lambda route: scripts.append(route), times=1)
    page.keyboard.press("n")
    wait_for(lambda: scripts or page.wait_for_timeout(50))
    page.keyboard.type("jog on")
    scripts[0].continue_()
    expect(prompt).to_have_value("jog on")
    prompt.fill("")
