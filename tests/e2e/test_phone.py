"""What people do on a phone, with their fingers, on a real server."""

from __future__ import annotations

import re
import threading

import httpx
import pytest
from playwright.sync_api import BrowserContext, expect

from tests.e2e.browser import of_page, phone
from tests.e2e.installation import Installation
from tests.e2e.rest import approve_everything, ask, body, new_session, script, wait_for

pytestmark = [*of_page, pytest.mark.deep]
OFFER = """() => {
  const offer = new Event("beforeinstallprompt", { cancelable: true });
  offer.prompt = () => (window.isAsked = true);
  dispatchEvent(offer);
}"""
# What is in running text keeps to its lines, and a line of code is as high as code.
SMALL = """() => [...document.querySelectorAll("a[href], button, summary, label:has(input)")]
  .filter((one) => one.checkVisibility({ visibilityProperty: true })
    && !one.closest(".unseen, .skip, .diff-number, .prompt-head")
    && (getComputedStyle(one).display !== "inline" || one.matches(":only-child")))
  .flatMap((one) => {
    const { width, height } = one.getBoundingClientRect();
    const isLarge = !height || (height >= 39.5 && width >= 24);
    return isLarge ? [] : [`${one.className} ${one.textContent.trim()} ${width}x${height}`];
  })"""
SHARES = "navigator.share = async ({ url }) => (window.shared = url)"


def test_a_first_tap_sends_and_what_a_rollback_gives_back_goes_with_it(
    server: Installation, client: httpx.Client, signed_in: BrowserContext
) -> None:
    session = new_session(client)
    ask(client, session, script([{"text": "Begun."}]))
    with phone(signed_in) as page:
        page.goto(f"{server.url}/t/{server.team}/s/{session}")
        expect(page.locator("#live")).to_have_attribute("data-state", "live")
        answer, field = page.locator(".parts").last, page.locator("#prompt")
        bar = page.locator("#pane-switch")
        field.tap()
        expect(bar).to_be_hidden()
        field.fill(script([{"text": "Said."}]))
        # A keyboard on the screen has no other key for it.
        page.keyboard.press("Enter")
        page.keyboard.type("Twice.")
        expect(field).to_have_value(re.compile("\nTwice.$"))
        page.get_by_role("button", name="Send").tap()
        expect(answer).to_contain_text("Said.")
        expect(field).to_have_value("")
        expect(bar).to_be_visible()

        # The keyboard comes for nothing but the field.
        page.get_by_role("button", name="Agent").tap()
        page.get_by_role("dialog").get_by_role("button", name="Plan").tap()
        expect(page.get_by_role("dialog")).to_have_count(0)
        expect(field).not_to_be_focused()

        page.get_by_role("button", name="More about this turn").last.tap()
        page.get_by_text("Roll back to before this turn").tap()
        page.get_by_role("dialog").get_by_role("button", name="Roll back").tap()
        expect(page.get_by_text("Your next message makes this permanent.")).to_be_visible()
        expect(field).to_have_value(re.compile("\nTwice.$"))
        field.tap()
        page.get_by_role("button", name="Restore").tap()
        expect(answer).to_contain_text("Said.")
        expect(field).to_have_value("")


def test_what_a_tap_opens_at_the_end_stays_under_the_thumb_and_nothing_moves_sideways(
    server: Installation, client: httpx.Client, signed_in: BrowserContext
) -> None:
    session = new_session(client)
    command = [{"tool": "bash", "input": {"command": "seq 1 60", "description": "Count"}}]
    stop = threading.Event()
    approving = approve_everything(client, stop)
    ask(client, session, script(command, [{"text": "Counted."}]))
    stop.set()
    approving.join()
    with phone(signed_in) as page:
        page.goto(f"{server.url}/t/{server.team}/s/{session}")
        expect(page.locator("#live")).to_have_attribute("data-state", "live")
        row = page.locator("[data-tool=bash] > summary")
        before = row.bounding_box()
        row.tap()
        expect(page.locator(".bash-output")).to_be_visible()
        expect(page.locator("[data-jump]")).to_be_visible()
        after = row.bounding_box()
        assert before
        assert after
        assert abs(before["y"] - after["y"]) < 2

        page.locator("[data-log]").evaluate("(log) => (log.scrollTop = log.scrollHeight)")
        expect(page.locator(".turn-now")).to_be_visible()
        moved = "(log) => (log.scrollTo({ left: 100, behavior: 'instant' }), log.scrollLeft)"
        assert page.locator("[data-log]").evaluate(moved) == 0


def test_while_it_runs_an_empty_field_has_stop_and_nothing_else(
    server: Installation, client: httpx.Client, signed_in: BrowserContext
) -> None:
    session = new_session(client)
    with phone(signed_in) as page:
        page.goto(f"{server.url}/t/{server.team}/s/{session}")
        expect(page.locator("#live")).to_have_attribute("data-state", "live")
        asks = {"tool": "bash", "input": {"command": "echo " + "x" * 900}}
        slow = script([asks], [{"text": "Long."}, {"delay_ms": 60_000}])
        client.post(f"/session/{session}/prompt_async", json=body(slow))
        card = page.locator("[data-permission]")
        stop = page.get_by_role("button", name="Stop")
        expect(card.get_by_role("button", name="Stop")).to_be_visible()
        expect(stop).to_have_count(1)
        command = card.get_by_role("group", name="Command")
        before = command.bounding_box()
        card.get_by_text("Show all (1 line, 905 characters)").tap()
        after = command.bounding_box()
        assert before
        assert after
        assert after["height"] > before["height"] + 100
        assert command.evaluate("(one) => one.scrollHeight === one.clientHeight")

        # What has just come is deaf.
        page.wait_for_timeout(700)
        card.get_by_role("button", name="Allow once").tap()
        expect(card).to_have_count(0)
        expect(page.locator("#prompt")).not_to_be_focused()
        expect(stop).to_have_count(1)
        expect(page.get_by_role("button", name="Steer")).to_be_hidden()
        page.locator("#prompt").fill("Do less")
        expect(page.get_by_role("button", name="Steer")).to_be_visible()
        stop.tap()
        expect(page.locator(".status")).to_have_text("Stopped by ada")


def test_what_a_session_says_is_whole_and_what_a_finger_aims_at_is_large(
    server: Installation, client: httpx.Client, signed_in: BrowserContext
) -> None:
    session = new_session(client)
    fails = [{"tool": "read", "input": {"filePath": "missing.txt"}}]
    code = "```python\nfirst = 1\nsecond = 2\n```"
    given = {"description": "Look", "prompt": "Look.", "subagent_type": "general"}
    ask(client, session, script([{"tool": "task", "input": given}], fails, [{"text": code}]))
    with phone(signed_in) as page:
        page.goto(f"{server.url}/t/{server.team}/s/{session}")
        expect(page.locator("#live")).to_have_attribute("data-state", "live")
        status = page.locator(".header .status")
        expect(status).to_have_text("Done, 1 tool call failed")
        for part in (status, status.locator("> span").last):
            assert part.evaluate("(one) => one.scrollWidth <= one.clientWidth || !one.clientWidth")
        model = page.locator(".composer-model [data-pick-label]").bounding_box()
        assert model
        assert model["width"] > 80

        # As high as its row, it would paint over the row's border.
        opened = page.get_by_role("link", name="Open the sub-agent's session")
        expect(opened).to_have_css("background-color", "rgba(0, 0, 0, 0)")
        copy = page.locator(".prose pre > .copy-block")
        place = copy.bounding_box()
        line = page.locator(".prose pre > code").bounding_box()
        assert place
        assert line
        assert min(place["width"], place["height"]) >= 24
        assert place["y"] + place["height"] <= line["y"] + 1
        pencil = page.get_by_role("link", name="Change the title").bounding_box()
        assert pencil
        assert min(pencil["width"], pencil["height"]) >= 32
        send = page.get_by_role("button", name="Send").bounding_box()
        assert send
        assert min(send["width"], send["height"]) >= 44
        page.locator("#prompt").fill("the till")
        page.get_by_label("Commands", exact=True).tap()
        row = page.locator(".mention", has_text="/review")
        box = row.bounding_box()
        assert box
        assert box["height"] >= 44
        row.tap()
        expect(page.locator("#prompt")).to_have_value("/review the till")
        page.get_by_label("More about this session").tap()
        page.get_by_role("link", name="Search and navigate").tap()
        expect(page.get_by_role("combobox", name="Search term")).to_be_focused()
        page.keyboard.press("Escape")
        expect(page.get_by_role("link", name="Search and navigate")).to_be_hidden()

        page.goto(f"{server.url}/t/{server.team}/")
        more = page.get_by_text("Options", exact=True).bounding_box()
        assert more
        assert min(more["width"], more["height"]) >= 36


def test_a_thumb_hits_every_row_and_a_reason_for_a_refusal_has_room(
    server: Installation, client: httpx.Client, signed_in: BrowserContext
) -> None:
    session, team = new_session(client), f"{server.url}/t/{server.team}"
    reads = [{"tool": "read", "input": {"filePath": "till.py"}}]
    ask(client, session, script(reads, [{"text": "- `till.py`\n- The `till.py`"}]))
    asking = new_session(client)
    call = {"tool": "bash", "input": {"command": "rm -r build"}}
    client.post(f"/session/{asking}/prompt_async", json=body(script([call], [{"text": "Left."}])))
    with phone(signed_in) as page:
        for path in (
            f"/s/{session}",
            f"/s/{session}?panel=changes",
            f"/s/{session}/share",
            "/usage",
            "/settings/members",
            "/settings/network",
            "/settings/models/new/openai",
        ):
            page.goto(team + path)
            page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = 1))")
            assert page.evaluate(SMALL) == [], path
        page.goto(f"{server.url}/me/appearance")
        assert page.evaluate(SMALL) == []

        page.set_viewport_size({"width": 320, "height": 700})
        page.goto(f"{team}/s/{asking}")
        reason = page.get_by_label("Tell the agent what to do instead")
        reason.fill("Only what git does not know")
        box = reason.bounding_box()
        assert box
        assert box["width"] >= 180
        # What has just come is deaf.
        page.wait_for_timeout(700)
        page.get_by_role("button", name="Reject with reason").tap()
        expect(page.locator(".parts").last).to_contain_text("Left.")


def test_a_keyboard_on_a_small_screen_leaves_what_is_edited_and_its_buttons(
    server: Installation, client: httpx.Client, signed_in: BrowserContext
) -> None:
    session = new_session(client)
    ask(client, session, script([{"text": "Begun."}]))
    with phone(signed_in) as page:
        page.goto(f"{server.url}/t/{server.team}/s/{session}")
        expect(page.locator("#live")).to_have_attribute("data-state", "live")
        page.get_by_role("link", name="Change the title").tap()
        expect(page.locator(".header .status")).to_be_hidden()
        page.get_by_role("link", name="Cancel").tap()

        page.get_by_role("button", name="More about this turn").last.tap()
        page.get_by_text("Roll back to before this turn").tap()
        page.get_by_role("dialog").get_by_role("button", name="Roll back").tap()
        expect(page.get_by_text("Your next message makes this permanent.")).to_be_visible()
        page.locator("#prompt").fill("Much to say. " * 60)
        page.set_viewport_size({"width": 320, "height": 320})
        for name in ("Send", "Restore"):
            expect(page.get_by_role("button", name=name)).to_be_in_viewport(ratio=1)
        page.get_by_role("button", name="Restore").tap()
        expect(page.get_by_text("Your next message makes this permanent.")).to_be_hidden()

        page.set_viewport_size({"width": 390, "height": 844})
        slow = script([{"text": "Slow."}, {"delay_ms": 60_000}])
        client.post(f"/session/{session}/prompt_async", json=body(slow))
        expect(page.get_by_role("button", name="Stop")).to_be_visible()
        for text in ("First, the tests", "Then the docs"):
            page.locator("#prompt").fill(text)
            page.get_by_role("button", name="Queue").tap()
            expect(page.locator(".queue").get_by_text(text)).to_be_visible()
        page.set_viewport_size({"width": 390, "height": 450})
        first, second = (row.bounding_box() for row in page.locator(".queue-row").all())
        acts = page.locator(".queue-acts").first.bounding_box()
        assert first
        assert second
        assert acts
        assert acts["y"] + acts["height"] <= second["y"]
        page.get_by_role("link", name="Edit the queued message").first.tap()
        expect(page.locator("#queue-text")).to_be_in_viewport(ratio=1)
        save = page.get_by_role("button", name="Save")
        expect(save).to_be_in_viewport(ratio=1)
        expect(save).to_have_attribute("aria-keyshortcuts", "Control+Enter Meta+Enter")
        expect(page.locator(".queue-row").first).to_be_hidden()
        page.locator("#queue-edit").get_by_role("link", name="Cancel").tap()
        expect(page.locator(".queue-row").first).to_be_visible()
        client.post(f"/session/{session}/abort")


def test_reverting_the_lowest_file_is_confirmed_within_reach_of_a_thumb(
    server: Installation, client: httpx.Client, signed_in: BrowserContext
) -> None:
    session = new_session(client)
    calls = [
        {"tool": "write", "input": {"filePath": f"reach-{n}.txt", "content": "new\n"}}
        for n in range(8)
    ]
    stop = threading.Event()
    answers = approve_everything(client, stop)
    try:
        ask(client, session, script(calls, [{"text": "Written."}]))
    finally:
        stop.set()
        answers.join()
    with phone(signed_in) as page:
        page.goto(f"{server.url}/t/{server.team}/s/{session}?panel=changes&source=session")
        expect(page.locator("#live")).to_have_attribute("data-state", "live")
        name = "Revert reach-4.txt"
        page.get_by_label(f"{name}…").tap()
        confirm = page.get_by_role("button", name=name, exact=True)
        expect(confirm).to_be_in_viewport(ratio=1)
        # Nothing lies above it.
        confirm.tap()
        undo = page.get_by_role("button", name="Undo and bring the change back")
        undo.tap()
        expect(undo).to_have_count(0)


def test_an_edit_that_is_asked_for_fits_the_screen(
    server: Installation, client: httpx.Client, signed_in: BrowserContext
) -> None:
    session = new_session(client)
    write = {"filePath": "fit.py", "content": "".join(f"line_{n} = {n}\n" for n in range(40))}
    client.post(
        f"/session/{session}/prompt_async", json=body(script([{"tool": "write", "input": write}]))
    )
    with phone(signed_in) as page:
        page.goto(f"{server.url}/t/{server.team}/s/{session}")
        card = page.locator("[data-permission]")
        expect(card).to_be_in_viewport(ratio=1)
        expect(card.get_by_role("button", name="Reject")).to_be_in_viewport(ratio=1)
        expect(page.locator("#prompt")).to_be_visible()


def test_settings_are_a_list_links_are_shared_and_the_app_is_installed(
    server: Installation, signed_in: BrowserContext
) -> None:
    with phone(signed_in) as page:
        page.add_init_script(SHARES)
        page.goto(f"{server.url}/t/{server.team}/settings/members")
        page.get_by_label("E-mail").fill("vera@example.com")
        page.get_by_role("button", name="Create link").tap()
        expect(page.get_by_text("Member link for vera@example.com")).to_be_visible()
        page.get_by_role("button", name="Share…").tap()
        wait_for(lambda: "/invite/" in (page.evaluate("window.shared") or ""))
        copy = page.locator(".secret [data-copy-from]:not([data-share])")
        page.context.grant_permissions(["clipboard-write"])
        copy.tap()
        expect(copy).to_have_attribute("data-copied", "Copied.")

        budgets = page.get_by_role("link", name="Budgets")
        expect(budgets).to_be_hidden()
        page.get_by_role("button", name="Team settings Members").tap()
        budgets.tap()
        expect(page.get_by_role("heading", name="Budgets", level=1)).to_be_visible()
        expect(budgets).to_be_hidden()
        page.get_by_role("button", name="Save").first.tap()
        toast = page.locator("[data-toast]")
        expect(toast).to_contain_text("Saved.")
        # It covers nothing that the page does not scroll clear of it.
        page.locator(".page").evaluate("(one) => (one.scrollTop = one.scrollHeight)")
        boxes = [
            one.bounding_box() for one in (toast, page.locator(".page").get_by_role("button").last)
        ]
        assert boxes[0]
        assert boxes[1]
        assert boxes[1]["y"] + boxes[1]["height"] <= boxes[0]["y"]
        page.locator(".page").evaluate("(one) => (one.scrollTop = 0)")
        page.get_by_role("heading", name="Budgets", level=1).tap()
        expect(page.locator("[data-toast]")).to_have_count(0)

        install = page.get_by_role("link", name="Install app")
        account = page.get_by_label(re.compile("Your account"))
        account.tap()
        page.evaluate(OFFER)
        install.tap()
        wait_for(lambda: page.evaluate("window.isAsked"))
        # Where the browser offers nothing, it says how.
        page.reload()
        account.tap()
        install.tap()
        expect(page.get_by_role("heading", name="Install the app on a phone")).to_be_in_viewport()
