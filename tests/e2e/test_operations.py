from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import BrowserContext, expect

from tests.e2e.browser import in_chromium, signed_in_as
from tests.e2e.installation import Installation
from tests.e2e.rest import body, new_session, script, wait_for

pytestmark = [*in_chromium, pytest.mark.deep]
_OPERATOR = "root@operations.example.com"
_MINUTES_AGO = """
from datetime import timedelta
from django.utils import timezone
from sessions.models import Event, Session
then = timezone.now() - timedelta(minutes=5)
Event.objects.filter(session="{0}").update(time=then)
Session.objects.filter(pk="{0}").update(active_at=then, state_since=then)
"""


_HIDE = """(hidden) => {
  Object.defineProperty(document, "hidden", { get: () => hidden, configurable: true });
  document.dispatchEvent(new Event("visibilitychange"));
}"""
# Longer than a part of the console is left as it is.
_NEXT_MS = 6_000


@pytest.fixture(scope="module")
def operator(server: Installation, signed_in: BrowserContext) -> Iterator[BrowserContext]:
    assert signed_in.browser is not None
    server.have_person(_OPERATOR, "Operators")
    with signed_in_as(signed_in.browser, server, _OPERATOR) as context:
        yield context


@pytest.fixture
def held(client: httpx.Client) -> str:
    """A session whose model takes its time."""
    session = new_session(client)
    text = script([{"delay_ms": 600_000}, {"text": "never"}])
    client.post(f"/session/{session}/prompt_async", json=body(text))
    # Until its step has begun: what comes before would be a sign of life.
    wait_for(lambda: len(client.get(f"/session/{session}/message").json()) == 2)
    return session


def test_the_console_asks_for_nothing_while_nobody_sees_it(
    server: Installation, client: httpx.Client, operator: BrowserContext, held: str
) -> None:
    page = operator.new_page()
    asked: list[str] = []
    page.on("request", lambda r: "hx-request" in r.headers and asked.append(r.url))
    page.goto(f"{server.url}/ops/turns")
    page.evaluate(_HIDE, True)
    asked.clear()
    page.wait_for_timeout(_NEXT_MS)
    assert asked == []
    with page.expect_request("**/ops/turns*", timeout=1_000):
        page.evaluate(_HIDE, False)
    # Nor does a row move that somebody points at.
    acts = page.get_by_role("link", name=f"Actions for {held}")
    acts.hover()
    asked.clear()
    page.wait_for_timeout(_NEXT_MS)
    assert asked == []
    page.mouse.move(2, 2)
    with page.expect_request("**/ops/turns*", timeout=_NEXT_MS):
        client.post(f"/session/{held}/abort").raise_for_status()
    expect(acts).to_have_count(0)
    page.close()


def test_an_operator_finds_a_stuck_turn_and_stops_it(
    server: Installation, signed_in: BrowserContext, operator: BrowserContext, held: str
) -> None:
    server.run(_MINUTES_AGO.format(held))
    member = signed_in.new_page()
    member.goto(f"{server.url}/t/{server.team}/s/{held}")
    # A page that was opened only now knows, too.
    expect(member.locator("#session-header .status")).to_contain_text("No activity for 5:")
    page = operator.new_page()
    page.goto(f"{server.url}/me/profile")
    page.keyboard.press("g")
    page.keyboard.press("o")
    page.wait_for_url("**/ops/")
    row = page.locator(f"#turn-{held}")
    expect(row.get_by_text("Stuck", exact=True)).to_be_visible()
    # Whose team it is stays theirs.
    expect(row.get_by_role("link", name=held, exact=True)).to_have_count(0)
    row.get_by_role("link", name=f"Actions for {held}").click()
    menu = page.get_by_role("dialog", name=held)
    menu.get_by_text("Stop the turn…").click()
    menu.get_by_role("textbox", name="Reason").fill("It has hung since five.")
    menu.get_by_role("button", name="Stop the turn").click()
    expect(page.get_by_text("The turn is being stopped.")).to_be_visible()
    expect(menu).to_be_hidden()
    expect(row).to_have_count(0)
    page.close()

    expect(member.get_by_text("Stopped by operator Root").first).to_be_visible()
    member.goto(f"{server.url}/t/{server.team}/settings/audit?what=operator.stopped_turn")
    entry = member.get_by_role("row").filter(has_text="It has hung since five.")
    expect(entry).to_contain_text(_OPERATOR)
    member.close()
