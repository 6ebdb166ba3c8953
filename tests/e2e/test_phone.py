"""What people do on a phone, with their fingers, on a real server."""

from __future__ import annotations

import re

import httpx
from playwright.sync_api import BrowserContext, expect

from tests.e2e.browser import of_page, phone
from tests.e2e.installation import Installation
from tests.e2e.rest import ask, new_session, script, wait_for

pytestmark = of_page
OFFER = """() => {
  const offer = new Event("beforeinstallprompt", { cancelable: true });
  offer.prompt = () => (window.isAsked = true);
  dispatchEvent(offer);
}"""
SHARES = "navigator.share = async ({ url }) => (window.shared = url)"


def test_a_first_tap_sends_and_what_a_rollback_gives_back_goes_with_it(
    server: Installation, client: httpx.Client, signed_in: BrowserContext
) -> None:
    session = new_session(client)
    ask(client, session, script([{"text": "Begun."}]))
    with phone(signed_in) as page:
        page.goto(f"{server.url}/t/{server.team}/s/{session}")
        expect(page.locator("#live")).to_have_attribute("data-state", "live")
        answer, field = page.locator(".parts").last, page.locator("#prompt")
        bar = page.locator("#pane-switch")
        field.tap()
        expect(bar).to_be_hidden()
        field.fill(script([{"text": "Said."}]))
        # A keyboard on the screen has no other key for it.
        page.keyboard.press("Enter")
        page.keyboard.type("Twice.")
        expect(field).to_have_value(re.compile("\nTwice.$"))
        page.get_by_role("button", name="Send").tap()
        expect(answer).to_contain_text("Said.")
        expect(field).to_have_value("")
        expect(bar).to_be_visible()

        page.get_by_role("button", name="More about this turn").last.tap()
        page.get_by_text("Roll back to before this turn").tap()
        page.get_by_role("dialog").get_by_role("button", name="Roll back").tap()
        expect(page.get_by_text("Your next message makes this permanent.")).to_be_visible()
        expect(field).to_have_value(re.compile("\nTwice.$"))
        field.tap()
        page.get_by_role("button", name="Restore").tap()
        expect(answer).to_contain_text("Said.")
        expect(field).to_have_value("")


def test_settings_are_a_list_links_are_shared_and_the_app_is_installed(
    server: Installation, signed_in: BrowserContext
) -> None:
    with phone(signed_in) as page:
        page.add_init_script(SHARES)
        page.goto(f"{server.url}/t/{server.team}/settings/members")
        page.get_by_label("E-mail").fill("vera@example.com")
        page.get_by_role("button", name="Create link").tap()
        expect(page.get_by_text("Member link for vera@example.com")).to_be_visible()
        page.get_by_role("button", name="Share…").tap()
        wait_for(lambda: "/invite/" in (page.evaluate("window.shared") or ""))

        budgets = page.get_by_role("link", name="Budgets")
        expect(budgets).to_be_hidden()
        page.get_by_role("button", name="Team settings Members").tap()
        budgets.tap()
        expect(page.get_by_role("heading", name="Budgets", level=1)).to_be_visible()
        expect(budgets).to_be_hidden()
        page.get_by_role("button", name="Save").first.tap()
        expect(page.locator("#toasts")).to_contain_text("Saved.")
        page.get_by_role("heading", name="Budgets", level=1).tap()
        expect(page.locator("[data-toast]")).to_have_count(0)

        install = page.get_by_role("link", name="Install app")
        account = page.get_by_label(re.compile("Your account"))
        account.tap()
        page.evaluate(OFFER)
        install.tap()
        wait_for(lambda: page.evaluate("window.isAsked"))
        # Where the browser offers nothing, it says how.
        page.reload()
        account.tap()
        install.tap()
        expect(page.get_by_role("heading", name="Install the app on a phone")).to_be_in_viewport()
