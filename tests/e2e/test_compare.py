"""One prompt for several agents, side by side, of which one is kept."""

from __future__ import annotations

import re

import httpx
import pytest
from playwright.sync_api import BrowserContext, expect

from tests.e2e.axe import find_faults, install_axe
from tests.e2e.browser import of_page, watched
from tests.e2e.installation import Installation
from tests.e2e.rest import INLINE, script

pytestmark = [*of_page, pytest.mark.deep]


@pytest.mark.deep
def test_attempts_run_beside_each_other_and_one_is_kept(
    server: Installation, client: httpx.Client, signed_in: BrowserContext
) -> None:
    assert client.patch("/config", json={"model": f"{INLINE['providerID']}/{INLINE['modelID']}"})
    prompt = script([{"text": "## Done\n\nThe till adds up."}])
    with watched(signed_in, console=True) as page:
        page.goto(f"{server.url}/t/{server.team}/")
        page.locator("#prompt").fill(prompt)
        page.get_by_text("Options", exact=True).click()
        # The list of the message field, with its groups and its search.
        also = page.locator("[data-also] button")
        page.get_by_role("button", name="Model", exact=True).last.click()
        page.get_by_label("Type to filter").fill("script in the")
        page.keyboard.press("Enter")
        expect(also).to_have_count(1)
        also.click()
        expect(also).to_have_count(0)
        page.get_by_role("button", name="Agent", exact=True).last.click()
        page.locator("[data-choice=plan]").click()
        expect(also).to_have_text("Plan")
        # What is chosen is in sight, and nothing lies over the button.
        page.set_viewport_size({"width": 800, "height": 900})
        page.get_by_text("Options", exact=True).click()
        expect(also).to_be_visible()
        page.get_by_role("button", name="Start").click()
        page.wait_for_url(re.compile("/compare$"))
        attempts = page.locator(".compare-attempt")
        expect(attempts).to_have_count(2)
        # It follows what happens by itself.
        for attempt in attempts.all():
            expect(attempt.locator(".compare-state")).to_contain_text("Done")
            expect(attempt.get_by_role("heading", name="Done")).to_be_visible()
        assert [*find_faults(page, "compare", install_axe(), is_frame=True)] == []

        attempts.nth(1).get_by_role("button", name="Keep this one").click()
        page.wait_for_url(re.compile(r"/s/ses_\w+$"))
        expect(page.locator("#toasts")).to_contain_text("1 other attempt is archived")
        page.get_by_role("link", name="Compare attempts").click()
        expect(attempts.first).to_contain_text("Archived")
        attempts.first.get_by_role("button", name="Unarchive session").click()
        expect(page.locator("#toasts")).to_contain_text("no longer archived")
    client.patch("/config", json={"model": None})
