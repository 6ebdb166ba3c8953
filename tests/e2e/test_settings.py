"""What people set, and that it acts where they work."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.e2e.browser import of_page, watched
from tests.e2e.installation import Installation
from tests.e2e.rest import ask, new_session, script, text_of

pytestmark = of_page


@pytest.fixture
def page(signed_in: BrowserContext) -> Iterator[Page]:
    # What the server refuses is said by the console, too.
    with watched(signed_in) as page:
        yield page


def test_the_button_that_opens_the_list_of_settings_is_there_only_where_there_is_no_room(
    page: Page, server: Installation
) -> None:
    page.goto(f"{server.url}/me/appearance")
    expect(page.get_by_role("link", name="Shortcuts")).to_be_visible()
    expect(page.locator(".settings-here")).to_be_hidden()
    page.set_viewport_size({"width": 390, "height": 800})
    expect(page.get_by_role("link", name="Shortcuts")).to_be_hidden()
    page.locator(".settings-here").click()
    expect(page.get_by_role("link", name="Shortcuts")).to_be_visible()


def test_a_key_is_bound_anew_and_acts(page: Page, server: Installation) -> None:
    page.goto(f"{server.url}/me/shortcuts")
    expect(page.locator("html[data-records]")).to_be_attached()
    field = page.get_by_label("Inbox", exact=True)
    expect(field).to_have_value("g i")
    field.focus()
    page.keyboard.press("n")
    expect(field).to_have_value("n")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert").filter(has_text="This key is already used")).to_be_visible()
    field.focus()
    field.press("Backspace")
    expect(field).to_have_value("")
    page.keyboard.press("q")
    page.keyboard.press("Shift+W")
    expect(field).to_have_value("q Shift+w")
    page.keyboard.press("Enter")
    expect(page.locator("#shortcut-inbox [name=reset]")).to_be_visible()
    expect(page.locator("#shortcut-inbox")).to_contain_text("Saved.")

    page.goto(f"{server.url}/t/{server.team}/")
    page.keyboard.press("g")
    page.keyboard.press("i")
    # It is no key any more, so it is text.
    expect(page.locator("#prompt")).to_have_value("gi")
    page.locator("#prompt").fill("")
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.locator("[data-action=inbox]")).to_contain_text("Inbox")
    expect(page.locator("[data-action=inbox] kbd")).to_have_text(["Q", "Shift W"])
    expect(page.locator("[data-action=allow-once]")).to_be_hidden()
    page.keyboard.press("Escape")
    page.keyboard.press("q")
    page.keyboard.press("Shift+W")
    page.wait_for_url(re.compile("/inbox$"))

    page.goto(f"{server.url}/me/shortcuts")
    page.get_by_role("button", name="Reset all").click()
    expect(page.get_by_label("Inbox", exact=True)).to_have_value("g i")


def test_shortcuts_leave_the_way_out_of_a_field(page: Page, server: Installation) -> None:
    page.goto(f"{server.url}/me/shortcuts")
    expect(page.locator("html[data-records]")).to_be_attached()
    field = page.get_by_label("Inbox", exact=True)
    field.focus()
    page.keyboard.press("z")
    expect(field).to_have_value("z")
    page.keyboard.press("Escape")
    expect(field).to_have_value("g i")
    page.keyboard.press("z")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(field).not_to_be_focused()
    # What is not saved says so, wherever the focus is.
    expect(page.locator("#shortcut-inbox").get_by_role("button", name="Save")).to_be_visible()
    page.get_by_role("heading", name="Keyboard shortcuts").click()
    page.keyboard.press("Control+k")
    expect(page.locator("#palette")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    page.keyboard.press("h")
    page.wait_for_url(re.compile(r"/t/[^/]+/$"))


def send(page: Page, text: str) -> None:
    page.locator("[data-prompt]").fill(text)
    page.locator("[data-prompt]").press("Enter")


def test_fr_01_a_command_made_in_the_settings_is_run_in_a_session(
    page: Page, server: Installation
) -> None:
    steps = script([{"text": "The command has arrived."}])
    page.goto(f"{server.url}/t/{server.team}/settings/commands/")
    page.get_by_role("link", name="New command").click()
    page.get_by_label("Name").fill("greet")
    page.get_by_label("Description").fill("Greets somebody")
    page.get_by_label("Prompt").fill(f"Greet $1. {steps}")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".list-row", has_text="greet")).to_contain_text("Greets somebody")
    with server.client() as client:
        session = new_session(client)
        client.patch(f"/session/{session}", json={"title": "Greeting"})
        answer = client.post(
            f"/session/{session}/command",
            json={"command": "greet", "arguments": "Ada", "model": "demo/inline"},
        )
        assert answer.status_code == 200, answer.text
    page.goto(f"{server.url}/t/{server.team}/s/{session}")
    expect(page.get_by_text("The command has arrived.").first).to_be_visible()
    expect(page.locator("main")).to_contain_text("Greet Ada.")


@pytest.mark.deep
def test_fr_01_a_rule_made_in_the_settings_blocks_a_call(page: Page, server: Installation) -> None:
    url = f"{server.url}/t/{server.team}/settings/permissions"
    page.goto(url)
    adding = page.locator("form", has=page.get_by_role("button", name="Add rule"))
    adding.get_by_label("Tool").fill("bash")
    adding.get_by_label("Pattern").fill("touch *")
    adding.get_by_label("Action").select_option("deny")
    adding.get_by_role("button", name="Add rule").click()
    expect(page.locator("#team-rules tbody tr")).to_have_count(1)
    trial = page.locator("#rule-trial")
    trial.get_by_label("Command, path or address").fill("touch forbidden")
    trial.get_by_role("button", name="Test").click()
    expect(trial.locator(".chip-fail")).to_have_text("Denied")

    call = {"tool": "bash", "input": {"command": "touch forbidden"}}
    with server.client() as client:
        session = new_session(client)
        message = ask(client, session, script([call], [{"text": "I may not."}]))
        assert "I may not." in text_of(message)
    page.goto(f"{server.url}/t/{server.team}/s/{session}")
    expect(page.locator("details[data-tool=bash]")).to_contain_text("the settings of the team")

    page.goto(url)
    page.get_by_role("button", name="Remove bash touch *").click()
    expect(page.get_by_text("No rules yet")).to_be_visible()
