"""A session's page whose conversation has little room beside the panel, on a real server."""

from __future__ import annotations

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.e2e.browser import of_page
from tests.e2e.installation import Installation
from tests.e2e.rest import ask, body, new_session, script

pytestmark = [*of_page, pytest.mark.deep]
LONG = "Abgelehnt von Ann Newcomer und noch jemandem"
# As with three people, and a state that names somebody with a long name.
CROWD = """(text) => {
  const presence = document.querySelector("#presence");
  presence.hidden = false;
  presence.innerHTML = '<li class="avatar">AN</li>'.repeat(3);
  document.querySelector(".header > .status > span:last-child").textContent = text;
}"""
IS_CUT = "(one) => one.scrollWidth > one.clientWidth || one.scrollHeight > one.clientHeight + 1"


def go(page: Page, server: Installation, session: str, width: str) -> None:
    page.goto(f"{server.url}/t/{server.team}/s/{session}?panel=changes")
    expect(page.locator("#live")).to_have_attribute("data-state", "live")
    page.evaluate(
        "width => document.querySelector('[data-workspace]').dataset.width = width", width
    )


@pytest.mark.parametrize("width", ["40", "50", "60", "70"])
def test_the_header_keeps_its_title_and_its_menu_in_a_narrow_pane(
    server: Installation, client: httpx.Client, page: Page, width: str
) -> None:
    session = new_session(client)
    client.patch(f"/session/{session}", json={"title": "Mend the till before Monday"})
    ask(client, session, script([{"text": "Done."}]))
    go(page, server, session, width)
    page.evaluate(CROWD, LONG)
    title = page.locator("#session-title").bounding_box()
    pane = page.locator(".pane-chat").bounding_box()
    menu = page.get_by_label("More about this session")
    place = menu.bounding_box()
    assert title
    assert pane
    assert place
    assert title["width"] > 60
    assert place["x"] + place["width"] <= pane["x"] + pane["width"]
    menu.click()
    expect(page.get_by_role("button", name="Rename")).to_be_visible()


def test_what_a_second_escape_does_is_said_in_full_in_a_narrow_pane(
    server: Installation, client: httpx.Client, page: Page
) -> None:
    session = new_session(client)
    go(page, server, session, "60")
    slow = script([{"text": "This takes long."}, {"delay_ms": 60_000}])
    client.post(f"/session/{session}/prompt_async", json=body(slow))
    expect(page.locator("[data-queue]")).to_be_visible()
    page.locator("#prompt").focus()
    page.keyboard.press("Escape")
    hint = page.locator("#composer-hint")
    expect(hint).to_have_text("Press Esc again to stop")
    assert not hint.evaluate(IS_CUT)
    page.keyboard.press("Escape")
    expect(page.locator(".status")).to_have_text("Stopped by ada")


def test_the_menu_of_a_session_has_its_title_of_now(
    server: Installation, client: httpx.Client, page: Page
) -> None:
    session = new_session(client)
    go(page, server, session, "40")
    client.patch(f"/session/{session}", json={"title": "Mend the till"})
    expect(page.locator("#session-title")).to_contain_text("Mend the till")
    page.get_by_label("More about this session").click()
    expect(page.get_by_label("Title", exact=True)).to_have_value("Mend the till")


def test_a_palette_opened_from_a_menu_gives_the_focus_back(
    server: Installation, client: httpx.Client, page: Page
) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{server.url}/t/{server.team}/s/{new_session(client)}")
    menu = page.get_by_label("More about this session")
    menu.click()
    page.get_by_role("link", name="Search and navigate").click()
    palette = page.get_by_role("dialog", name="Search and navigate")
    expect(palette).to_be_visible()
    page.keyboard.press("Escape")
    expect(palette).to_be_hidden()
    expect(menu).to_be_focused()


def test_a_new_session_goes_on_at_the_end_of_its_draft(
    server: Installation, client: httpx.Client, page: Page
) -> None:
    page.goto(f"{server.url}/t/{server.team}/")
    field = page.get_by_label("Message to the agent")
    field.fill("Half a thought")
    go(page, server, new_session(client), "40")
    page.locator("body").press("n")
    page.wait_for_url("**#prompt")
    expect(field).to_be_focused()
    expect(field).to_have_value("Half a thought")
    page.keyboard.type(" more")
    expect(field).to_have_value("Half a thought more")
    field.fill("")
