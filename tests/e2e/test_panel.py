"""What people do in the side panel of a session, and in the palette, on a real server."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import BrowserContext, Page, Route, WebSocketRoute, expect

from tests.e2e.browser import of_page, watched
from tests.e2e.installation import Installation
from tests.e2e.rest import approve_everything, ask, new_session, script

pytestmark = [*of_page, pytest.mark.deep]
PHONE = {"width": 390, "height": 844}
# A notice and the panel of the links of a session.
APART = """() => {
  const [notice, panel] = ["[data-toast]", "#share .menu-list"].map((one) =>
    document.querySelector(one).getBoundingClientRect());
  return notice.top >= panel.bottom || notice.right <= panel.left || notice.left >= panel.right;
}"""


@pytest.fixture
def page(signed_in: BrowserContext) -> Iterator[Page]:
    # What a test itself cuts off is no fault.
    cut = "Failed to load resource: net::ERR_FAILED"
    with watched(signed_in, console=True, cut=cut) as page:
        yield page


def test_files_are_found_looked_at_and_mentioned_beside_the_conversation(
    server: Installation, client: httpx.Client, page: Page
) -> None:
    (project,) = [one for one in client.get("/project").json() if one["id"] == server.project]
    folder = Path(project["worktree"]) / "pane" / "deep"
    folder.mkdir(parents=True)
    (folder / "total.py").write_text("def total():\n    return 1\n" * 40)
    session = new_session(client)
    # The key of the tab that is open closes it, and an account keeps its tab.
    page.goto(f"{server.url}/t/{server.team}/s/{session}?panel=context")
    expect(page.locator("#live")).to_have_attribute("data-state", "live")
    page.keyboard.press("f")
    for name in ("pane has changes", "deep has changes", "total.py"):
        page.locator("#files").get_by_role("link", name=name).click()
    expect(page.locator("#L80")).to_contain_text("return 1")
    page.locator("#L40 a").click()
    page.get_by_role("button", name="Mention in message").click()
    expect(page.locator("#prompt")).to_have_value("@pane/deep/total.py#L40 ")
    expect(page.locator("#prompt")).to_be_focused()
    page.locator("#prompt").fill("")

    # The address names the line; the account remembers the tab.
    page.reload()
    expect(page.locator("#L40")).to_be_in_viewport()
    page.get_by_label("Filter files by path").fill("deeptotal")
    expect(page.locator("#files-found .file-node-name")).to_have_text(["pane/deep/total.py"])
    page.set_viewport_size(PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    page.get_by_role("navigation", name="View").get_by_role("link", name="Chat").click()
    expect(page.locator("#prompt")).to_be_visible()
    expect(page.locator("#files")).to_be_hidden()


def test_files_that_an_answer_names_and_a_turn_has_changed_are_opened_from_it(
    server: Installation, client: httpx.Client, page: Page
) -> None:
    session = new_session(client)
    page.goto(f"{server.url}/t/{server.team}/s/{session}")
    expect(page.locator("#live")).to_have_attribute("data-state", "live")
    stop = threading.Event()
    thread = approve_everything(client, stop)
    calls = [
        {"tool": "write", "input": {"filePath": f"named/{name}", "content": content}}
        for name, content in (("till.py", "one\ntwo\n"), ("shop.py", "1\n2\n"), ("empty.py", ""))
    ]
    text = (
        "Mended `till.py:2`, as [till.py](https://example.org/) says; /etc/passwd and old.py stay."
    )
    ask(client, session, script(calls, [{"text": text}]))
    stop.set()
    thread.join()
    # It came while the page was open.
    links = page.locator(".text a")
    expect(links).to_have_text(["till.py:2", "till.py"])
    expect(links.last).to_have_attribute("href", "https://example.org/")
    links.first.click()
    expect(page.locator("#files #L2")).to_contain_text("two")
    assert "file=named%2Ftill.py" in page.url

    changed = page.locator(".turn-file")
    expect(changed).to_have_text(["named/empty.py", "named/shop.py +2", "named/till.py +2"])
    changed.last.click()
    expect(page.locator("#changes [data-file-card]")).to_have_count(3)
    assert "panel=changes&turn=msg_" in page.url
    expect(page.get_by_role("article", name="named/till.py")).to_contain_text("two")


def test_a_notice_does_not_cover_what_it_is_about(
    server: Installation, client: httpx.Client, page: Page
) -> None:
    page.add_init_script("navigator.clipboard.writeText = () => Promise.reject(new Error())")
    page.goto(f"{server.url}/t/{server.team}/s/{new_session(client)}")
    expect(page.locator("#live")).to_have_attribute("data-state", "live")
    # An account keeps its panel open, which takes the room of the button.
    if page.locator(".panel-close").is_visible():
        page.locator(".panel-close").click()
    page.locator("[data-command~=share]:visible").first.click()
    links = page.locator("#share .menu-list")
    links.get_by_role("button", name="Create link").click()
    links.get_by_role("button", name="Copy").click()
    expect(page.locator("[data-toast]")).to_be_visible()
    assert page.evaluate(APART)


def shown(page: Page, text: str) -> None:
    """Wait until a line of the terminal that is shown begins with it."""
    lines = page.locator(".terminal-screen:not([hidden]) .xterm-rows > div")
    expect(lines.filter(has_text=re.compile(f"^{re.escape(text)}"))).not_to_have_count(0)


def test_back_shows_what_was_open_before_and_leaves_the_session_in_the_end(
    server: Installation, client: httpx.Client, page: Page
) -> None:
    folder = Path(client.get("/path").json()["worktree"])
    for name in ("one.md", "two.md"):
        (folder / name).write_text(f"# {name}\n")
    page.goto(f"{server.url}/t/{server.team}/")
    address = f"{server.url}/t/{server.team}/s/{new_session(client)}?panel=none"
    page.goto(address)
    expect(page.locator("#live")).to_have_attribute("data-state", "live")
    panel, shown = page.locator("#panel"), page.locator("#panel-files .file-path")
    page.keyboard.press("i")
    expect(page.locator("#panel-context")).to_be_visible()
    page.keyboard.press("f")
    for name in ("one.md", "two.md"):
        panel.get_by_role("link", name=name).click()
        expect(shown).to_have_text(name)
    page.go_back()
    expect(shown).to_have_text("one.md")
    page.go_forward()
    expect(shown).to_have_text("two.md")
    page.go_back()
    page.go_back()
    page.go_back()
    expect(page.locator("#panel-context")).to_be_visible()
    page.go_back()
    expect(panel).to_be_hidden()

    # Whoever closes it is where they were before they opened it.
    page.keyboard.press("f")
    expect(page.get_by_label("Filter files by path")).to_be_focused()
    page.keyboard.press("Escape")
    page.keyboard.press("e")
    expect(page.locator("[data-full]")).to_be_visible()
    page.go_back()
    expect(page.locator("[data-full]")).to_have_count(0)
    expect(page.locator("#panel-files")).to_be_visible()
    page.keyboard.press("f")
    expect(panel).to_be_hidden()
    expect(page.get_by_role("log")).to_be_focused()
    assert page.url == address
    page.go_back()
    page.wait_for_url(re.compile(r"/t/[^/]+/$"))


def test_files_and_menus_are_gone_through_by_keys(
    server: Installation, client: httpx.Client, page: Page
) -> None:
    other, session = new_session(client), new_session(client)
    client.patch(f"/session/{other}", json={"title": "Another one"})
    page.set_viewport_size({"width": 1024, "height": 768})
    page.goto(f"{server.url}/t/{server.team}/s/{session}?panel=none")
    expect(page.locator("#live")).to_have_attribute("data-state", "live")
    address, field = page.url, page.get_by_label("Filter files by path")
    page.keyboard.press("f")
    expect(field).to_be_focused()
    page.keyboard.type("till.py")
    page.keyboard.press("ArrowDown")
    expect(page.locator("[data-files-rows] [data-file]:focus")).to_have_text("till.py")
    field.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#panel-files .file-path")).to_have_text("till.py")
    page.keyboard.press("Escape")
    expect(page.locator("#panel")).to_be_hidden()
    assert page.url.split("?")[0] == address.split("?")[0]

    menu = page.get_by_label("More about this session")
    menu.focus()
    page.keyboard.press("Enter")
    for key in ("ArrowDown", "ArrowDown", "ArrowUp"):
        page.keyboard.press(key)
        expect(page.locator(".menu-list :focus")).to_be_visible()
    page.keyboard.press("ArrowUp")
    expect(menu).to_be_focused()
    page.keyboard.press("Escape")

    page.keyboard.press("Control+k")
    page.keyboard.type("#Another")
    expect(page.locator("[data-palette] [role=option]")).to_have_count(1)
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/{other}")
    expect(page.get_by_role("log")).to_be_focused()


def test_a_terminal_outlives_reloads_and_lost_connections_until_it_is_ended(
    server: Installation, client: httpx.Client, page: Page
) -> None:
    lines: list[WebSocketRoute] = []

    def through(route: WebSocketRoute) -> None:
        lines.append(route)
        route.connect_to_server()

    page.route_web_socket(re.compile("/pty/"), through)
    session = new_session(client)
    page.goto(f"{server.url}/t/{server.team}/s/{session}?panel=context")
    expect(page.locator("#live")).to_have_attribute("data-state", "live")
    page.keyboard.press("`")
    expect(page.get_by_role("button", name="New terminal")).to_be_focused()
    page.keyboard.press("Enter")
    shown(page, "bash-")
    state = page.locator("[data-terminal-state]")
    expect(state).to_have_text("")
    screen = page.locator(".terminal-screen:not([hidden])")
    screen.click()
    page.keyboard.type("echo one''two\n")
    shown(page, "onetwo")

    page.reload()
    shown(page, "onetwo")
    lines[-1].close(code=4012)
    expect(state).to_have_text("Reconnected. Nothing was lost.")
    screen.click()
    page.keyboard.type("clear; echo three''four\n")
    shown(page, "threefour")
    # What is selected goes to the agent as a quotation.
    row = screen.locator(".xterm-rows > div", has_text=re.compile("^threefour"))
    row.dblclick(position={"x": 20, "y": 8}, force=True)
    page.get_by_label("More about this terminal").click()
    page.get_by_role("button", name="Send selection to agent").click()
    expect(page.locator("#prompt")).to_have_value("\n> threefour\n")
    page.locator("#prompt").fill("")

    screen.click()
    page.keyboard.type("exit 3\n")
    expect(state).to_contain_text("Ended with exit code 3.")
    page.get_by_role("button", name="Restart").click()
    # It is connected, and then the one that ended is gone from the list.
    expect(state).to_have_text("")
    expect(page.locator("[data-terminal-id]")).to_have_count(1)
    shown(page, "bash-")
    with page.expect_response(lambda answer: answer.request.method == "PUT"):
        page.set_viewport_size(PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    page.get_by_label("More about this terminal").click()
    page.get_by_role("button", name="Close terminal").click()
    expect(page.locator("[data-terminal-id]")).to_have_count(0)
    assert client.get("/pty").json() == []


def test_the_palette_finds_what_was_said_and_goes_there(
    server: Installation, client: httpx.Client, page: Page
) -> None:
    (project,) = [one for one in client.get("/project").json() if one["id"] == server.project]
    (Path(project["worktree"]) / "notes.md").write_text("Buy bread.\n")
    session = new_session(client)
    ask(client, session, script([{"text": "The marmalade is in the cupboard."}]))
    page.goto(f"{server.url}/t/{server.team}/settings/members")
    page.keyboard.press("Control+k")
    palette = page.get_by_role("dialog", name="Search and navigate")
    field = palette.get_by_role("combobox")
    expect(palette.get_by_role("group", name="Recent sessions")).to_be_visible()
    page.keyboard.type("marmalade cupb")
    # Each answer to what was typed so far selects its first line.
    expect(palette.locator("[data-query='marmalade cupb']")).to_be_visible()
    expect(palette.locator("mark").first).to_have_text("marmalade")
    page.set_viewport_size(PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    page.set_viewport_size({"width": 1440, "height": 900})
    expect(palette.get_by_role("option").first).to_have_attribute("aria-selected", "true")
    expect(palette.get_by_role("status")).to_contain_text("results")
    page.keyboard.press("ArrowDown")
    hit = palette.locator(".found-hit").first
    expect(hit).to_have_attribute("aria-selected", "true")
    expect(field).to_have_attribute("aria-activedescendant", hit.get_attribute("id") or "none")
    expect(field).to_be_focused()
    page.keyboard.press("End")
    expect(palette.get_by_role("option").last).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(rf"{session}\?at=msg_.+#turn-msg_"))
    expect(page.locator(".turn:target")).to_be_in_viewport()

    # What the page can do is there beside what the team has, and files open in the side panel.
    # Keys that come before the palette has all its code are for it, too.
    held: list[Route] = []
    page.route(re.compile(r"/palette[^/]*\.js"), lambda route: held.append(route))
    page.reload()
    page.keyboard.press("Control+k")
    # It may have been fetched ahead while the page had nothing to do.
    while not held:
        page.wait_for_timeout(20)
    page.keyboard.type(">context")
    page.keyboard.press("Enter")
    held.pop().continue_()
    page.unroute(re.compile(r"/palette[^/]*\.js"))
    expect(palette).to_be_hidden()
    expect(page.locator("#panel-context")).to_be_visible()
    page.keyboard.press("Control+k")
    page.keyboard.type("@notes")
    expect(palette.locator("[data-query='@notes']")).to_be_visible()
    expect(palette.get_by_role("option", name="notes.md")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.locator("#panel-files .file-code")).to_be_focused()
    page.keyboard.press("F6")
    expect(page.get_by_role("navigation", name="Sessions").locator(":focus")).to_be_visible()
    page.keyboard.press("F6")
    expect(page.locator("#prompt")).to_be_focused()
    page.keyboard.press("F6")
    expect(page.locator("#panel-files .file-code")).to_be_focused()
    assert page.url.endswith("?panel=files&file=notes.md")

    page.keyboard.press("Control+k")
    expect(palette.get_by_role("option", name="notes.md")).to_be_visible()
    field.fill("> new pro")
    expect(palette.get_by_role("option")).to_have_text(["New project"])
    field.press("Enter")
    page.wait_for_url(re.compile("/p/new"))
    page.keyboard.press("Control+k")
    expect(palette.get_by_role("group", name="Commands")).to_be_visible()
    page.keyboard.type("x")
    page.keyboard.press("Escape")
    expect(palette).to_be_hidden()


def test_commands_of_the_page_are_done_from_the_palette_and_the_message_field(
    server: Installation, client: httpx.Client, page: Page
) -> None:
    session = new_session(client)
    ask(client, session, script([{"text": "The first answer."}]))
    ask(client, session, script([{"text": "The second answer."}]))
    page.goto(f"{server.url}/t/{server.team}/s/{session}")
    expect(page.locator("#live")).to_have_attribute("data-state", "live")

    # What can be done with the session comes first, with its name for the message field.
    page.keyboard.press("Control+k")
    palette = page.get_by_role("dialog", name="Search and navigate")
    first = palette.get_by_role("group").first
    expect(first).to_contain_text("Compact the conversation")
    expect(first).to_contain_text("/compact")
    # A form in a menu that is closed is opened, and has the focus.
    page.keyboard.type(">delete ses")
    expect(palette.get_by_role("option")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Delete permanently")).to_be_visible()
    page.keyboard.press("Escape")

    prompt = page.locator("#prompt")
    prompt.press_sequentially("/fo")
    option = page.get_by_role("option", name="/fork")
    expect(option).to_contain_text("Fork session")
    prompt.fill("")
    # Enter comes before the list.
    prompt.fill("/undo")
    prompt.press("Enter")
    rolled_back = page.get_by_role("dialog").get_by_role("button", name="Roll back")
    rolled_back.click()
    expect(page.locator("#reverted")).to_contain_text("Restore")
    expect(page.locator("#log")).not_to_contain_text("The second answer.")
    prompt.fill("")
    prompt.press_sequentially("/red")
    expect(page.get_by_role("option", name="/redo")).to_be_visible()
    prompt.press("Enter")
    expect(page.locator("#log")).to_contain_text("The second answer.")
    expect(prompt).to_have_value("")

    # Nothing waits for an answer, so there is nothing to stop.
    prompt.fill("/stop")
    prompt.press("Enter")
    expect(page.locator("#toasts")).to_contain_text("not possible here")
    expect(prompt).to_have_value("/stop")
    prompt.fill("/themes")
    prompt.press("Enter")
    page.wait_for_url(re.compile("/me/appearance"))
