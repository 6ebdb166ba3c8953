"""What the browser itself shows of a session, which only the whole of it does."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.e2e.browser import chromium, signed_in_as, watched
from tests.e2e.installation import Installation
from tests.e2e.rest import body, new_session, script, wait_for
from tests.e2e.test_budgets import COSTLY, PRICED
from tests.e2e.test_together import bobs as bobs

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(not shutil.which("chromium"), reason="chromium is not installed"),
    pytest.mark.any_database,
]


@pytest.fixture
def told(server: Installation) -> Iterator[BrowserContext]:
    with (
        chromium(whole=True) as browser,
        signed_in_as(browser, server, server.email) as context,
    ):
        context.grant_permissions(["notifications"], origin=server.url)
        yield context


def look_away(page: Page, server: Installation, session: str) -> None:
    """Open a session for somebody who wants to be told, in a page that nobody sees."""
    page.goto(f"{server.url}/me/notifications")
    page.get_by_label("An agent needs a response: notification").check()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved.")).to_be_visible()
    page.add_init_script("Object.defineProperty(document, 'hidden', { get: () => true })")
    page.goto(f"{server.url}/t/{server.team}/s/{session}")
    expect(page.locator("#live")).to_have_attribute("data-state", "live")


def test_admins_are_told_that_a_member_asks_them(
    server: Installation, client: httpx.Client, told: BrowserContext, bobs: BrowserContext
) -> None:
    config = {**PRICED, "limits": {"session_cost": "0.50"}}
    client.patch("/config", json=config).raise_for_status()
    with watched(told) as page, watched(bobs) as his:
        session = new_session(client)
        look_away(page, server, session)
        text = json.dumps({"name": "e2e", "turns": [COSTLY], "otherwise": COSTLY[-1:]})
        client.post(f"/session/{session}/prompt_async", json=body(f"<<script{text}>>"))
        expect(page.locator(".permission")).to_be_visible()
        his.goto(f"{server.url}/t/{server.team}/s/{session}")
        # A card hears nothing for the first half second.
        his.wait_for_timeout(600)
        his.get_by_role("button", name="Ask them").click()
        expect(his.locator(".permission")).to_contain_text("has asked them.")
        notes = """async () => (await (await navigator.serviceWorker.ready).getNotifications())
            .some(({ body }) => body.includes("asks the admins"))"""
        wait_for(lambda: page.evaluate(notes))
        client.post(f"/session/{session}/abort")


def test_the_browser_tells_of_what_waits_while_nobody_looks(
    server: Installation, client: httpx.Client, told: BrowserContext
) -> None:
    with watched(told, console=True) as page:
        session = new_session(client)
        look_away(page, server, session)
        text = script([{"tool": "bash", "input": {"command": "true"}}], [{"text": "Done."}])
        client.post(f"/session/{session}/prompt_async", json=body(text))
        expect(page.locator(".permission")).to_be_visible()
        notes = """async () => (await (await navigator.serviceWorker.ready).getNotifications())
            .map(({ tag, body, data }) => [tag, body.split(":")[0], data.url.split("/").at(-1)])"""
        shown = wait_for(lambda: page.evaluate(notes))
        assert shown == [[f"row-{session}", "Needs you", session]]
        # The worker of the app has a page of its own for the time without a server.
        assert "cannot be reached" in page.evaluate(
            "async () => (await caches.match('/offline')).text()"
        )
        client.post(f"/session/{session}/abort")
