"""What people do in the frame around a session, and while they read along, on a real server."""

from __future__ import annotations

import re

import httpx
import pytest
from playwright.sync_api import BrowserContext, Page, ViewportSize, expect

from tests.e2e.browser import of_page
from tests.e2e.installation import Installation
from tests.e2e.rest import ask, new_session, script

pytestmark = [*of_page, pytest.mark.deep]
PHONE: ViewportSize = {"width": 390, "height": 844}
DESK: ViewportSize = {"width": 1440, "height": 900}
IS_UNCOVERED = """(one) => {
  const { left, top, width, height } = one.getBoundingClientRect();
  return one.contains(document.elementFromPoint(left + width / 2, top + height / 2));
}"""


def titled(client: httpx.Client, title: str) -> str:
    session = new_session(client)
    client.patch(f"/session/{session}", json={"title": title}).raise_for_status()
    return session


def go(page: Page, server: Installation, session: str = "") -> None:
    page.goto(f"{server.url}/t/{server.team}/{f's/{session}' if session else ''}")
    expect(page.locator("#live")).to_have_attribute("data-state", "live")


def test_fr_01_sessions_are_pinned_renamed_archived_and_deleted_from_the_list(
    server: Installation, client: httpx.Client, page: Page
) -> None:
    one, two = titled(client, "Mend the till"), titled(client, "Look at the tests")
    go(page, server, two)
    row = page.locator(f"#row-{one}")
    menu = page.get_by_role("dialog", name="Mend the till")
    # By mouse, on the whole row.
    row.click(button="right")
    menu.get_by_role("button", name="Pin to the top").click()
    expect(page.get_by_role("group", name="Pinned").locator(f"#row-{one}")).to_be_visible()
    expect(menu).to_be_hidden()
    # By keyboard, which comes back to where it was.
    acts = row.get_by_role("link", name="Actions for Mend the till")
    acts.focus()
    page.keyboard.press("Enter")
    menu.get_by_text("Rename…").click()
    menu.get_by_label("Title").fill("Mend <b>the</b> till")
    page.keyboard.press("Enter")
    expect(row).to_contain_text("Mend <b>the</b> till")
    expect(row.locator("[data-row-menu]")).to_be_focused()

    row.locator("[data-row-menu]").click()
    page.get_by_role("button", name="Archive", exact=True).click()
    expect(row).to_have_count(0)
    page.locator("#toasts").get_by_role("button", name="Undo").click()
    page.wait_for_url(re.compile(f"{one}$"))
    expect(page.locator("#live")).to_have_attribute("data-state", "live")
    # On a phone the list is the home page, and the acts come from below.
    page.set_viewport_size(PHONE)
    go(page, server)
    place = page.get_by_label("Where the agent works")
    expect(place).to_be_hidden()
    page.get_by_text("Options", exact=True).click()
    expect(place).to_be_visible()
    page.locator(f"#card-{one} [data-row-menu]").click()
    sheet = page.get_by_role("dialog")
    expect(sheet).to_be_in_viewport(ratio=1)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    sheet.get_by_text("Delete…").click()
    sheet.get_by_role("button", name="Delete permanently").click()
    expect(page.locator(f"#card-{one}")).to_have_count(0)
    expect(page.locator(f"#card-{two}")).to_be_visible()


@pytest.mark.parametrize(
    ("size", "panel"), [(DESK, "closed"), (DESK, "changes"), (PHONE, "closed")]
)
def test_the_last_turn_of_a_long_session_is_rolled_back_and_deleted_from_its_menu(
    server: Installation, client: httpx.Client, page: Page, size: ViewportSize, panel: str
) -> None:
    session = new_session(client)
    for text in ("First.", "A long answer.\n\n" * 60):
        ask(client, session, script([{"text": text}]))
    page.set_viewport_size(size)
    page.goto(f"{server.url}/t/{server.team}/s/{session}?panel={panel}")
    expect(page.locator("#live")).to_have_attribute("data-state", "live")
    acts = page.get_by_role("button", name="More about this turn").last
    menu = page.get_by_role("dialog", name="More about this turn")
    place = acts.bounding_box()
    acts.focus()
    page.keyboard.press("Enter")
    for act, confirm in (
        ("Delete turn…", "Delete permanently"),
        ("Roll back to before", "Roll back"),
    ):
        menu.get_by_text(act).click()
        button = menu.get_by_role("button", name=confirm, exact=True)
        # Not what an Enter too many would do.
        expect(menu.get_by_text(act)).to_be_focused()
        expect(button).to_be_in_viewport(ratio=1)
        assert button.evaluate(IS_UNCOVERED)
        assert acts.bounding_box() == place
    page.keyboard.press("Escape")
    expect(menu).to_be_hidden()
    expect(acts).to_be_focused()

    acts.click()
    menu.get_by_text("Roll back to before").click()
    menu.get_by_role("button", name="Roll back", exact=True).click()
    expect(page.locator("#reverted")).to_contain_text("Restore")
    expect(menu).to_be_hidden()
    page.get_by_role("button", name="Restore").click()
    expect(page.locator("[data-turn]")).to_have_count(2)
    for left in (1, 0):
        page.locator("[data-log]").evaluate("(log) => log.scrollTop = log.scrollHeight")
        acts.click()
        menu.get_by_text("Delete turn…").click()
        menu.get_by_role("button", name="Delete permanently").click()
        expect(page.locator("[data-turn]")).to_have_count(left)
    expect(page.locator("[data-turn-now]")).to_be_hidden()


def test_the_list_keeps_its_width_and_whether_it_is_open(
    server: Installation, client: httpx.Client, page: Page
) -> None:
    go(page, server, new_session(client))
    edge = page.get_by_role("separator", name="Session list width")
    edge.focus()
    expect(edge).to_have_attribute("aria-valuetext", re.compile("px"))
    before = page.locator("#rail").bounding_box()
    with page.expect_response(re.compile("/rail/shape")):
        page.keyboard.press("ArrowRight")
    box = edge.bounding_box()
    assert before
    assert box
    page.mouse.move(box["x"] + 3, 400)
    page.mouse.down()
    page.mouse.move(390, 400, steps=4)
    with page.expect_response(re.compile("/rail/shape")):
        page.mouse.up()
    page.reload()
    wide = page.locator("#rail").bounding_box()
    assert wide
    assert wide["width"] > before["width"] + 80
    page.locator("body").press("[")
    expect(page.locator("#rail")).to_be_hidden()
    expect(page.locator("#live")).to_have_attribute("data-state", "live")
    with page.expect_response(re.compile("/rail/shape")):
        page.locator("[data-rail-toggle]").click()
    expect(page.locator("#rail")).to_be_visible()


def test_fr_01_a_long_session_is_gone_through_by_turns_and_searched_to_its_beginning(
    server: Installation, client: httpx.Client, page: Page
) -> None:
    session = new_session(client)
    lines = "\n\n".join(f"Line {number} of the answer." for number in range(60))
    for number in range(34):
        text = f"prompt {number} " + ("about marmalade " if number in {0, 32} else "")
        ask(client, session, text + script([{"text": lines if number > 31 else "Yes."}]))
    go(page, server, session)
    turns = page.locator("[data-turn]")
    expect(turns).to_have_count(30)
    # The end of a long answer is in view, and above it what it answers.
    head = page.locator("[data-turn-now]")
    expect(head).to_contain_text("ada: prompt 33")
    above, log = head.bounding_box(), page.locator("[data-log]").bounding_box()
    assert above is not None
    assert log is not None
    assert (above["x"], above["y"]) == (log["x"], log["y"])
    page.keyboard.press("Alt+ArrowUp")
    expect(turns.last).to_be_focused()
    expect(head).to_be_hidden()
    page.keyboard.press("Alt+ArrowUp")
    expect(turns.filter(has_text="prompt 32")).to_be_focused()
    expect(page.get_by_role("button", name="Jump to latest")).to_be_visible()
    page.keyboard.press("Alt+ArrowDown")
    expect(turns.last).to_be_focused()

    page.keyboard.press("Control+f")
    bar = page.get_by_role("search", name="Find in this session")
    bar.get_by_role("searchbox").fill("marmal")
    expect(bar.get_by_role("status")).to_have_text("Match 2 of 2")
    expect(page.locator(".prompt-text", has_text="prompt 32")).to_be_in_viewport()
    assert page.evaluate("[...CSS.highlights.get('found')].map(String)") == ["marmal"]
    # The first one is not in the page: its address is opened, and the search goes on there.
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("find=marmal"))
    expect(bar.get_by_role("status")).to_have_text("Match 1 of 2")
    expect(page.locator(".prompt-text", has_text="prompt 0")).to_be_in_viewport()
    page.keyboard.press("Escape")
    expect(bar).to_be_hidden()
    expect(page.get_by_role("button", name="Jump to latest")).to_be_visible()


def test_fr_05_rows_and_thinking_are_unfolded_at_once(
    server: Installation, client: httpx.Client, page: Page
) -> None:
    session = new_session(client)
    reads = [{"tool": "read", "input": {"filePath": "till.py"}}]
    ask(client, session, script([{"reasoning": "Hm, a till."}, *reads], [{"text": "Read."}]))
    go(page, server, session)
    thought = page.locator("[data-thinks] .reasoning-body")
    row = page.locator("[data-tool=read] > :not(summary)").first
    expect(page.locator("[data-fold]")).not_to_have_count(0)
    expect(row).to_be_hidden()
    page.locator("body").press("Shift+e")
    expect(row).to_be_visible()
    page.locator("body").press("Shift+e")
    expect(row).to_be_hidden()

    page.get_by_label("More about this session").click()
    with page.expect_response(re.compile("/panel$")):
        page.get_by_role("button", name="Expand thinking").click()
    expect(thought).to_be_visible()
    page.reload()
    expect(thought).to_be_visible()
    expect(page.locator("[data-thinking-form] button")).to_have_attribute("aria-pressed", "true")


def test_an_error_goes_away_when_what_failed_succeeds(
    server: Installation, client: httpx.Client, signed_in: BrowserContext
) -> None:
    page = signed_in.new_page()
    go(page, server, titled(client, "Mend the till"))
    page.get_by_role("link", name="Change the title").click()
    page.route("**/rename", lambda route: route.fulfill(status=500, body="no"), times=1)
    page.locator("#new-title").fill("Mend the bill")
    page.get_by_role("button", name="Save").click()
    error = page.locator("#toasts [data-kind=bad]")
    expect(error).to_contain_text("Your text is kept")
    # Another act that succeeds says nothing about it.
    page.evaluate(
        "async () => htmx.ajax('GET', document.querySelector('#rail').dataset.refresh, '#rail')"
    )
    expect(error).to_be_visible()
    page.locator("#new-title").press("Enter")
    expect(page.locator("[data-title]")).to_have_text("Mend the bill")
    expect(error).to_have_count(0)
    page.close()


def test_the_list_is_brought_up_to_date_while_much_goes_on(
    server: Installation, client: httpx.Client, page: Page
) -> None:
    go(page, server, titled(client, "Here"))
    first = page.locator(f"#row-{titled(client, 'First of many')}")
    for _ in range(15):
        new_session(client)
        page.wait_for_timeout(200)
        if first.count():
            return
    expect(first).to_be_visible(timeout=1)


def test_a_search_leads_to_the_phrase_itself(
    server: Installation, client: httpx.Client, page: Page
) -> None:
    session = new_session(client)
    filler = "A paragraph of 3 words. " * 400
    text = f"{filler}Then paragraph 3: the quince."
    ask(client, session, "Tell me. " + script([{"text": text}]))
    ask(client, session, "And? " + script([{"text": "Nothing."}]))
    go(page, server, session)
    page.keyboard.press("Control+f")
    bar = page.get_by_role("search", name="Find in this session")
    bar.get_by_role("searchbox").fill("Paragraph 3:")
    expect(bar.get_by_role("status")).to_have_text("Match 2 of 2")
    marks = "[...CSS.highlights.get('found')]"
    assert page.evaluate(f"{marks}.map(String)") == ["paragraph 3"]
    top, height = page.evaluate(f"[{marks}[0].getBoundingClientRect().top, innerHeight]")
    assert 0 < top < height
    page.keyboard.press("Escape")

    page.goto(server.url + f"/t/{server.team}/")
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Search term").fill("quince")
    page.locator("[role=option][href*='#prt-']").click()
    answer = page.locator(".text", has_text="the quince")
    expect(answer).to_be_focused()
    assert abs(answer.bounding_box()["y"] - page.locator("[data-log]").bounding_box()["y"]) < 60
