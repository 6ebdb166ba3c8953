"""What the browser itself shows of a session, which only the whole of it does."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import BrowserContext, expect

from tests.e2e.browser import chromium, signed_in_as, watched
from tests.e2e.installation import Installation
from tests.e2e.rest import body, new_session, script, wait_for

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


def test_the_browser_tells_of_what_waits_while_nobody_looks(
    server: Installation, client: httpx.Client, told: BrowserContext
) -> None:
    with watched(told, console=True) as page:
        page.goto(f"{server.url}/me/notifications")
        page.get_by_label("An agent needs a response: notification").check()
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_text("Saved.")).to_be_visible()
        page.add_init_script("Object.defineProperty(document, 'hidden', { get: () => true })")
        session = new_session(client)
        page.goto(f"{server.url}/t/{server.team}/s/{session}")
        expect(page.locator("#live")).to_have_attribute("data-state", "live")
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
