from __future__ import annotations

import re

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.e2e.installation import Installation
from tests.e2e.rest import ask, body, new_session, script

pytestmark = [pytest.mark.e2e, pytest.mark.deep, pytest.mark.any_database]
GUARD_MS = 600
WORD_MS = 400

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


def test_words_that_are_typed_at_a_request_are_a_message_and_no_answer(
    server: Installation, client: httpx.Client, page: Page
) -> None:
    session = new_session(client)
    # What it is asked next is for the same model.
    ask(client, session, script([{"text": "Hello."}]))
    page.goto(f"{server.url}/t/{server.team}/s/{session}")
    expect(page.locator("#live")).to_have_attribute("data-state", "live")
    field, card = page.locator("#prompt"), page.locator("[data-permission]")
    field.fill(script([{"tool": "bash", "input": {"command": "make test"}}], [{"text": "Done."}]))
    field.press("Enter")
    # Nobody has written anything since, so it has the focus.
    expect(card).to_be_focused()
    page.wait_for_timeout(GUARD_MS)
    for words in ("no longer", "yes please", "gh"):
        card.focus()
        page.keyboard.type(words, delay=20)
        expect(field).to_have_value(words)
        field.fill("")
    page.wait_for_timeout(WORD_MS)
    asked = [one["sessionID"] for one in client.get("/permission").json()]
    assert asked.count(session) == 1
    assert page.url.endswith(session)
    card.focus()
    page.keyboard.press("y")
    expect(page.get_by_role("log")).to_contain_text("Done.")
    expect(field).to_have_value("")


def test_a_request_after_several_that_were_answered_at_once_is_answered_by_its_key(
    server: Installation, client: httpx.Client, page: Page
) -> None:
    client.patch("/config", json={"permission": {"edit": "ask"}})
    session = new_session(client)
    page.goto(f"{server.url}/t/{server.team}/s/{session}")
    expect(page.locator("#live")).to_have_attribute("data-state", "live")
    files = [
        {"tool": "write", "input": {"filePath": f"card{number}.txt", "content": "x"}}
        for number in range(3)
    ]
    shell = [{"delay_ms": 1500}, {"tool": "bash", "input": {"command": "true"}}]
    asked = body(script(files, shell, [{"text": "Done."}]))
    client.post(f"/session/{session}/prompt_async", json=asked)
    cards = page.locator("[data-permission]")
    expect(cards).to_have_count(3)
    page.wait_for_timeout(GUARD_MS)
    cards.first.locator("[data-answer=always]").press("Enter")
    cards.first.get_by_label("* all file changes").check()
    cards.first.get_by_role("button", name="Allow and remember").press("Enter")
    card = cards.filter(has_text="Allow a shell command?")
    expect(card).to_be_focused(timeout=20_000)
    page.wait_for_timeout(GUARD_MS)
    page.keyboard.press("y")
    expect(card).to_be_hidden()
    client.patch("/config", json={"permission": None})


def test_escape_stops_a_turn_only_with_nothing_to_close_or_to_leave(
    server: Installation, client: httpx.Client, page: Page
) -> None:
    session = new_session(client)
    page.set_viewport_size({"width": 1024, "height": 768})
    page.goto(f"{server.url}/t/{server.team}/s/{session}")
    expect(page.locator("#live")).to_have_attribute("data-state", "live")
    slow = script([{"text": "This takes long."}, {"delay_ms": 60_000}])
    client.post(f"/session/{session}/prompt_async", json=body(slow))
    field, hint = page.locator("#prompt"), page.locator("#composer-hint")
    # Until the agent has taken it, it is a message that can be removed, too.
    expect(page.get_by_role("log")).to_contain_text("This takes long.")
    expect(page.locator(".queue-row")).to_have_count(0)
    field.fill("Half a thought")
    page.keyboard.press("Escape")
    expect(page.get_by_role("log")).to_be_focused()
    page.keyboard.press("i")
    expect(page.locator("#panel-context")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#panel-context")).to_be_hidden()
    page.keyboard.press("Escape")
    expect(hint).to_have_text("Press Esc again to stop")
    # Whatever is done in between counts, too.
    page.keyboard.press("Shift+e")
    expect(hint).to_be_empty()
    # What is gone leaves the focus to the field.
    client.post(f"/session/{session}/prompt_async", json=body("Later."))
    page.get_by_role("button", name="Remove “Later.”").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".queue-row")).to_have_count(0)
    expect(field).to_be_focused()
    field.fill("")
    field.press("Escape")
    expect(hint).to_have_text("Press Esc again to stop")
    page.set_viewport_size({"width": 1440, "height": 900})
    assert hint.evaluate("(one) => one.scrollWidth <= one.clientWidth")
    assert client.get("/session/status").json()
    page.keyboard.press("Escape")
    expect(page.locator(".status")).to_have_text("Stopped by ada")
