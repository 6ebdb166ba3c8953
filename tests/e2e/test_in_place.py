"""Going from page to page without a load of a whole page, in a real browser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress

import httpx
import pytest
from playwright.sync_api import BrowserContext, Error, Locator, Page, Route, expect

from bench.npm import Unavailable
from tests.e2e.axe import find_faults, install_axe
from tests.e2e.browser import of_page
from tests.e2e.installation import Installation
from tests.e2e.rest import ask, body, new_session, script

pytestmark = [*of_page, pytest.mark.deep]
KEYS = "Keyboard shortcuts"


@pytest.fixture
def tab(signed_in: BrowserContext) -> Iterator[Page]:
    page = signed_in.new_page()
    yield page
    page.close()


def open_page(page: Page, address: str) -> None:
    page.goto(address)
    # It comes with the first move of the pointer.
    page.mouse.move(3, 3)
    page.wait_for_selector("[data-goes]", state="attached")
    page.evaluate("document.isFirst = true")


def link(page: Page, name: str) -> Locator:
    return page.get_by_role("navigation", name="Settings").get_by_role(
        "link", name=name, exact=True
    )


def is_swapped(page: Page) -> bool:
    return bool(page.evaluate("document.isFirst === true"))


def expect_page(page: Page, name: str, heading: str = "") -> None:
    top = page.get_by_role("heading", level=1)
    expect(top).to_have_text(heading or name)
    expect(top).to_be_focused()
    expect(page.locator(".nav-item[aria-current]")).to_have_text(name)
    expect(page).to_have_title(re.compile(rf"^{heading or name} · "))


def test_settings_go_from_page_to_page_without_a_load(server: Installation, page: Page) -> None:
    team = f"{server.url}/t/{server.team}"
    open_page(page, f"{team}/settings/general")
    for name, path in (("Members", "settings/members"), ("Usage", "usage"), ("Roles", "roles")):
        page.locator(".page").evaluate("(sheet) => (sheet.scrollTop = 500)")
        link(page, name).click()
        expect_page(page, name)
        assert page.url.endswith(path)
        assert page.locator(".page").evaluate("(sheet) => sheet.scrollTop") == 0
    page.go_back()
    expect_page(page, "Usage")
    page.go_back()
    expect_page(page, "Members")
    page.go_forward()
    expect_page(page, "Usage")
    assert is_swapped(page)
    # What hangs on the whole page works as before.
    page.keyboard.press("Control+k")
    page.get_by_role("combobox").fill("audit")
    expect(page.get_by_role("option").first).to_contain_text("Audit")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("/settings/audit$"))
    expect_page(page, "Audit")
    assert is_swapped(page)


def test_what_was_typed_is_there_again_for_who_comes_back(server: Installation, page: Page) -> None:
    open_page(page, f"{server.url}/me/profile")
    page.get_by_label("Name", exact=True).fill("Ada, Countess")
    link(page, "Shortcuts").click()
    expect_page(page, "Shortcuts", KEYS)
    # The module of this page has come with it.
    field = page.get_by_label("Inbox", exact=True)
    expect(page.locator("html")).to_have_attribute("data-records", "on")
    field.press("q")
    expect(field).to_have_value("q")
    page.go_back()
    expect_page(page, "Profile")
    expect(page.get_by_label("Name", exact=True)).to_have_value("Ada, Countess")
    page.go_forward()
    expect(page.get_by_label("Inbox", exact=True)).to_have_value("q")
    link(page, "Profile").click()
    expect(page.get_by_label("Name", exact=True)).to_have_value("ada")
    assert is_swapped(page)


def row(page: Page, session: str) -> Locator:
    return page.locator(f"#row-{session} [data-session-row]")


def test_sessions_home_and_project_take_each_others_place(
    server: Installation, client: httpx.Client, page: Page
) -> None:
    """issue: in-place navigation. Each has its own stream, draft and place in the text."""
    first, second = new_session(client), new_session(client)
    for session in (first, second):
        for turn in range(3):
            text = f"Answer {turn} of {session}. " + "Text. " * 900
            ask(client, session, script([{"text": text}]))
    open_page(page, f"{server.url}/t/{server.team}/s/{first}")
    log, prompt = page.get_by_role("log"), page.locator("#prompt")
    expect(page.locator("#live")).to_have_attribute("data-state", "live")
    expect(log).to_contain_text(f"Answer 2 of {first}")
    prompt.fill("A draft of the first")
    log.evaluate("(log) => (log.scrollTop = 100)")

    row(page, second).click()
    expect(log).to_contain_text(f"Answer 2 of {second}")
    expect(log).not_to_contain_text(first)
    expect(prompt).to_have_value("")
    expect(page.locator("#live")).to_have_text("Live")
    expect(row(page, second)).to_have_attribute("aria-current", "page")
    # What the first one is told stays there, and what this one is told comes here.
    client.post(f"/session/{first}/prompt_async", json=body(script([{"text": "For the first."}])))
    prompt.fill("Hello")
    prompt.press("Enter")
    expect(log.locator(".turn").last).to_contain_text("Hello")
    expect(log).not_to_contain_text("For the first.")
    expect(prompt).to_have_value("")

    page.go_back()
    expect(log).to_contain_text("For the first.")
    expect(prompt).to_have_value("A draft of the first")
    assert log.evaluate("(log) => Math.abs(log.scrollTop - 100) < 4")
    prompt.fill("")

    page.locator(".topbar-home").click()
    page.wait_for_url(re.compile(r"/t/[^/]+/$"))
    expect(page.locator("#live")).to_have_text("Live")
    page.locator(".page .list-title").first.click()
    page.wait_for_url("**/p/*/")
    page.get_by_role("link", name="Inbox").first.click()
    page.wait_for_url("**/inbox")
    page.go_back()
    page.go_back()
    expect(page.get_by_role("heading", name="Projects")).to_be_visible()
    row(page, first).click()
    expect(log).to_contain_text("For the first.")
    page.locator("[data-panel-opener]").click()
    expect(page.locator("#panel")).to_be_visible()
    row(page, second).click()
    page.wait_for_url(f"**/{second}")
    page.go_back()
    page.wait_for_url(re.compile(f"/{first}.*panel="))
    expect(page.locator("#panel")).to_be_visible()
    page.go_back()
    expect(page.locator("#panel")).to_be_hidden()
    expect(log).to_contain_text(first)
    assert is_swapped(page)


def test_the_first_message_leads_to_its_session(server: Installation, page: Page) -> None:
    open_page(page, f"{server.url}/t/{server.team}/")
    prompt = page.locator("#prompt")
    prompt.fill(script([{"text": "The first answer."}]))
    prompt.press("Enter")
    page.keyboard.type("And then")
    page.wait_for_url("**/s/*")
    expect(page.get_by_role("log")).to_contain_text("The first answer.")
    expect(prompt).to_have_value("And then")
    assert is_swapped(page)
    prompt.fill("")
    page.go_back()
    expect(page.get_by_role("heading", name="Projects")).to_be_visible()
    expect(prompt).to_have_value("")


def test_an_answer_for_a_page_that_is_gone_changes_nothing_on_the_next(
    server: Installation, client: httpx.Client, tab: Page
) -> None:
    second, first = new_session(client), new_session(client)
    held: list[Route] = []
    tab.route(re.compile("/(prompt|start)$"), lambda route: held.append(route))
    open_page(tab, f"{server.url}/t/{server.team}/s/{first}")
    prompt, refused = tab.locator("#prompt"), "/there-is-no-such-command"
    prompt.fill(refused)
    with tab.expect_request(re.compile("/prompt$")):
        tab.locator("#composer").evaluate("(form) => form.requestSubmit()")
    row(tab, second).click()
    tab.wait_for_url(f"**/{second}")
    held.pop().continue_()
    expect(tab.locator("#toasts")).to_contain_text("Your text is kept")
    expect(tab.locator("#composer")).to_have_attribute("data-draft", second)
    expect(prompt).to_have_value("")
    row(tab, first).click()
    expect(prompt).to_have_value(refused)
    prompt.fill("")

    tab.locator(".topbar-home").click()
    expect(tab.get_by_role("heading", name="Projects")).to_be_visible()
    prompt.fill(script([{"text": "Late."}]))
    with tab.expect_request(re.compile("/start$")):
        prompt.press("Enter")
    row(tab, second).click()
    tab.wait_for_url(f"**/{second}")
    with tab.expect_response(re.compile("/start$")):
        held.pop().continue_()
    tab.wait_for_timeout(500)
    assert tab.url.endswith(second)
    assert is_swapped(tab)


def test_back_needs_no_pointer_after_a_reload_and_closes_what_is_open(
    server: Installation, client: httpx.Client, page: Page
) -> None:
    second, first = new_session(client), new_session(client)
    open_page(page, f"{server.url}/t/{server.team}/s/{first}")
    row(page, second).click()
    page.wait_for_url(f"**/{second}")
    page.reload()
    page.go_back()
    expect(page.locator("main")).to_have_attribute("data-session", first)
    page.go_forward()
    expect(page.locator("main")).to_have_attribute("data-session", second)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.go_back()
    expect(page.locator("main")).to_have_attribute("data-session", first)
    expect(page.get_by_role("dialog")).to_be_hidden()


def test_a_page_that_is_gone_before_its_scripts_leaves_them_working(
    server: Installation, client: httpx.Client, tab: Page
) -> None:
    second, first = new_session(client), new_session(client)
    late: list[Route] = []
    tab.route(re.compile(r"/js/draft\b"), lambda route: late.append(route))
    with tab.expect_request(re.compile(r"/js/draft\b")):
        open_page(tab, f"{server.url}/t/{server.team}/s/{first}")
    tab.get_by_role("link", name="Inbox").first.click()
    tab.wait_for_url("**/inbox")
    late.pop().continue_()
    tab.wait_for_timeout(300)
    row(tab, second).click()
    tab.wait_for_url(f"**/{second}")
    tab.locator("#prompt").fill(script([{"text": "The answer."}]))
    tab.locator("#prompt").press("Enter")
    expect(tab.get_by_role("log")).to_contain_text("The answer.")
    assert is_swapped(tab)


def test_who_uses_the_keyboard_keeps_the_focus(
    server: Installation, client: httpx.Client, page: Page
) -> None:
    third, second, first = (new_session(client) for _ in range(3))
    open_page(page, f"{server.url}/t/{server.team}/s/{first}")
    row(page, second).focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/{second}")
    expect(row(page, second)).to_be_focused()
    page.get_by_role("log").focus()
    page.keyboard.press("j")
    page.wait_for_url(f"**/{third}")
    expect(page.get_by_role("log")).to_be_focused()
    page.keyboard.type("Written")
    expect(page.locator("#prompt")).to_have_value("Written")
    page.locator("#prompt").fill("")
    page.keyboard.press("Control+k")
    expect(page.locator("#palette input")).to_be_focused()
    page.keyboard.press("Escape")
    page.get_by_role("log").focus()
    page.keyboard.press("n")
    expect(page.locator("#prompt")).to_be_focused()
    page.wait_for_url(re.compile(r"/t/[^/]+/#prompt$"))
    assert is_swapped(page)


@pytest.mark.parametrize("status", [403, 404, 500])
def test_an_error_is_a_whole_page(server: Installation, tab: Page, status: int) -> None:
    def fail(route: Route) -> None:
        html = "<!doctype html><title>No</title><h1>This went wrong</h1>"
        route.fulfill(status=status, content_type="text/html", body=html)

    open_page(tab, f"{server.url}/t/{server.team}/settings/general")
    tab.route("**/settings/members", fail)
    link(tab, "Members").click()
    expect(tab.get_by_role("heading", name="This went wrong")).to_be_visible()
    expect(tab).to_have_title("No")
    assert tab.url.endswith("/members")
    tab.go_back()
    expect(tab.get_by_role("heading", level=1)).to_have_text("General")


def test_another_build_and_what_is_signed_out_load_a_whole_page(
    server: Installation, tab: Page
) -> None:
    general = f"{server.url}/t/{server.team}/settings/general"
    open_page(tab, general)
    tab.evaluate("document.documentElement.dataset.build = 'older'")
    link(tab, "Members").click()
    expect(tab.get_by_role("heading", level=1)).to_have_text("Members")
    expect(tab.locator("html")).not_to_have_attribute("data-build", "older")
    assert not is_swapped(tab)

    open_page(tab, general)
    (cookie,) = [one for one in tab.context.cookies() if one["name"] == "sessionid"]
    tab.context.clear_cookies(name="sessionid")
    link(tab, "Members").click()
    tab.wait_for_url(re.compile(r"/login\?next=.*members$"))
    expect(tab.get_by_role("button", name="Sign in", exact=True)).to_be_visible()
    tab.context.add_cookies([cookie])


def test_only_the_last_of_two_clicks_counts(server: Installation, tab: Page) -> None:
    open_page(tab, f"{server.url}/me/profile")
    late: list[Route] = []
    tab.route("**/me/appearance", lambda route: late.append(route), times=1)
    link(tab, "Appearance").click()
    link(tab, "Shortcuts").click()
    expect_page(tab, "Shortcuts", KEYS)
    with suppress(Error):
        late[0].continue_()
    tab.wait_for_timeout(500)
    expect_page(tab, "Shortcuts", KEYS)
    tab.go_back()
    expect_page(tab, "Profile")
    link(tab, "Back to your team").click()
    tab.wait_for_url(re.compile("/t/[^/]+/$"))
    assert not is_swapped(tab)


def test_the_pages_have_one_policy_and_the_same_scripts(
    server: Installation, signed_in: BrowserContext, tab: Page
) -> None:
    for start in (f"{server.url}/me/profile", f"{server.url}/t/{server.team}/settings/general"):
        tab.goto(start)
        links = tab.locator("[data-in-place] a:not([data-whole])")
        paths = links.evaluate_all("(all) => all.map((one) => one.href)")
        assert len(paths) > 5
        frames = set()
        for path in paths:
            answer = signed_in.request.get(path)
            scripts = re.findall(r'<(?:script|link)\b[^>]*(?:src|href)="[^"]+"', answer.text())
            frames.add((answer.headers["content-security-policy"], *scripts))
        assert len(frames) == 1


def test_axe_finds_nothing_on_a_page_that_was_swapped_in(server: Installation, page: Page) -> None:
    try:
        axe = install_axe()
    except Unavailable as exc:
        pytest.skip(f"axe-core: {exc}")
    open_page(page, f"{server.url}/t/{server.team}/settings/general")
    link(page, "Members").click()
    expect_page(page, "Members")
    assert list(find_faults(page, "in place", axe)) == []
