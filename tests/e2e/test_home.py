"""What people see of their team at one look, and do there, on a real server."""

from __future__ import annotations

import re
import threading
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.e2e.browser import of_page
from tests.e2e.installation import Installation
from tests.e2e.rest import approve_everything, ask, body, script, wait_for
from tests.e2e.test_frame import DESK, PHONE, go, titled

pytestmark = [*of_page, pytest.mark.deep]
GUARD_MS = 600
# As if a click had been on its way.
CLICK_WHAT_COMES = """() => {
  window.clickedAt = null;
  new MutationObserver((_, observer) => requestAnimationFrame(() => {
    const button = document.querySelector("#inbox .waiting-once button");
    if (!button || clickedAt !== null) return;
    observer.disconnect();
    window.clickedAt = performance.now();
    button.click();
  })).observe(document.querySelector("#inbox"), { childList: true, subtree: true });
}"""


def have_call(client: httpx.Client, session: str, tool: str, given: dict[str, Any]) -> None:
    prompt = body(script([{"tool": tool, "input": given}], [{"text": "Done."}]))
    client.post(f"/session/{session}/prompt_async", json=prompt).raise_for_status()
    asked = "/question" if tool == "question" else "/permission"
    wait_for(lambda: any(one["sessionID"] == session for one in client.get(asked).json()))


def test_fr_01_what_waits_is_allowed_and_answered_in_the_rows_of_home(
    server: Installation, client: httpx.Client, page: Page
) -> None:
    shell, asking = titled(client, "Mend the till"), titled(client, "Choose a colour")
    go(page, server)
    page.mouse.move(5, 5)
    page.evaluate(CLICK_WHAT_COMES)
    have_call(client, shell, "bash", {"command": "make test"})
    row = page.locator(f"#inbox-{shell}")
    allow = row.get_by_role("button", name="Allow once")
    expect(row).to_contain_text("make test")
    expect(page.locator("#alert")).to_contain_text("Allow a shell command?")
    # What has just come is deaf.
    assert page.evaluate("clickedAt") is not None
    assert any(one["sessionID"] == shell for one in client.get("/permission").json())
    page.wait_for_timeout(GUARD_MS)
    allow.click()
    expect(row).to_contain_text("allowed it once")
    page.mouse.move(5, 5)
    expect(row).to_have_count(0)
    expect(page.locator(f"#row-{shell}")).to_be_visible()

    options = [{"label": "Red", "description": ""}, {"label": "Blue", "description": ""}]
    question = {"question": "Which colour?", "header": "Colour", "options": options}
    have_call(client, asking, "question", {"questions": [question]})
    row = page.locator(f"#inbox-{asking}")
    expect(row.locator(".waiting-summary")).to_contain_text("Which colour?")
    row.locator(".waiting-summary").click()
    # It stays open while the list is read again.
    page.mouse.move(5, 5)
    page.evaluate(
        "htmx.ajax('GET', '/t/' + location.pathname.split('/')[2] + '/inbox?quiet=1', "
        "{ target: '#inbox', swap: 'outerMorph' })"
    )
    row.get_by_label("Blue").check()
    page.wait_for_timeout(GUARD_MS)
    row.get_by_role("button", name="Answer", exact=True).click()
    expect(row).to_contain_text("answered it")
    row.locator(".waiting-summary").hover()
    page.mouse.move(5, 5)
    expect(page.locator("#inbox")).to_be_hidden()


def test_a_key_answers_in_a_list_only_what_is_selected(
    server: Installation, client: httpx.Client, page: Page
) -> None:
    for title in ("One", "Two"):
        have_call(client, titled(client, title), "bash", {"command": f"echo {title}"})
    waiting = page.locator("#inbox [data-permission]:focus")
    for place in ("inbox", ""):
        page.goto(f"{server.url}/t/{server.team}/{place}")
        expect(page.locator("#live")).to_have_attribute("data-state", "live")
        page.evaluate("document.activeElement.blur()")
        page.wait_for_timeout(GUARD_MS)
        page.keyboard.press("y")
        expect(waiting).to_contain_text("echo One")
        expect(page.locator("#toasts")).to_contain_text("Selected. Press the key again")
        page.wait_for_timeout(GUARD_MS)
        assert len(client.get("/permission").json()) == 2
    count = page.locator("#inbox [data-inbox]")
    expect(count).to_have_text("2")
    page.keyboard.press("y")
    wait_for(lambda: len(client.get("/permission").json()) == 1)
    expect(count).to_have_text("1")
    expect(waiting).to_contain_text("echo Two")
    page.wait_for_timeout(GUARD_MS)
    page.keyboard.press("y")
    wait_for(lambda: client.get("/permission").json() == [])
    wait_for(lambda: client.get("/session/status").json() == {})


def test_fr_01_what_waits_is_answered_on_home_without_scripts(
    server: Installation, client: httpx.Client, page: Page
) -> None:
    assert page.context.browser
    session = titled(client, "Mend the till")
    have_call(client, session, "bash", {"command": "make test"})
    plain = page.context.browser.new_context(
        java_script_enabled=False, storage_state=page.context.storage_state()
    )
    shown = plain.new_page()
    shown.goto(f"{server.url}/t/{server.team}/")
    row = shown.locator(f"#inbox-{session}")
    row.get_by_text("Allow a shell command?").first.click()
    expect(row.get_by_role("button", name="Reject")).to_be_visible()
    row.get_by_text("Allow a shell command?").first.click()
    row.get_by_role("button", name="Allow once").click()
    shown.wait_for_url(re.compile(session))
    wait_for(lambda: not any(r["sessionID"] == session for r in client.get("/permission").json()))
    plain.close()


def test_fr_01_a_project_page_tells_how_the_project_stands(
    server: Installation, client: httpx.Client, page: Page
) -> None:
    ask(client, titled(client, "Mend the till"), script([{"text": "Done."}]))
    page.goto(f"{server.url}/t/{server.team}/p/{server.project}/")
    overview = page.get_by_role("region", name="Overview")
    expect(overview).to_contain_text("main")
    expect(overview).to_contain_text("Add the till of a small shop")
    expect(overview).to_contain_text("Worker online")
    overview.get_by_role("link", name="Mend the till").click()
    page.wait_for_url(re.compile("/s/ses_"))
    page.go_back()
    page.get_by_role("main").get_by_role("link", name="Settings").click()
    page.wait_for_url(re.compile("/settings$"))
    expect(page.get_by_role("heading", name="Saved permissions")).to_be_visible()
    assert page.get_by_text("Delete project…").count() == 1


def test_fr_01_a_session_moves_over_the_board_while_somebody_looks(
    server: Installation, client: httpx.Client, page: Page
) -> None:
    session = titled(client, "Mend the till")
    go(page, server)
    page.get_by_role("navigation", name="View").get_by_role("link", name="Board").click()
    page.wait_for_url(re.compile("/board$"))
    expect(page.locator("#live")).to_have_attribute("data-state", "live")
    page.mouse.move(5, 5)
    card = page.locator(f"#board #card-{session}")
    expect(card).to_have_count(0)
    calls = [
        {"tool": "write", "input": {"filePath": "notes.md", "content": "One.\n"}},
        {"tool": "bash", "input": {"command": "make test"}},
    ]
    steps = script(calls[:1], calls[1:], [{"text": "Done."}])
    client.post(f"/session/{session}/prompt_async", json=body(steps)).raise_for_status()
    stop = threading.Event()
    column = page.get_by_role("region", name="Needs you")
    expect(column.locator(f"#card-{session}")).to_be_visible()
    approving = approve_everything(client, stop)
    review = page.get_by_role("region", name="To review")
    expect(review.locator(f"#card-{session}")).to_be_visible()
    stop.set()
    approving.join()

    fork = client.post(f"/session/{session}/fork", json={}).json()["id"]
    expect(review.locator(f"li:has(h3) #card-{fork}")).to_be_visible()
    expect(review).to_contain_text(re.compile("Mend the till *2 sessions"))
    # By keyboard, and on a phone one column below the other.
    review.get_by_role("link", name="Mend the till", exact=False).last.focus()
    page.set_viewport_size(PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    boxes = [one.bounding_box() for one in page.locator(".board-column").all()]
    assert len({box["x"] for box in boxes if box}) == 1
    page.set_viewport_size(DESK)
    page.get_by_role("navigation", name="View").get_by_role("link", name="List").click()
    expect(page.get_by_role("heading", name="Projects")).to_be_visible()


def test_a_start_shows_what_most_people_choose_and_says_what_else_was_chosen(
    server: Installation, client: httpx.Client, page: Page
) -> None:
    session = titled(client, "Listed once")
    page.set_viewport_size(DESK)
    go(page, server)
    composer = page.locator("#composer")
    rare = [composer.get_by_label(name) for name in ("Where the agent works", "Private")]
    for control in [*rare, composer.get_by_text("Also run with")]:
        expect(control).to_be_hidden()
    for name in ("Project", "Agent: ", "Model: ", "Start"):
        expect(
            composer.get_by_label(name)
            .or_(composer.get_by_role("button", name=name))
            .locator("visible=true")
            .first
        ).to_be_visible()
    options = composer.locator(".start-options > summary")
    expect(options).to_have_text("Options")
    options.click()
    rare[0].select_option("own")
    composer.get_by_label("Branch that the worktree starts from").fill("main")
    rare[1].check()
    options.click()
    expect(options).to_have_text(re.compile(r"Options\s*Own worktree\s*From main\s*Private"))
    expect(rare[0]).to_be_hidden()

    # Beside the list of sessions the page does not repeat them.
    titles = page.locator("a:visible:not([data-row-menu])", has_text="Listed once")
    expect(titles).to_have_count(1)
    # It is not kept: other tests look at the list.
    page.route("**/rail/shape", lambda route: route.fulfill(status=204))
    page.keyboard.press("[")
    expect(page.locator(f"#card-{session}")).to_be_visible()
    expect(titles).to_have_count(1)
    # The account remembers it, and others use it after this.
    with page.expect_response(re.compile("/rail/shape")):
        page.keyboard.press("[")
    expect(page.locator(f"#row-{session}")).to_be_visible()
