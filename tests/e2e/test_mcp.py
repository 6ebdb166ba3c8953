"""A remote server that wants a sign-in, from its settings to what it answers in a turn."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, expect

from bench.npm import Unavailable
from tests.e2e.axe import find_faults, install_axe
from tests.e2e.browser import of_page
from tests.e2e.installation import Installation
from tests.e2e.rest import approve_everything, ask, new_session, script
from tests.tools.mcp.oauth_servers import GuardedShop, guarded_shop

pytestmark = of_page


@pytest.fixture(scope="module")
def shop() -> Iterator[GuardedShop]:
    with guarded_shop() as found:
        yield found


@pytest.mark.deep
def test_feat_0008_an_admin_signs_in_in_the_browser_and_agents_use_its_tools(
    server: Installation, signed_in: BrowserContext, shop: GuardedShop
) -> None:
    """FEAT-0008 FR-03, NFR-02."""
    try:
        axe = install_axe()
    except Unavailable as exc:
        pytest.skip(f"axe-core: {exc}")
    page = signed_in.new_page()
    servers = f"{server.url}/t/{server.team}/p/{server.project}/mcp"
    with server.client() as client:
        remote = {"type": "remote", "url": shop.url}
        assert client.patch("/config", json={"mcp": {"shop": remote}}).status_code == 200
        session = new_session(client)
        ask(client, session, "Hello.")
        assert client.get("/mcp").json()["shop"] == {"status": "needs_auth"}

        page.goto(servers)
        expect(page.get_by_text("Sign-in needed")).to_be_visible()
        assert list(find_faults(page, "mcp-waiting", axe)) == []
        page.get_by_role("button", name="Sign in to shop").click()
        link = page.get_by_role("link", name="Continue to 127.0.0.1")
        expect(link).to_be_visible()
        assert list(find_faults(page, "mcp-sign-in", axe)) == []
        link.click()
        expect(page.get_by_text("Signed in to shop.")).to_be_visible()
        assert page.url.endswith(f"/p/{server.project}/mcp")

        stop = threading.Event()
        approving = approve_everything(client, stop)
        step = script([{"tool": "shop_stock", "input": {"item": "tea"}}], [{"text": "There."}])
        answered = ask(client, session, step)
        stop.set()
        approving.join()
        messages = client.get(f"/session/{session}/message").json()
        outputs = [
            part["state"]["output"]
            for message in messages
            for part in message["parts"]
            if part["type"] == "tool"
        ]
        assert outputs == ["1 of tea for Bearer [secret of the sign-in]"]
        assert answered["info"]["role"] == "assistant"
        assert client.get("/mcp").json()["shop"] == {"status": "connected"}

        page.goto(servers)
        expect(page.get_by_text("Connected")).to_be_visible()
        assert list(find_faults(page, "mcp-connected", axe)) == []
        page.get_by_role("button", name="Sign out of shop").click()
        expect(page.get_by_text("Signed out of shop.")).to_be_visible()
    page.close()
    log = server.log()
    assert "at-" not in log
    assert "/authorize" not in log
