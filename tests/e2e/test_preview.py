"""A person sees an app that runs in a terminal, and shows the agent what is on it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.e2e.axe import find_faults, install_axe
from tests.e2e.browser import chromium, in_chromium, watched
from tests.e2e.installation import Installation
from tests.e2e.previewed import APP
from tests.e2e.rest import new_session

pytestmark = in_chromium


@pytest.fixture
def page(signed_in: BrowserContext) -> Iterator[Page]:
    # What the app complains of, and what it is kept from, is in the console of the same tab.
    with watched(signed_in) as page:
        yield page


PORT = 5173
# Ends when it is told to, and then comes back when a file is there.
RUN = f"""
python3 -c "$0" {PORT}
until test -e again; do sleep 0.1; done
exec python3 -c "$0" {PORT}
"""


def start_app(client: httpx.Client) -> str:
    answer = client.post("/pty", json={"command": "sh", "args": ["-c", RUN, APP]})
    assert answer.status_code == 200, answer.text
    return str(answer.json()["id"])


@pytest.mark.deep
def test_an_app_is_used_shown_to_the_agent_and_seen_by_its_person_alone(
    server: Installation, client: httpx.Client, page: Page, signed_in: BrowserContext
) -> None:
    session = new_session(client)
    page.goto(f"{server.url}/t/{server.team}/s/{session}?panel=preview")
    pane = page.locator("[data-preview]")
    expect(pane.get_by_role("link", name="Open a terminal")).to_be_visible()
    terminal = start_app(client)
    pane.get_by_role("button", name=f"Port {PORT}").click()
    app = page.frame_locator("[data-preview] iframe")
    expect(app.get_by_role("heading")).to_have_text("Hello nobody")
    expect(app.locator("#socket")).to_have_text("echoed 200000 by echo.v1")

    # It is told of a browser on its own machine, and its cookie is of its own host alone.
    app.get_by_label("Name").fill("Ann")
    app.get_by_role("button", name="Greet").click()
    expect(app.get_by_role("heading")).to_have_text("Hello Ann")
    expect(app.locator("#seen")).to_have_text("basket=full, local")
    path = pane.get_by_label("Path")
    expect(path).to_have_value("/hello?name=Ann")
    kept = [one for one in signed_in.cookies() if one["name"] == "basket"]
    assert kept
    assert all(re.fullmatch(r"[a-z2-7]{26}\.localhost", one["domain"]) for one in kept), kept
    path.fill("there?name=Bob")
    path.press("Enter")
    expect(app.get_by_role("heading")).to_have_text("Hello Bob")

    # What it breaks off is broken off.
    read = "() => fetch('/broken').then((answer) => answer.text()).catch(() => 'broken')"
    assert app.locator("body").evaluate(read) == "broken"

    # Nothing that it says unasked reaches the message, and it moved nothing but itself.
    assert page.url.startswith(server.url)
    message = page.locator("[data-prompt]")
    expect(message).to_have_value("")
    assert [*find_faults(page, "preview", install_axe(), is_frame=True)] == []
    page.set_viewport_size({"width": 1440, "height": 900})

    pane.get_by_role("button", name="Pick an element").click()
    app.locator("#buy").click()
    expect(message).to_have_value(re.compile(r"- Selector: `#buy`"))
    said = message.input_value()
    assert "src/till.jsx:12" in said
    assert re.search(r"````html\n<button id=\"buy\".*Buy ``` now</button>\n````\n", said), said
    pane.get_by_role("button", name="Send the app's errors").click()
    expect(message).to_have_value(re.compile("a fault of the till"))
    pane.get_by_role("button", name="Attach a screenshot").click()
    expect(page.locator(".attached-file")).to_contain_text(re.compile(r"preview-.*\.png"))

    # In a tab of its own, and for nobody who only knows where it is.
    with signed_in.expect_page() as opened:
        pane.get_by_role("link", name="Open the app in a new tab").click()
    tab = opened.value
    expect(tab.get_by_role("heading")).to_have_text("Hello Bob")
    address = tab.url
    assert "ticket" not in address
    entrance = address.partition("/there")[0] + "/.opencode-web/enter?ticket=x&to=/"
    with chromium() as browser, browser.new_context() as stranger:
        other = stranger.new_page()
        for place in (address, entrance):
            answer = other.goto(place)
            assert answer is not None
            assert answer.status == 403
        expect(other.get_by_role("heading")).to_have_text("This preview is not available to you")
    tab.close()

    # It ends and comes back, and its page says so; with its terminal it is over.
    app.locator("body").evaluate("() => void fetch('/stop', {method: 'POST'}).catch(() => {})")
    expect(app.locator("#socket")).to_have_text("socket closed")
    pane.get_by_role("button", name="Reload the app").click()
    expect(app.get_by_role("heading")).to_have_text(f"Nothing answers on port {PORT}")
    folder = Path(client.get("/path").json()["directory"])
    (folder / "again").touch()
    expect(app.get_by_role("heading")).to_have_text("Hello Bob")
    client.delete(f"/pty/{terminal}")
    expect(app.locator("#socket")).to_have_text("socket closed")
    (folder / "again").unlink()
