"""Parts of a file are staged, reverted, commented on and committed in the review."""

from __future__ import annotations

import struct
import subprocess
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect
from playwright.sync_api import TimeoutError as PlaywrightTimeout

from tests.e2e.browser import of_page, watched
from tests.e2e.installation import Installation
from tests.e2e.rest import new_session
from tests.e2e.test_billing import look
from tests.e2e.test_review import DESK, PHONE, change_long_file, git
from tests.e2e.test_review import folder as folder

pytestmark = [*of_page, pytest.mark.deep]
# What the server refuses is said by the console, too.
REFUSED = "Failed to load resource: the server responded with a status of 409 (Conflict)"


@pytest.fixture
def page(signed_in: BrowserContext) -> Iterator[Page]:
    with watched(signed_in, console=True, cut=REFUSED) as page:
        yield page


def staged(folder: Path) -> str:
    run = ["git", "-C", str(folder), "diff", "--cached", "-U0"]
    return subprocess.run(run, check=True, capture_output=True, text=True).stdout


def wait_until_read(page: Page) -> None:
    """Until nothing comes any more: what has changed is read again, and not at once."""
    with suppress(PlaywrightTimeout):
        while True:
            page.wait_for_event("response", timeout=700)


def open_review(page: Page, server: Installation, client: httpx.Client) -> Locator:
    session = new_session(client)
    page.goto(f"{server.url}/t/{server.team}/s/{session}?panel=changes&source=uncommitted&full=1")
    expect(page.locator("#live")).to_have_attribute("data-state", "live")
    return page.locator("#changes")


def test_hunks_are_staged_reverted_and_commented_on(
    server: Installation, client: httpx.Client, folder: Path, page: Page
) -> None:
    change_long_file(folder)
    pane = open_review(page, server, client)
    card = pane.locator("[data-file-card]", has_text="long.py")
    card.get_by_role("button", name="Stage Lines 58 to 64").click()
    expect(card.get_by_text("Staged", exact=True)).to_have_count(1)
    assert "value_60" in staged(folder)
    assert "value_5 =" not in staged(folder)
    # The control that did it has the focus still, and takes it back.
    unstage = card.get_by_role("button", name="Unstage Lines 58 to 64")
    expect(unstage).to_be_focused()
    page.keyboard.press("Enter")
    expect(card.get_by_text("Staged", exact=True)).to_have_count(0)
    assert staged(folder) == ""

    # By key, from a line of the hunk.
    pane.locator("[data-diffs]").focus()
    page.keyboard.press("n")
    page.keyboard.press("n")
    page.keyboard.press("]")
    page.keyboard.press("s")
    expect(card.get_by_text("Staged", exact=True)).to_have_count(1)
    expect(page.locator("[data-line]:focus")).to_contain_text("value_5 = 5")
    assert "value_5 =" in staged(folder)
    assert "value_60" not in staged(folder)

    # What follows the control that has the focus.
    card.get_by_role("button", name="Comment on the change in Lines 58 to 64").focus()
    page.keyboard.press("]")
    expect(page.locator("[data-line]:focus")).to_contain_text("value_60 = 60")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(card.locator("[data-comment-lines]")).to_have_text("Line 61")
    page.keyboard.press("Escape")
    expect(page.locator("[data-line]:focus")).to_contain_text("value_60 = None")
    card.get_by_role("button", name="Comment on the change in Lines 58 to 64").click()
    expect(card.locator("[data-comment-lines]")).to_have_text("Line 61")
    card.get_by_placeholder("What should the agent know about it?").fill("Why None")
    card.get_by_role("button", name="Add comment").click()
    expect(card.locator(".comment")).to_contain_text("Why None")
    expect(page.locator("[data-line]:focus")).to_contain_text("value_60 = None")

    # What is half below the head of its file can be scrolled from under it.
    pane.locator("[data-diffs]").evaluate("(area) => area.scrollTo(0, 0)")
    look(page, "hunks")
    card.get_by_role("button", name="Revert Lines 58 to 64").click()
    expect(card.locator("[data-line]", has_text="value_60 = None")).to_have_count(0)
    assert "value_60 = 60" in (folder / "long.py").read_text()
    undo = pane.get_by_role("button", name="Undo and bring the change back")
    expect(undo).to_be_visible()
    # The hunk that had the focus is gone, so its file has it.
    expect(card.locator("summary.file-head")).to_be_focused()
    expect(card).to_contain_text("partly reverted")
    expect(card.get_by_label("Revert long.py…")).to_be_visible()
    expect(page.locator("#announce")).to_have_text("Files restored.")
    wait_until_read(page)
    # What gets the focus is scrolled out from under the head.
    card.evaluate("(card) => card.scrollIntoView() || card.closest('[data-diffs]').scrollBy(0, 30)")
    page.keyboard.press("Tab")
    expect(undo).to_be_focused()
    head, place = card.locator("summary.file-head").bounding_box(), undo.bounding_box()
    assert head
    assert place
    assert place["y"] >= head["y"] + head["height"]
    page.keyboard.press("]")
    page.keyboard.press("Shift+r")
    expect(card).to_have_count(0)
    expect(page.locator(":focus")).to_be_visible()
    # What was done is said, with the way back.
    toast = page.locator("[data-toast]", has_text="These lines of long.py go back")
    expect(toast).to_have_count(1)
    toast.get_by_role("button", name="Undo").press("Enter")
    expect(toast).to_have_count(0)
    expect(card).to_contain_text("value_60 = None")
    expect(card).to_contain_text("value_5 = 5 + 1")


def test_the_focus_stays_in_the_review_while_one_file_after_another_is_reverted(
    server: Installation, client: httpx.Client, folder: Path, page: Page
) -> None:
    change_long_file(folder)
    pane = open_review(page, server, client)
    pane.get_by_label("Changes to show").press("Escape")
    expect(pane.get_by_role("region", name="Diffs")).to_be_focused()
    for name in ("added.md", "long.py"):
        card = pane.locator("[data-file-card]", has_text=name)
        card.get_by_label(f"Revert {name}…").press("Enter")
        card.get_by_role("button", name=f"Revert {name}", exact=True).press("Enter")
        expect(card).to_have_count(0)
        focused = page.locator(":focus")
        expect(focused).to_be_visible()
        assert focused.evaluate("(one) => one.getBoundingClientRect().width") > 1


def test_a_hunk_that_has_changed_since_is_left_alone_and_drawn_anew(
    server: Installation, client: httpx.Client, folder: Path, page: Page
) -> None:
    change_long_file(folder)
    pane = open_review(page, server, client)
    card = pane.locator("[data-file-card]", has_text="long.py")
    revert = card.get_by_role("button", name="Revert Lines 58 to 64")
    expect(revert).to_be_visible()
    written = (folder / "long.py").read_text().replace("None", "'now'")
    (folder / "long.py").write_text(written)
    revert.click()
    expect(page.locator("#toasts")).to_contain_text("The file has changed since you looked at it.")
    expect(card).to_contain_text("value_60 = 'now'")
    assert (folder / "long.py").read_text() == written


def test_what_is_staged_is_committed_and_the_commit_is_looked_at(
    server: Installation, client: httpx.Client, folder: Path, page: Page
) -> None:
    change_long_file(folder)
    pane = open_review(page, server, client)
    card = pane.locator("[data-file-card]", has_text="long.py")
    expect(pane.get_by_text("Commit all 2 files")).to_have_count(1)
    card.get_by_role("button", name="Stage Lines 58 to 64").click()
    expect(pane.get_by_text("Commit staged changes in 1 file")).to_have_count(1)
    pane.locator("summary", has_text="Commit…").press("Enter")
    pane.get_by_label("Message").fill("Forget the sixtieth")
    page.set_viewport_size(PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    page.set_viewport_size(DESK)
    pane.get_by_role("button", name="Commit staged changes in 1 file").press("Enter")
    commit = pane.get_by_role("region", name="Commit", exact=True)
    expect(commit).to_contain_text("Committed", timeout=60_000)
    expect(commit.locator(":focus")).to_contain_text("Committed")
    expect(pane.get_by_label("Message")).to_be_hidden()
    expect(card.locator("[data-line]", has_text="value_60 = None")).to_have_count(0)
    expect(card).to_contain_text("value_5 = 5 + 1")
    run = ["git", "-C", str(folder), "log", "-1", "--format=%s"]
    assert subprocess.run(run, capture_output=True, text=True).stdout == "Forget the sixtieth\n"

    commit.get_by_role("link", name="Show the commit").click()
    expect(pane.get_by_label("Changes to show")).to_have_value("commit")
    expect(card).to_contain_text("value_60 = None")
    expect(card).not_to_contain_text("value_5 = 5 + 1")
    assert "source=commit" in page.url


def test_a_changed_picture_is_laid_over_the_one_before(
    server: Installation, client: httpx.Client, folder: Path, page: Page
) -> None:
    (folder / "till.png").write_bytes(picture(200, 30, 30))
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "Picture")
    (folder / "till.png").write_bytes(picture(30, 120, 30))
    (folder / "new.png").write_bytes(picture(30, 30, 200))
    pane = open_review(page, server, client)
    card = pane.locator("[data-file-card]", has_text="till.png")
    before, after = (card.get_by_alt_text(f"till.png as it {said}") for said in ("was", "is now"))
    expect(before.locator("visible=true")).to_have_count(1)
    card.get_by_role("radio", name="Side by side").focus()
    page.keyboard.press("ArrowRight")
    expect(card.get_by_role("radio", name="Overlay")).to_be_focused()
    slider = card.get_by_role("slider")
    expect(slider).to_be_visible()
    expect(after.locator("visible=true")).to_have_count(1)
    edge = "(image) => getComputedStyle(image.parentElement).clipPath"
    shown = after.locator("visible=true")
    assert shown.evaluate(edge) == "inset(0px 0px 0px 50%)"
    page.keyboard.press("Tab")
    expect(slider).to_be_focused()
    page.keyboard.press("Home")
    assert shown.evaluate(edge) == "inset(0px 0px 0px 0%)"
    page.keyboard.press("ArrowRight")
    assert shown.evaluate(edge) == "inset(0px 0px 0px 1%)"
    page.keyboard.press("End")
    assert before.locator("visible=true").evaluate(edge) == "inset(0px 0% 0px 0px)"
    # There is nothing to lay a new one over.
    assert pane.get_by_role("radio").count() == 2
    # Last, because it tries other widths, and with each the diffs come anew.
    look(page, "pictures")


def picture(*colour: int) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        checked = kind + data
        return struct.pack(">I", len(data)) + checked + struct.pack(">I", zlib.crc32(checked))

    rows = (b"\0" + bytes(colour) * 240) * 160
    head = struct.pack(">IIBBBBB", 240, 160, 8, 2, 0, 0, 0)
    start = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head)
    return start + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
