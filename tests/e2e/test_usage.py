from __future__ import annotations

import re

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.e2e.browser import of_page
from tests.e2e.installation import Installation
from tests.e2e.rest import body, new_session, script, wait_for

pytestmark = [*of_page, pytest.mark.deep]


def test_fr_02_the_usage_of_a_turn_is_two_keys_away(
    server: Installation, signed_in: BrowserContext
) -> None:
    with server.client() as client:
        session = new_session(client)
        client.post(f"/session/{session}/prompt_async", json=body(script([{"text": "done"}])))
        wait_for(lambda: client.get(f"/session/{session}").json()["tokens"]["output"] > 0)
    page = signed_in.new_page()
    page.goto(f"{server.url}/t/{server.team}/s/{session}")
    page.keyboard.press("g")
    page.keyboard.press("u")
    expect(page).to_have_url(re.compile(r"/t/[^/]+/usage$"))
    expect(page.get_by_role("heading", name="Usage")).to_be_visible()
    page.locator("#usage-models").get_by_role("link").first.click()
    expect(page).to_have_url(re.compile(r"/usage\?model=demo%2Finline$"))
    page.get_by_text("Show as table").click()
    expect(page.locator("#usage-days tbody tr")).to_have_count(30)
    page.get_by_role("link", name="Remove").click()
    expect(page).to_have_url(re.compile(r"/usage\?$"))
    page.close()
