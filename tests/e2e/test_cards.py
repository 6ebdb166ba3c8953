from __future__ import annotations

import re

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.e2e.installation import Installation
from tests.e2e.rest import ask, new_session, script

pytestmark = [pytest.mark.e2e, pytest.mark.any_database]

EDIT = {
    "filePath": "till.py",
    "oldString": "self.subtotal() * self.discount_percent // 100",
    "newString": "self.subtotal() * (100 - self.discount_percent) // 100",
}


def test_a_diff_is_expanded_by_keyboard_and_without_scripts(
    server: Installation, client: httpx.Client, page: Page
) -> None:
    client.patch("/config", json={"permission": {"edit": "allow"}})
    session = new_session(client)
    read = {"tool": "read", "input": {"filePath": "till.py"}}
    ask(client, session, script([read], [{"tool": "edit", "input": EDIT}], [{"text": "done"}]))
    page.goto(f"{server.url}/t/{server.team}/s/{session}")
    expect(page.locator("#live")).to_have_attribute("data-state", "live")
    card = page.locator("[data-tool=edit]")
    card.locator("summary").press("Enter")
    expect(card).not_to_contain_text("A till: add lines")
    above = card.get_by_role("link", name=re.compile("unmodified lines"))
    href = above.get_attribute("href")
    # Some of them, from below, and then the rest.
    card.get_by_role("link", name="Show more lines before the change below").press("Enter")
    expect(card).to_contain_text("self.lines.append")
    expect(card).not_to_contain_text("A till: add lines")
    above.press("Enter")
    expect(card).to_contain_text("A till: add lines")
    expect(card.locator("tbody:focus")).to_contain_text("A till: add lines")
    page.goto(f"{server.url}{href}")
    expect(page.locator("h1")).to_have_text("till.py")
    expect(page.locator(".file-diff")).to_contain_text("A till: add lines")
