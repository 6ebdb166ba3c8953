"""Parts of a page that come when somebody comes to them: slowly, or not at all, in a browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, Route, expect

from tests.e2e.browser import of_page
from tests.e2e.installation import Installation
from tests.e2e.rest import ask, new_session, script
from tests.e2e.test_frame import go

pytestmark = [*of_page, pytest.mark.deep]


@pytest.fixture(scope="module")
def session(server: Installation) -> str:
    """One with more turns than a page has, and with an answer that is not sent whole."""
    with server.client() as client:
        made = new_session(client)
        for number in range(32):
            ask(client, made, f"prompt {number} " + script([{"text": "Yes."}]))
        command = {"tool": "bash", "input": {"command": "seq 300"}}
        client.patch("/config", json={"permission": {"bash": "allow"}}).raise_for_status()
        ask(client, made, "count " + script([command], [{"text": "Done."}]))
    return made


@pytest.fixture
def page(signed_in: BrowserContext) -> Iterator[Page]:
    made = signed_in.new_page()
    yield made
    made.close()


class Held:
    """Requests that wait for the test."""

    def __init__(self, page: Page, pattern: str) -> None:
        self.routes: list[Route] = []
        self.page, self.pattern = page, pattern
        page.route(pattern, lambda route: self.routes.append(route))

    def let_go(self) -> None:
        for route in self.routes:
            route.continue_()
        self.page.unroute(self.pattern)


def stands_for_it(view: Locator) -> bool:
    """Whether lines stand for what is on its way."""
    shown = view.evaluate("(one) => getComputedStyle(one, '::before').visibility")
    return bool(shown == "visible")


def test_lines_stand_for_a_tab_that_takes_its_time(
    server: Installation, page: Page, session: str
) -> None:
    # From a known tab: which one is open belongs to the person.
    go(page, server, f"{session}?panel=changes")
    held = Held(page, "**/*panel=files*")
    view = page.locator("#panel-files")
    page.locator("body").press("f")
    expect(view).to_have_attribute("aria-busy", "true")
    page.wait_for_timeout(400)
    assert stands_for_it(view)
    # A link for whom scripts fail is no part of that.
    assert view.get_by_role("link").evaluate_all(
        "(all) => all.every((one) => getComputedStyle(one).visibility === 'hidden')"
    )
    before = view.bounding_box()
    held.let_go()
    expect(view.get_by_role("link", name="till.py", exact=True)).to_be_visible()
    expect(view).not_to_have_attribute("aria-busy", "true")
    assert view.bounding_box() == before

    held = Held(page, "**/*file=till.py*")
    view.get_by_role("link", name="till.py", exact=True).click()
    file = page.locator("[data-files-view]")
    expect(file).to_have_attribute("aria-busy", "true")
    page.wait_for_timeout(400)
    assert stands_for_it(file)
    held.let_go()
    expect(file.locator(".file-code")).to_be_visible()


@pytest.mark.parametrize(
    ("answer", "said"), [(500, "sent an unexpected response"), (0, "cannot be reached")]
)
def test_what_did_not_come_is_asked_for_again_in_its_place(
    server: Installation, page: Page, session: str, answer: int, said: str
) -> None:
    def fail(route: Route) -> None:
        if answer:
            route.fulfill(status=answer, body="")
        else:
            route.abort()

    go(page, server, f"{session}?panel=changes")
    page.route("**/*panel=context*", fail, times=1)
    page.locator("body").press("i")
    view = page.locator("#panel-context")
    expect(view.get_by_role("alert")).to_contain_text(said)
    view.get_by_role("button", name="Try again").click()
    expect(view.get_by_role("alert")).to_have_count(0)
    expect(view).to_contain_text("Compactions")

    page.locator("[data-tool=bash] summary").click()
    body = page.locator("[data-tool=bash] .bash")
    page.route("**/part/*/body", fail, times=1)
    body.get_by_role("link", name="earlier lines").click()
    expect(body.get_by_role("alert")).to_contain_text(said)
    expect(page.locator("#toasts [data-toast]")).to_have_count(0)
    body.get_by_role("link", name="Try again").click()
    expect(body.get_by_role("alert")).to_have_count(0)
    expect(body.locator(".bash-output")).to_contain_text("1\n2\n3\n")

    page.route("**/turns?before=*", fail, times=1)
    log = page.get_by_role("log")
    # Again and again: while it follows its end, what just came scrolls it back there.
    page.wait_for_function(
        "(one) => { one.scrollTop = 0; return one.querySelector('[role=alert]'); }",
        arg=log.element_handle(),
    )
    expect(log.get_by_role("alert")).to_contain_text(said)
    log.get_by_role("link", name="Try again").click()
    expect(page.locator(".prompt-text", has_text="prompt 0")).to_be_attached()


def test_earlier_turns_that_take_their_time_say_that_they_come(
    server: Installation, page: Page, session: str
) -> None:
    go(page, server, f"{session}?panel=changes")
    held = Held(page, "**/turns?before=*")
    page.get_by_role("log").evaluate("(one) => (one.scrollTop = 0)")
    earlier = page.locator("#earlier")
    expect(earlier).to_have_attribute("aria-busy", "true")
    before = earlier.bounding_box()
    page.wait_for_timeout(400)
    assert earlier.bounding_box() == before
    held.let_go()
    expect(earlier).to_have_count(0)


def test_a_file_that_does_not_come_is_no_old_page_while_the_device_is_offline(
    server: Installation, page: Page, session: str
) -> None:
    page.goto(f"{server.url}/t/{server.team}/s/{session}")
    expect(page.locator("#live")).to_have_attribute("data-state", "live")
    misses = """async () => {
      await import("/static/missing.js").catch((error) => void Promise.reject(error));
      await new Promise((done) => setTimeout(done, 200));
    }"""
    said = page.get_by_text("Part of this page could not be loaded.")
    page.context.set_offline(True)
    try:
        page.evaluate(misses)
        expect(said).to_have_count(0)
    finally:
        page.context.set_offline(False)
    page.evaluate(misses)
    expect(said).to_be_visible()


def test_the_whole_output_is_copied_though_its_end_is_shown(
    server: Installation, page: Page, session: str
) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    go(page, server, session)
    page.locator("[data-tool=bash] summary").click()
    body = page.locator("[data-tool=bash] .bash")
    copy = body.get_by_role("button", name="Copy the output")
    page.route("**/part/*/body", lambda route: route.abort(), times=1)
    copy.click()
    expect(body.get_by_role("alert")).to_contain_text("cannot be reached")
    expect(copy).not_to_have_attribute("data-copied", "Copied.")
    copy.click()
    expect(copy).to_have_attribute("data-copied", "Copied.")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.split() == [str(number) for number in range(1, 301)]
    expect(copy).to_be_focused()
