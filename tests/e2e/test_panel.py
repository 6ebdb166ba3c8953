"""What people do in the side panel of a session, on a real server."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.e2e.installation import Installation
from tests.e2e.rest import new_session

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(not shutil.which("chromium"), reason="chromium is not installed"),
]
PHONE = {"width": 390, "height": 844}


@pytest.fixture
def page(signed_in: BrowserContext) -> Iterator[Page]:
    page = signed_in.new_page()
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda m: problems.append(m.text) if m.type == "error" else None)
    yield page
    page.close()
    assert problems == []


@pytest.fixture
def client(server: Installation) -> Iterator[httpx.Client]:
    with server.client() as made:
        yield made


def test_files_are_found_looked_at_and_mentioned_beside_the_conversation(
    server: Installation, client: httpx.Client, page: Page
) -> None:
    (project,) = [one for one in client.get("/project").json() if one["id"] == server.project]
    folder = Path(project["worktree"]) / "pane" / "deep"
    folder.mkdir(parents=True)
    (folder / "total.py").write_text("def total():\n    return 1\n" * 40)
    session = new_session(client)
    page.goto(f"{server.url}/t/{server.team}/s/{session}")
    expect(page.locator("#live")).to_have_attribute("data-state", "live")
    page.keyboard.press("f")
    for name in ("pane has changes", "deep has changes", "total.py"):
        page.locator("#files").get_by_role("link", name=name).click()
    expect(page.locator("#L80")).to_contain_text("return 1")
    page.locator("#L40 a").click()
    page.get_by_role("button", name="Mention in message").click()
    expect(page.locator("#prompt")).to_have_value("@pane/deep/total.py ")
    expect(page.locator("#prompt")).to_be_focused()
    page.locator("#prompt").fill("")

    # The address names the line; the account remembers the tab.
    page.reload()
    expect(page.locator("#L40")).to_be_in_viewport()
    page.get_by_label("Filter the files").fill("deeptotal")
    expect(page.locator("#files-found .file-node-name")).to_have_text(["pane/deep/total.py"])
    page.set_viewport_size(PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    page.get_by_role("navigation", name="View").get_by_role("link", name="Chat").click()
    expect(page.locator("#prompt")).to_be_visible()
    expect(page.locator("#files")).to_be_hidden()
