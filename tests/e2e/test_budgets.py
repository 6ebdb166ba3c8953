"""A budget is reached, said where people write, and raised."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.e2e.browser import in_chromium, watched
from tests.e2e.installation import Installation
from tests.e2e.rest import body, new_session, wait_for
from tests.e2e.test_together import bobs as bobs

pytestmark = [*in_chromium, pytest.mark.deep]
# An answer of ten thousand tokens costs a dollar.
PRICED = {"provider": {"demo": {"models": {"inline": {"cost": {"input": 0, "output": 100}}}}}}
UNPRICED = {
    "provider": {
        "acme": {
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": "http://127.0.0.1:9/v1", "apiKey": "none"},
            "models": {"one": {"name": "One of Acme"}},
        }
    }
}
COSTLY = [
    {
        "events": [{"tool": "list", "input": {"path": "."}}],
        "usage": {"input": 10, "output": 10_000},
    },
    {"events": [{"text": "The till is mended."}], "usage": {"input": 10, "output": 10}},
]


@pytest.fixture
def pages(
    server: Installation, signed_in: BrowserContext, bobs: BrowserContext
) -> Iterator[tuple[Page, Page]]:
    with server.client() as client:
        client.patch("/config", json=PRICED).raise_for_status()
    with watched(signed_in) as adas, watched(bobs) as his:
        yield adas, his
    with server.client() as client:
        client.put("/budget", json={}).raise_for_status()


def save(page: Page, server: Installation, amount: str) -> None:
    page.goto(f"{server.url}/t/{server.team}/settings/budgets")
    page.get_by_label("For the whole team").fill(amount)
    page.get_by_role("region", name="Limits").get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved. Sessions that wait")).to_be_visible()


def test_fr_02_a_reached_budget_is_said_and_raising_it_goes_on_with_the_prompt(
    server: Installation, pages: tuple[Page, Page]
) -> None:
    admins, members = pages
    save(admins, server, "0.90")
    with server.client() as client:
        session = new_session(client)
        text = json.dumps({"name": "e2e", "turns": [COSTLY] * 9, "otherwise": COSTLY[-1:]})
        sent = client.post(f"/session/{session}/prompt_async", json=body(f"<<script{text}>>"))
        sent.raise_for_status()
        members.goto(f"{server.url}/t/{server.team}/s/{session}")
        block = members.locator("#block")
        expect(block).to_contain_text("Team budget reached: $1.00 of $0.90", timeout=20_000)
        expect(members.locator(f"#status-{session}")).to_contain_text("Waiting for budget")
        expect(members.locator("button[value=steer]")).to_be_disabled()
        assert client.get("/session/status").json()[session]["type"] == "retry"
        block.get_by_role("link", name="Open the budgets").click()
        expect(members).to_have_url(re.compile("/settings/budgets$"))
        expect(members.get_by_label("For the whole team")).to_have_count(0)
        members.go_back()

        save(admins, server, "5")
        answer = members.get_by_text("The till is mended.", exact=True)
        expect(answer).to_be_visible(timeout=20_000)
        expect(block).to_be_hidden()
        expect(members.locator("button[value=steer]")).to_be_enabled()
        wait_for(lambda: session not in client.get("/session/status").json())


def test_that_a_model_has_no_price_is_said_until_another_one_is_chosen(
    server: Installation, pages: tuple[Page, Page]
) -> None:
    page, _ = pages
    save(page, server, "5")
    with server.client() as client:
        client.patch("/config", json=UNPRICED).raise_for_status()
        session = new_session(client)
    page.goto(f"{server.url}/t/{server.team}/s/{session}")
    expect(page.locator("#live")).to_have_attribute("data-state", "live")
    refusal = page.get_by_text("The price of One of Acme is not known")
    model, dialog = page.get_by_role("button", name="Model"), page.get_by_role("dialog")
    model.click()
    dialog.get_by_role("button", name="One of Acme price not known").click()
    page.locator("#prompt").fill("Mend the till")
    page.keyboard.press("Enter")
    expect(refusal).to_be_visible()
    model.click()
    dialog.locator("[data-choice^=demo]").first.click()
    expect(refusal).to_have_count(0)
    expect(page.locator("#prompt")).to_have_value("Mend the till")
