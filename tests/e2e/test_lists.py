"""Lists that others change, while somebody is about to choose from them, on a real server."""

from __future__ import annotations

import re

import httpx
import pytest
from playwright.sync_api import BrowserContext, Locator, Page, Route, ViewportSize, expect

from tests.e2e.browser import of_page, phone
from tests.e2e.installation import Installation
from tests.e2e.rest import body, new_session, script, wait_for
from tests.e2e.test_frame import go, titled

pytestmark = [*of_page, pytest.mark.deep]
# Beside the list of sessions the home page has none.
NARROW: ViewportSize = {"width": 740, "height": 900}
# Longer than a page waits before it reads its lists again, and than a server takes for that.
SETTLED_MS = 1200


def have_ask(client: httpx.Client, session: str) -> None:
    call = {"tool": "bash", "input": {"command": "make test"}}
    prompt = body(script([call], [{"text": "Done."}]))
    client.post(f"/session/{session}/prompt_async", json=prompt).raise_for_status()
    wait_for(lambda: any(r["sessionID"] == session for r in client.get("/permission").json()))


def aim_at(row: Locator) -> tuple[float, float]:
    """Returns: where it is, once the pointer is on it."""
    row.hover()
    assert row.evaluate("(row) => row.matches(':hover')")
    return place(row)


def place(row: Locator) -> tuple[float, float]:
    box = row.bounding_box()
    assert box
    return box["x"], box["y"]


def test_fr_01_a_list_stands_still_under_the_pointer(
    server: Installation, client: httpx.Client, page: Page
) -> None:
    low, high = titled(client, "Aimed at"), titled(client, "Comes up")
    page.set_viewport_size(NARROW)
    go(page, server)
    aimed, other = page.locator(f"#card-{low}"), page.locator(f"#card-{high}")
    asked = page.locator(f"#inbox-{high}")
    before = aim_at(aimed)
    have_ask(client, high)
    # What a row says changes at once, where it is. Beside it, nobody points.
    expect(other.locator(".state")).to_have_class(re.compile("state-ask"))
    expect(page.locator(f'#rail [data-group="ask"] #row-{high}')).to_have_count(1)
    page.wait_for_timeout(SETTLED_MS)
    assert place(aimed) == before
    expect(asked).to_be_hidden()

    page.mouse.move(5, 5)
    expect(asked).to_be_visible()
    # Where it is answered it is not listed, too.
    expect(other).to_have_count(0)
    # A click on what stands below the lists hits that, too.
    project = page.locator(".list-title").first
    before = aim_at(project)
    client.delete(f"/session/{high}").raise_for_status()
    page.wait_for_timeout(SETTLED_MS)
    assert place(project) == before
    page.mouse.move(5, 5)
    expect(asked).to_be_hidden()
    aimed.locator("a").first.click()
    page.wait_for_url(re.compile(f"{low}$"))


@pytest.mark.deep
def test_fr_01_a_list_stands_still_around_the_keyboards_focus(
    server: Installation, client: httpx.Client, page: Page
) -> None:
    low, high = titled(client, "Focused"), titled(client, "Comes up")
    page.set_viewport_size(NARROW)
    go(page, server)
    link = page.locator(f"#card-{low} a").first
    asked = page.locator(f"#inbox-{high}")
    page.keyboard.press("Tab")
    link.focus()
    have_ask(client, high)
    expect(page.locator(f"#card-{high} .state")).to_have_class(re.compile("state-ask"))
    page.wait_for_timeout(SETTLED_MS)
    expect(asked).to_be_hidden()
    expect(link).to_be_focused()
    # The field that filters them stands above the rows, and is often left with the focus in it.
    page.locator("#home-filter").get_by_label("Filter by title").focus()
    expect(asked).to_be_visible()
    new = new_session(client)
    expect(page.locator(f"#card-{new}")).to_be_visible()


def test_fr_01_a_pointer_that_was_left_on_a_list_does_not_hold_it(
    server: Installation, client: httpx.Client, page: Page
) -> None:
    session = titled(client, "Answered by a key")
    have_ask(client, session)
    go(page, server, session)
    row = page.locator(f"#row-{session}")
    expect(page.get_by_role("group", name="Needs you").locator(row)).to_be_visible()
    row.hover()
    (asked,) = (one for one in client.get("/permission").json() if one["sessionID"] == session)
    client.post(f"/permission/{asked['id']}/reply", json={"reply": "once"}).raise_for_status()
    expect(page.get_by_role("group", name="Today").locator(row)).to_be_visible()


def test_fr_01_a_list_does_not_wait_for_a_finger(
    server: Installation, client: httpx.Client, signed_in: BrowserContext
) -> None:
    titled(client, "There before")
    with phone(signed_in) as page:
        go(page, server)
        page.locator("#lists h2").first.tap()
        # As browsers have it until something else is touched.
        assert page.evaluate("Boolean(document.querySelector('#lists:hover'))")
        new = new_session(client)
        expect(page.locator(f"#card-{new}")).to_be_visible()


def test_fr_01_a_list_that_was_replaced_while_it_was_held_is_read_again(
    server: Installation, client: httpx.Client, page: Page
) -> None:
    titled(client, "Aimed at")
    go(page, server)
    page.locator("#rail a").first.hover()
    row = page.locator(f"#row-{new_session(client)}")
    page.wait_for_timeout(SETTLED_MS)
    expect(row).to_have_count(0)
    page.locator("#rail").evaluate("(list) => list.replaceWith(list.cloneNode(true))")
    page.mouse.move(5, 5)
    expect(row).to_be_visible()


def test_fr_01_a_list_that_is_slow_costs_the_others_nothing(
    server: Installation, client: httpx.Client, page: Page
) -> None:
    session = titled(client, "Pinned")
    page.set_viewport_size(NARROW)
    go(page, server)
    held: list[Route] = []
    page.route("**/rail?*", lambda route: held.append(route), times=1)
    page.locator(f"#card-{session} [data-row-menu]").click()
    with page.expect_request("**/rail?*"):
        page.get_by_role("button", name="Pin to the top").click()
    page.mouse.move(5, 5)
    # What the person does has the lists read at once, and what others do soon after.
    with page.expect_response("**/inbox?*"):
        new = new_session(client)
    held[0].continue_()
    expect(page.locator(f"#card-{new}")).to_be_visible()
