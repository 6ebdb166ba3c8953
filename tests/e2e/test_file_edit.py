"""People edit files of a session in the browser, on a real server."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.e2e.axe import find_faults, install_axe
from tests.e2e.browser import of_page, watched
from tests.e2e.installation import Installation
from tests.e2e.rest import body, new_session, script, wait_for

pytestmark = [*of_page, pytest.mark.deep]
TEXT = "".join(f"line {number}\n" for number in range(1, 41))


@pytest.fixture
def page(signed_in: BrowserContext) -> Iterator[Page]:
    # The answer to who would write over a newer version.
    conflict = "Failed to load resource: the server responded with a status of 409 (Conflict)"
    with watched(signed_in, console=True, cut=conflict) as page:
        yield page


@pytest.fixture
def folder(server: Installation, client: httpx.Client) -> Path:
    (project,) = [one for one in client.get("/project").json() if one["id"] == server.project]
    folder = Path(project["worktree"]) / "edited"
    folder.mkdir(exist_ok=True)
    (folder / "till.py").write_text(TEXT)
    return folder


@pytest.fixture
def session(server: Installation, client: httpx.Client, folder: Path, page: Page) -> str:
    session = new_session(client)
    # Before the scripts of the pane are there, its links lead to pages of their own.
    url = f"{server.url}/t/{server.team}/s/{session}?panel=files&file=edited/till.py"
    page.goto(url, wait_until="networkidle")
    expect(page.locator("#live")).to_have_attribute("data-state", "live")
    return session


@pytest.mark.usefixtures("session")
def test_a_file_is_edited_found_in_and_saved_with_keys_and_is_in_the_review(
    folder: Path, page: Page
) -> None:
    page.get_by_role("link", name="Edit file").click()
    expect(page.locator(".cm-content")).to_be_focused()
    page.keyboard.press("Control+Home")
    page.keyboard.type("first")
    state = page.locator("[data-edit-state]")
    expect(state).to_have_text("Not saved")
    page.keyboard.press("Control+z")
    expect(state).to_have_text("")
    page.keyboard.type("first\n")

    # Its own search, not that of the session.
    page.keyboard.press("Control+f")
    page.keyboard.type("line 33")
    page.keyboard.press("Enter")
    expect(page.locator(".cm-searchMatch-selected")).to_have_text("line 33")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Mention in message").click()
    expect(page.locator("#prompt")).to_have_value("@edited/till.py#L34 ")

    page.locator(".cm-content").focus()
    page.keyboard.press("Control+s")
    expect(state).to_have_text("Saved")
    assert (folder / "till.py").read_text() == f"first\n{TEXT}"
    page.keyboard.type("x")
    page.keyboard.press("Control+s")
    wait_for(lambda: (folder / "till.py").read_text() != f"first\n{TEXT}")
    expect(state).to_have_text("Saved")

    page.get_by_role("link", name="Close", exact=True).click()
    expect(page.locator("#L1")).to_contain_text("first")
    # The search of the pane from where the file is only shown.
    page.locator(".file-code").focus()
    page.keyboard.press("Control+f")
    expect(page.locator(".cm-search [name=search]")).to_be_focused()
    assert [*find_faults(page, "editor", install_axe(), is_frame=True)] == []

    page.get_by_role("link", name="Changes").first.click()
    page.get_by_label("Changes to show").select_option("Uncommitted")
    expect(page.locator("article", has_text="edited/till.py")).to_be_visible()


@pytest.mark.usefixtures("session")
def test_who_leaves_unsaved_text_is_asked_first(page: Page) -> None:
    page.get_by_role("link", name="Edit file").click()
    expect(page.locator(".cm-content")).to_be_focused()
    page.keyboard.type("typed ")
    asked: list[str] = []
    page.once("dialog", lambda dialog: (asked.append(dialog.message), dialog.dismiss()))
    page.get_by_role("link", name="Close", exact=True).click()
    expect(page.locator(".cm-content")).to_contain_text("typed line 1")
    with page.expect_event("dialog") as leaving:
        page.evaluate("setTimeout(() => location.assign('/'))")
    asked.append(leaving.value.type)
    leaving.value.dismiss()
    expect(page.locator(".cm-content")).to_contain_text("typed line 1")
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("link", name="Close", exact=True).click()
    expect(page.locator("#L1")).to_have_text("1line 1")
    assert asked == ["Discard the unsaved changes to this file?", "beforeunload"]


@pytest.mark.usefixtures("session")
def test_who_goes_on_in_place_is_asked_first_and_may_stay(page: Page) -> None:
    address = page.url
    page.mouse.move(3, 3)
    page.wait_for_selector("[data-goes]", state="attached")
    inbox = page.get_by_role("link", name="Inbox").first
    inbox.click()
    page.wait_for_url("**/inbox")
    page.go_back()
    page.get_by_role("link", name="Edit file").click()
    editor = page.locator(".cm-content")
    expect(editor).to_be_focused()
    page.keyboard.type("typed ")
    asked: list[str] = []
    page.on("dialog", lambda dialog: (asked.append(dialog.message), dialog.dismiss()))
    page.get_by_role("log").focus()
    with page.expect_event("dialog"):
        page.keyboard.press("n")
    with page.expect_event("dialog"):
        page.evaluate("history.forward()")
    expect(page).to_have_url(re.compile(re.escape(address.split("?")[0])))
    # Its keys are not kept for the page that somebody did not go to.
    editor.focus()
    page.keyboard.type("twice ")
    expect(editor).to_contain_text("twice")
    expect(editor).to_contain_text("typed")
    assert set(asked) == {"Discard the unsaved changes to this file?"}


@pytest.mark.parametrize("width", [2000, 390])
@pytest.mark.usefixtures("session")
def test_versions_of_two_who_changed_a_file_are_merged_by_hand(
    folder: Path, page: Page, width: int
) -> None:
    page.set_viewport_size({"width": width, "height": 844})
    page.get_by_role("link", name="Edit file").click()
    expect(page.locator(".cm-content")).to_be_focused()
    page.keyboard.press("Control+End")
    page.keyboard.type("mine\n")
    (folder / "till.py").write_text(TEXT.replace("line 3\n", "theirs\n"))
    page.keyboard.press("Control+s")
    told = page.get_by_role("alert").filter(has_text="The file was changed after you opened it")
    expect(told).to_be_visible()
    assert "mine" not in (folder / "till.py").read_text()
    assert page.evaluate("document.documentElement.scrollWidth") <= width

    page.get_by_role("button", name="Take newer").first.click()
    page.get_by_role("button", name="Save my version").click()
    expect(told).to_be_hidden()
    expect(page.get_by_role("button", name="Save", exact=True)).to_be_visible()
    assert (folder / "till.py").read_text() == TEXT.replace("line 3\n", "theirs\n") + "mine\n"


def test_who_goes_on_typing_is_told_that_the_file_was_changed_meanwhile(
    session: str, client: httpx.Client, folder: Path, page: Page
) -> None:
    page.get_by_role("link", name="Edit file").click()
    expect(page.locator(".cm-content")).to_be_focused()
    page.keyboard.type("mine ")
    told = page.get_by_text("Somebody has changed or deleted this file since you opened it.")
    expect(told).to_be_hidden()
    read = {"tool": "read", "input": {"filePath": "edited/till.py"}}
    write = {"tool": "write", "input": {"filePath": "edited/till.py", "content": "theirs\n"}}
    client.post(
        f"/session/{session}/prompt_async", json=body(script([read], [write], [{"text": "Done."}]))
    )
    allow = page.get_by_role("button", name="Allow once")
    expect(allow).to_be_visible()
    # What has just come is deaf.
    page.wait_for_timeout(700)
    allow.click()
    expect(told).to_be_visible()
    expect(page.locator(".cm-content")).to_contain_text("mine line 1")
    assert (folder / "till.py").read_text() == "theirs\n"


@pytest.mark.usefixtures("session")
def test_the_newer_version_is_taken_without_another_question(folder: Path, page: Page) -> None:
    page.get_by_role("link", name="Edit file").click()
    expect(page.locator(".cm-content")).to_be_focused()
    page.keyboard.type("mine ")
    (folder / "till.py").write_text("theirs\n")
    page.keyboard.press("Control+s")
    page.get_by_role("link", name="Take the newer version").click()
    expect(page.locator("#L1")).to_contain_text("theirs")
    assert (folder / "till.py").read_text() == "theirs\n"


@pytest.mark.usefixtures("session")
def test_lines_are_picked_where_a_file_is_shown_and_reach_the_model(
    session: str, client: httpx.Client, page: Page
) -> None:
    page.locator("#L3 a").click()
    page.locator("#L5 a").click(modifiers=["Shift"])
    expect(page.locator("[data-picked]")).to_have_count(3)
    page.get_by_role("button", name="Mention in message").click()
    expect(page.locator("#prompt")).to_have_value("@edited/till.py#L3-5 ")
    page.locator("#prompt").press("Enter")

    def read() -> str:
        messages = client.get(f"/session/{session}/message").json()
        texts = [part.get("text", "") for one in messages for part in one["parts"]]
        return next((text for text in texts if "The tool read" in text), "")

    wait_for(lambda: "line 5" in read())
    assert "line 2" not in read()
    assert "line 6" not in read()
