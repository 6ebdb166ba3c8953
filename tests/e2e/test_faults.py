"""What people see when the line, the server, the worker or their rights go away."""

from __future__ import annotations

import re
from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import BrowserContext, Page, WebSocketRoute, expect

from tests.e2e.browser import in_chromium, sign_in, signed_in_as, watched
from tests.e2e.cutter import Cutter
from tests.e2e.installation import Installation
from tests.e2e.rest import ask, body, new_session, script, wait_for

pytestmark = [*in_chromium, pytest.mark.deep]
KILLS = 4


@pytest.fixture
def context(signed_in: BrowserContext, server: Installation) -> Iterator[BrowserContext]:
    """A browser of one test: what is cut off or signed out there is nothing to the others."""
    assert signed_in.browser is not None
    with signed_in_as(signed_in.browser, server, server.email, anew=True) as made:
        yield made


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    with watched(context) as page:
        yield page


def state_of(page: Page, state: str) -> None:
    expect(page.locator("#live")).to_have_attribute("data-state", state)


def open_session(page: Page, server: Installation, client: httpx.Client) -> str:
    session = new_session(client)
    page.goto(f"{server.url}/t/{server.team}/s/{session}")
    state_of(page, "live")
    return session


def test_fr_01_where_no_websocket_gets_through_the_same_comes_over_plain_http(
    server: Installation, client: httpx.Client, page: Page
) -> None:
    is_blocked = True

    def meet(socket: WebSocketRoute) -> None:
        if is_blocked:
            socket.close(code=1011)
        else:
            socket.connect_to_server()

    page.route_web_socket(re.compile("/ws/"), meet)
    session = new_session(client)
    page.goto(f"{server.url}/t/{server.team}/s/{session}")
    state_of(page, "plain")
    expect(page.locator("#live")).to_have_text("Live · HTTP")
    words = [{"text": f"Word {number}.\n\n"} for number in range(40)]
    client.post(f"/session/{session}/prompt_async", json=body(script(words)))
    said = page.locator("[id^=prt-] p")
    expect(said).to_have_text([f"Word {number}." for number in range(40)])
    expect(page.locator(f"#row-{session}")).to_contain_text("Done")

    # Where sockets work again the page takes one, and misses nothing on the way.
    is_blocked = False
    page.evaluate("dispatchEvent(new Event('online'))")
    state_of(page, "live")
    client.post(f"/session/{session}/prompt_async", json=body(script([{"text": "By socket."}])))
    expect(said).to_have_count(41)


def test_fr_01_a_minute_offline_costs_nothing_that_was_said_or_written(
    server: Installation, client: httpx.Client, context: BrowserContext, page: Page
) -> None:
    page.clock.install()
    session = open_session(page, server, client)
    # What writing needs comes behind the line.
    page.wait_for_load_state("networkidle")
    context.set_offline(True)
    state_of(page, "retry")
    client.post(f"/session/{session}/prompt_async", json=body(script([{"text": "Meanwhile."}])))
    page.get_by_label("Message to the agent").fill("written offline")
    page.keyboard.press("Enter")
    expect(page.locator("[data-unsent-note]")).to_be_visible()
    page.clock.fast_forward("01:00")
    expect(page.locator("[data-banner]")).to_contain_text("Connection lost. The agent's work")
    expect(page.get_by_role("button", name="Retry now")).to_be_visible()
    whole = re.compile(r"Next attempt in \d+:\d\d|Reconnecting…")
    expect(page.locator("[data-banner]")).to_contain_text(whole, use_inner_text=True)

    context.set_offline(False)
    expect(page.locator("#live")).to_have_attribute("data-state", re.compile("live|plain"))
    expect(page.locator("[data-banner]")).to_be_hidden()
    expect(page.locator("#toasts")).to_contain_text(
        re.compile(r"Reconnected\. Updates loaded: \d+")
    )
    expect(page.get_by_role("log")).to_contain_text("Meanwhile.")
    expect(page.locator(".prompt", has_text="written offline")).to_have_count(1)
    expect(page.get_by_label("Message to the agent")).to_have_value("")


def test_fr_01_who_is_signed_out_is_led_back_to_where_the_draft_is(
    server: Installation, client: httpx.Client, context: BrowserContext, page: Page
) -> None:
    open_session(page, server, client)
    here = page.url
    page.get_by_label("Message to the agent").fill("half a thought")
    other = context.new_page()
    other.goto(f"{server.url}/t/{server.team}/")
    other.get_by_label(re.compile("^Your account")).click()
    other.get_by_role("button", name="Sign out").click()
    other.wait_for_url(re.compile("/login"))

    expect(page.locator("[data-banner]")).to_contain_text("You are signed out.")
    state_of(page, "signed-out")
    expect(page.locator("#live")).to_have_text("Signed out")
    page.get_by_role("link", name="Sign in again").click()
    sign_in(page, server.email)
    page.wait_for_url(here)
    expect(page.get_by_label("Message to the agent")).to_have_value("half a thought")


def test_fr_01_a_form_of_somebody_signed_out_leaves_the_page_as_it_is(
    server: Installation, client: httpx.Client, context: BrowserContext, page: Page
) -> None:
    open_session(page, server, client)
    context.clear_cookies(name="sessionid")
    page.get_by_label("Message to the agent").fill("kept")
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="Sign in again")).to_be_visible()
    expect(page.get_by_label("Message to the agent")).to_have_value("kept")


def test_fr_01_a_session_that_somebody_archives_or_deletes_says_so_where_it_is_open(
    server: Installation, client: httpx.Client, page: Page
) -> None:
    session = open_session(page, server, client)
    page.get_by_label("Message to the agent").fill("not sent")
    client.patch(f"/session/{session}", json={"time": {"archived": 1_700_000_000_000}})
    expect(page.locator("#block")).to_be_visible()
    client.patch(f"/session/{session}", json={"time": {"archived": 0}})
    expect(page.locator("#block")).to_be_hidden()
    client.delete(f"/session/{session}")
    expect(page.locator("[data-banner]")).to_contain_text("This session was deleted.")
    expect(page.locator("#live")).to_have_text("Deleted")
    expect(page.get_by_role("button", name="Send")).to_be_disabled()
    expect(page.get_by_label("Message to the agent")).to_have_value("not sent")


@pytest.mark.deep
def test_fr_01_a_line_that_is_cut_many_times_loses_and_doubles_nothing(
    server: Installation, client: httpx.Client, page: Page
) -> None:
    cutter = Cutter(server.port)
    session = new_session(client)
    page.goto(f"http://127.0.0.1:{cutter.port}/t/{server.team}/s/{session}")
    state_of(page, "live")
    said = [f"Paragraph {number}, with `code`." for number in range(80)]
    steps = [step for text in said for step in ({"text": f"{text}\n\n"}, {"delay_ms": 150})]
    client.post(f"/session/{session}/prompt_async", json=body(script(steps)))
    expect(page.get_by_role("log")).to_contain_text("Paragraph 1,")
    for _ in range(8):
        before = cutter.lines
        cutter.cut()
        wait_for(lambda before=before: cutter.lines > before)
    expect(page.locator(".status")).to_have_text("Done", timeout=60_000)
    shown = [text.replace("`", "") for text in said]
    expect(page.locator("[id^=prt-] p")).to_have_text(shown)
    page.reload()
    expect(page.locator("[id^=prt-] p")).to_have_text(shown)
    cutter.close()


def test_fr_01_a_part_that_cannot_be_loaded_is_said(
    server: Installation, client: httpx.Client, page: Page
) -> None:
    page.route(re.compile(r"/js/palette\b"), lambda route: route.abort())
    open_session(page, server, client)
    page.keyboard.press("Control+k")
    expect(page.locator("[data-banner]")).to_contain_text("Part of this page could not be load")


@pytest.fixture
def own(mortal: Installation, signed_in: BrowserContext) -> Iterator[Page]:
    """A page on a server that the test may kill."""
    assert signed_in.browser is not None
    with signed_in_as(signed_in.browser, mortal, mortal.email) as made, watched(made) as page:
        yield page


@pytest.mark.deep
def test_fr_01_a_worker_that_is_killed_costs_no_text_that_was_shown(
    mortal: Installation, own: Page
) -> None:
    with mortal.client() as client:
        session = open_session(own, mortal, client)
        steps = [{"text": "the first half"}, {"delay_ms": 3000}, {"text": " and the second"}]
        client.post(f"/session/{session}/prompt_async", json=body(script(steps)))
    log = own.get_by_role("log")
    expect(log).to_contain_text("the first half")
    mortal.kill_worker()
    if mortal.is_embedded:
        mortal.start()
    expect(log).to_contain_text("the first half and the second", timeout=60_000)
    expect(own.locator(".status")).to_have_text("Done")
    expect(own.locator("#live")).to_have_attribute("data-state", re.compile("live|plain"))
    shown = own.locator("[id^=prt-] p").all_inner_texts()
    own.reload()
    expect(own.locator("[id^=prt-] p")).to_have_text(shown)


@pytest.mark.deep
def test_fr_01_a_server_that_is_killed_many_times_in_mid_stream_loses_and_doubles_nothing(
    mortal: Installation, own: Page
) -> None:
    said = own.locator("[id^=prt-] p")
    with mortal.client() as client:
        session = open_session(own, mortal, client)
        for number in range(KILLS):
            steps = [{"text": f"Round {number}"}, {"delay_ms": 400}, {"text": " is whole."}]
            client.post(f"/session/{session}/prompt_async", json=body(script(steps)))
            expect(said.last).to_contain_text(f"Round {number}")
            mortal.kill_web()
            expect(said.last).to_have_text(f"Round {number} is whole.", timeout=60_000)
            expect(own.locator(".status")).to_have_text("Done", timeout=30_000)
        expect(own.locator("#live")).to_have_attribute("data-state", re.compile("live|plain"))
        # Where the server is its own worker, the half answers that were shown are kept.
        kept = [
            part["text"].strip()
            for message in client.get(f"/session/{session}/message").json()
            for part in message["parts"]
            if message["info"]["role"] == "assistant" and part["type"] == "text"
        ]
    whole = [f"Round {number} is whole." for number in range(KILLS)]
    assert [text for text in kept if text in whole] == whole
    assert {re.sub(" is whole.", "", text) for text in kept} == {f"Round {n}" for n in range(KILLS)}
    expect(said).to_have_text(kept)
    own.reload()
    expect(said).to_have_text(kept)


@pytest.mark.deep
def test_fr_01_after_a_deploy_the_page_offers_the_new_version_and_keeps_the_draft(
    mortal: Installation, own: Page
) -> None:
    with mortal.client() as client:
        session = open_session(own, mortal, client)
        lines = "\n\n".join(f"Line {number}." for number in range(60))
        for _ in range(2):
            ask(client, session, script([{"text": lines}]))
    own.get_by_label("Message to the agent").fill("in the middle of a")
    turns = own.locator("[data-turn]")
    expect(turns).to_have_count(2)
    turns.first.locator(".prompt").scroll_into_view_if_needed()
    assert mortal.stop() == 0
    mortal.env["BUILD_ID"] = f"after-{own.url}"
    mortal.start()
    notice = own.locator("[data-banner]")
    expect(notice).to_contain_text("New version. Reload when idle", timeout=30_000)
    notice.get_by_role("button", name="Reload").click()
    state_of(own, "live")
    expect(own.get_by_label("Message to the agent")).to_have_value("in the middle of a")
    expect(own.locator("[data-banner]")).to_be_hidden()
    # What was read is still in view.
    expect(turns.first.locator(".prompt")).to_be_in_viewport()
