"""The same page in other languages, and from right to left."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.e2e.browser import of_page, watched
from tests.e2e.installation import Installation
from tests.e2e.rest import ask, body, new_session, script

pytestmark = [*of_page, pytest.mark.deep]
WIDE, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}
RIGHT_TO_LEFT = "ar-xb"


@pytest.fixture
def page(signed_in: BrowserContext, server: Installation) -> Iterator[Page]:
    with watched(signed_in, console=True) as page:
        yield page
        prefer(page, server, "")


def prefer(page: Page, server: Installation, language: str) -> None:
    page.goto(f"{server.url}/me/appearance")
    page.locator(f'[name="language"][value="{language}"]').check()
    page.locator("#appearance [type=submit]").click()
    expect(page.locator("#toasts .toast")).to_have_count(1)


def has_no_sideways_scroll(page: Page) -> bool:
    scroll = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    return bool(page.evaluate(scroll))


def middle(page: Page, css: str) -> float:
    box = page.locator(css).bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2


@pytest.mark.deep
def test_the_layout_is_mirrored_and_code_is_not(
    server: Installation, client: httpx.Client, page: Page
) -> None:
    session = new_session(client)
    code = "Look:\n\n```python\ntotal = 1 + 2\n```\n"
    ask(client, session, script([{"text": code}]))
    prefer(page, server, RIGHT_TO_LEFT)
    page.goto(f"{server.url}/t/{server.team}/s/{session}?panel=files")
    expect(page.locator("#live")).to_have_attribute("data-state", "live")
    expect(page.locator("html")).to_have_attribute("dir", "rtl")
    assert has_no_sideways_scroll(page)
    assert middle(page, ".pane-side") < middle(page, "#log") < middle(page, "[data-rail]")
    left = page.locator("#log pre").evaluate(
        "pre => [getComputedStyle(pre).direction, getComputedStyle(pre).textAlign]"
    )
    assert left == ["ltr", "start"]
    # English is read from the left also here.
    assert page.locator(".prose p").first.evaluate("p => getComputedStyle(p).unicodeBidi") == (
        "plaintext"
    )

    edge = page.locator("[data-panel-edge]")
    edge.focus()
    before = int(edge.get_attribute("aria-valuenow") or 0)
    page.keyboard.press("ArrowRight")
    expect(edge).to_have_attribute("aria-valuenow", str(before + 5))
    box, whole = edge.bounding_box(), page.locator("[data-workspace]").bounding_box()
    assert box is not None
    assert whole is not None
    page.mouse.move(box["x"] + 2, 400)
    page.mouse.down()
    page.mouse.move(whole["x"] + whole["width"] * 0.4, 400, steps=4)
    page.mouse.up()
    expect(edge).to_have_attribute("aria-valuenow", "40")

    page.set_viewport_size(PHONE)
    for panel in ("", "?panel=files", "?panel=context", "?panel=changes"):
        page.goto(f"{server.url}/t/{server.team}/s/{session}{panel}")
        expect(page.locator("#live")).to_have_attribute("data-state", "live")
        assert has_no_sideways_scroll(page), panel
    for path in ("", "settings/members", "settings/audit", "p/new"):
        page.goto(f"{server.url}/t/{server.team}/{path}")
        assert has_no_sideways_scroll(page), path
    page.set_viewport_size(WIDE)
    for path in ("", "settings/members", "settings/audit", "p/new"):
        page.goto(f"{server.url}/t/{server.team}/{path}")
        assert has_no_sideways_scroll(page), path


def test_two_people_read_one_turn_in_their_languages_while_it_grows(
    server: Installation, client: httpx.Client, page: Page, signed_in: BrowserContext
) -> None:
    session = new_session(client)
    address = f"{server.url}/t/{server.team}/s/{session}"
    page.goto(address)
    expect(page.locator("#live")).to_have_attribute("data-state", "live")
    assert signed_in.browser is not None
    state = signed_in.storage_state()
    elsewhere = signed_in.browser.new_context(locale="de-DE", storage_state=state)
    german = elsewhere.new_page()
    german.goto(address)
    expect(german.locator("#live")).to_have_attribute("data-state", "live")
    expect(german.locator("html")).to_have_attribute("lang", "de")
    call = {"tool": "question", "input": {"questions": [{"question": "Which?", "options": []}]}}
    client.post(f"/session/{session}/prompt_async", json=body(script([{"text": "Well."}, call])))
    expect(page.locator("[data-permission]")).to_contain_text("The agent has a question")
    expect(german.locator("[data-permission]")).to_contain_text("Der Agent hat eine Frage")
    for one in (page, german):
        expect(one.get_by_role("log")).to_contain_text("Well.")

    # Another language shows the same, and goes on.
    prefer(german, server, "en")
    german.goto(address)
    expect(german.locator("html")).to_have_attribute("lang", "en")
    expect(german.locator("[data-permission]")).to_contain_text("The agent has a question")
    expect(german.get_by_role("log")).to_contain_text("Well.")
    elsewhere.close()


@pytest.mark.deep
def test_a_longer_language_cuts_no_choice_of_a_new_session_off(
    server: Installation, page: Page
) -> None:
    prefer(page, server, "de")
    for width in (1440, 1100):
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(f"{server.url}/t/{server.team}/")
        expect(page.locator(".composer-model [data-pick-label]")).to_be_visible()
        bar = page.locator(".composer-bar")
        cut = "bar => [...bar.querySelectorAll('*')].filter(one => one.checkVisibility()"
        cut += " && one.clientWidth && one.scrollWidth > one.clientWidth + 1"
        cut += " && !one.matches('.unseen, input')).map(one => one.textContent.trim())"
        assert bar.evaluate(cut) == [], width
        assert has_no_sideways_scroll(page)
    page.set_viewport_size(WIDE)
