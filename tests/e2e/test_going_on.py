"""What a person sees of a turn at work, and does when it has failed, on a real server."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import httpx
import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.e2e.browser import in_chromium, watched
from tests.e2e.installation import Installation
from tests.e2e.rest import ask, body, new_session, script, wait_for

pytestmark = [*in_chromium, pytest.mark.deep]
PHONE = {"width": 390, "height": 844}


@pytest.fixture
def page(signed_in: BrowserContext) -> Iterator[Page]:
    # One of them cuts a request off, and browsers tell of it.
    with watched(signed_in, console=False) as page:
        yield page


def go(page: Page, server: Installation, session: str) -> None:
    page.goto(f"{server.url}/t/{server.team}/s/{session}")
    expect(page.locator("#live")).to_have_attribute("data-state", "live")


def failing_once(**answer: Any) -> str:
    """A script whose first answer breaks off, and whose second goes on."""
    turns = [
        [{"events": [{"text": "Half an "}, {"error": answer}]}],
        [{"events": [{"text": "On."}]}],
    ]
    return f"<<script{json.dumps({'name': 'e2e', 'turns': turns, 'otherwise': turns[1]})}>>"


def boxes_overlap(one: Locator, other: Locator) -> bool:
    first, second = one.bounding_box(), other.bounding_box()
    assert first is not None
    assert second is not None
    return not (
        first["x"] + first["width"] <= second["x"]
        or second["x"] + second["width"] <= first["x"]
        or first["y"] + first["height"] <= second["y"]
        or second["y"] + second["height"] <= first["y"]
    )


def test_fr_01_a_turn_that_failed_goes_on_by_a_click(
    server: Installation, client: httpx.Client, page: Page
) -> None:
    session = new_session(client)
    go(page, server, session)
    refused = {"status": 401, "message": "Bad key."}
    client.post(f"/session/{session}/message", json=body(failing_once(**refused)))
    card = page.locator(".error")
    expect(card).to_contain_text("demo has refused the key.")
    expect(card.get_by_role("link", name="Check the key")).to_be_visible()
    card.get_by_role("button", name="Try again").click()
    expect(page.locator(".turn").last).to_contain_text("On.")
    expect(page.locator(".status")).to_contain_text("Done")
    # What is past offers nothing.
    expect(card.get_by_role("button")).to_have_count(0)
    roles = [one["info"]["role"] for one in client.get(f"/session/{session}/message").json()]
    assert roles == ["user", "assistant", "user", "assistant"]


def test_fr_01_the_list_says_which_command_runs(
    server: Installation, client: httpx.Client, page: Page
) -> None:
    watched, other = new_session(client), new_session(client)
    client.patch("/global/config", json={"permission": {"bash": "allow"}}).raise_for_status()
    go(page, server, other)
    steps = script([{"tool": "bash", "input": {"command": "sleep 60", "description": "Nap"}}])
    client.post(f"/session/{watched}/prompt_async", json=body(steps))
    row = page.locator(f"#row-{watched} .session-row-detail")
    expect(row).to_contain_text("Shell Nap")
    client.post(f"/session/{watched}/abort")
    expect(row).to_contain_text("Stopped")


def test_the_top_bar_keeps_its_parts_apart_on_narrow_screens(
    server: Installation, client: httpx.Client, page: Page
) -> None:
    session = new_session(client)
    for width in (390, 320):
        page.set_viewport_size({"width": width, "height": 700})
        go(page, server, session)
        parts = page.locator(".topbar-start > *:visible, .topbar-end > *:visible").all()
        boxes = [box for part in parts if (box := part.bounding_box()) and box["width"]]
        ends = [(box["x"], box["x"] + box["width"]) for box in boxes]
        assert all(end <= start + 1 for (_, end), (start, _) in pairwise(ends))
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        if width == PHONE["width"]:
            name = page.locator(".topbar-team")
            assert name.evaluate("one => one.scrollWidth <= one.clientWidth")


def test_a_message_in_the_corner_leaves_the_form_of_the_title_free(
    server: Installation, client: httpx.Client, page: Page
) -> None:
    session = new_session(client)
    ask(client, session, script([{"text": "Done."}]))
    for size in ({"width": 1440, "height": 900}, PHONE):
        page.set_viewport_size(size)  # type: ignore[arg-type]
        go(page, server, session)
        page.locator("#title-change").click()
        page.locator("#new-title").fill("Another one")
        page.route(re.compile("/rename"), lambda route: route.abort())
        page.locator("#title-form [type=submit]").click()
        toast = page.locator("#toasts .toast")
        expect(toast).to_contain_text("No connection")
        assert not boxes_overlap(toast, page.locator("#title-form [type=submit]"))
        assert not boxes_overlap(toast, page.locator("#title-form .button-icon"))
        page.unroute(re.compile("/rename"))
    page.locator("#title-form [type=submit]").click()
    wait_for(lambda: client.get(f"/session/{session}").json()["title"] == "Another one")
