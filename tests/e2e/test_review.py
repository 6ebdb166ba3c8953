"""What people do in the changes pane of a session, on a real server."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.e2e.browser import of_page, phone
from tests.e2e.installation import Installation
from tests.e2e.rest import new_session

pytestmark = [*of_page, pytest.mark.deep]
PHONE = {"width": 390, "height": 844}
DESK = {"width": 1440, "height": 900}
FILES = 5_000


def git(folder: Path, *arguments: str) -> None:
    name = ("-c", "user.name=a", "-c", "user.email=a@b")
    subprocess.run(["git", *name, "-C", str(folder), *arguments], check=True, capture_output=True)


@pytest.fixture
def folder(server: Installation, client: httpx.Client) -> Iterator[Path]:
    """The project's folder with a commit, on a branch of its own.

    Asked for before the page: what that still fetches must not find the files gone.
    """
    (project,) = [one for one in client.get("/project").json() if one["id"] == server.project]
    folder = Path(project["worktree"])
    git(folder, "branch", "-M", "main")
    (folder / "long.py").write_text("".join(f"value_{n} = {n}\n" for n in range(80)))
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "First", "--allow-empty")
    git(folder, "switch", "-qC", "topic")
    yield folder
    git(folder, "add", "-A")
    git(folder, "reset", "-q", "--hard", "main")
    git(folder, "switch", "-q", "main")


def change_long_file(folder: Path) -> None:
    lines = [f"value_{n} = {n}\n" for n in range(80)]
    lines[5], lines[60] = "value_5 = 5 + 1\n", "value_60 = None\n"
    (folder / "long.py").write_text("".join(lines))
    (folder / "added.md").write_text("# New\n")


def test_sources_are_chosen_and_files_and_changes_reached_with_keys(
    server: Installation, client: httpx.Client, folder: Path, page: Page
) -> None:
    change_long_file(folder)
    session = new_session(client)
    # The key of the tab that is open closes it, and an account keeps its tab.
    page.goto(f"{server.url}/t/{server.team}/s/{session}?panel=context")
    expect(page.locator("#live")).to_have_attribute("data-state", "live")
    page.keyboard.press("c")
    pane = page.locator("#changes")
    expect(pane).to_contain_text("No files changed yet.")
    pane.get_by_label("Changes to show").select_option("Uncommitted")
    cards = pane.locator("[data-file-card]")
    expect(cards).to_have_count(2)
    expect(cards.last).to_contain_text("value_5 = 5 + 1")
    assert "panel=changes&source=uncommitted" in page.url
    expect(cards.last.locator("mark").first).to_have_text(" + 1")

    pane.locator("[data-diffs]").focus()
    page.keyboard.press("n")
    page.keyboard.press("n")
    expect(cards.last.locator("[data-file-fold] > summary")).to_be_focused()
    # Arrows go from a file's head into its lines, and back over it to the file before.
    page.keyboard.press("ArrowDown")
    expect(page.locator("[data-line]:focus")).to_contain_text("value_2 = 2")
    page.keyboard.press("ArrowUp")
    expect(cards.last.locator("[data-file-fold] > summary")).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(cards.first.locator("[data-line]").last).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("]")
    page.keyboard.press("]")
    expect(page.locator("[data-line]:focus")).to_contain_text("value_60 = 60")
    page.keyboard.press("ArrowDown")
    expect(page.locator("[data-line]:focus")).to_contain_text("value_60 = None")
    page.keyboard.press("[")
    page.keyboard.press("[")
    expect(page.locator("[data-line]:focus")).to_contain_text("value_5 = 5")
    # The address keeps the source.
    page.set_viewport_size(PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    page.reload()
    expect(cards).to_have_count(2)
    expect(pane.get_by_label("Changes to show")).to_have_value("uncommitted")


def fold_by_keys(page: Page) -> None:
    """Unfold all files and fold them again, and look at the list of keys."""
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("Shift+e")
    page.keyboard.press("]")
    expect(page.locator("[data-line]:focus")).to_be_visible()
    page.keyboard.press("Shift+e")
    expect(page.locator("summary.file-head:focus")).to_be_visible()
    page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Commands and shortcuts")
    expect(keys.get_by_text("Comment on the lines")).to_be_visible()
    # Of two with the same keys the one that acts here.
    expect(keys.get_by_text("Previous change", exact=True)).to_be_visible()
    expect(keys.get_by_text("Show or hide the session list")).to_be_hidden()
    page.keyboard.press("Escape")


def test_changes_are_reviewed_in_the_full_window(
    server: Installation, client: httpx.Client, folder: Path, page: Page
) -> None:
    change_long_file(folder)
    (folder / "package-lock.json").write_text('{"name": "till"}\n')
    session = new_session(client)
    page.goto(f"{server.url}/t/{server.team}/s/{session}?panel=changes&source=uncommitted")
    pane, chat = page.locator("#changes"), page.get_by_label("Turns")
    cards = pane.locator("[data-file-card]")
    expect(cards).to_have_count(3)
    # Beside the conversation there is no room for two columns, so nothing offers them.
    expect(pane.get_by_role("button", name="Split")).to_be_hidden()

    page.locator("body").press("e")
    expect(chat).to_be_hidden()
    expect(page.get_by_role("navigation", name="Sessions")).to_be_hidden()
    assert "full=1" in page.url
    pane.get_by_role("button", name="Split").click()
    changed = cards.filter(has_text="value_5 = 5 + 1")
    expect(changed.locator(".diff-split")).to_be_visible()
    # What is on one side only has one column.
    added = cards.filter(has_text="added.md")
    expect(added).to_contain_text("# New")
    expect(added.locator(".diff-split")).to_have_count(0)
    # Nobody reads a lock file, unless they open it.
    lock = cards.filter(has_text="package-lock.json")
    expect(lock.get_by_text("generated", exact=True)).to_be_visible()
    expect(lock.locator("[data-line]")).to_have_count(0)
    lock.locator("summary.file-head").click()
    expect(lock).to_contain_text('{"name": "till"}')

    files = pane.get_by_role("navigation", name="Files")
    assert files.evaluate("(one) => one.clientWidth") > 300
    pane.get_by_role("button", name="File list").click()
    expect(files).to_have_count(0)
    pane.get_by_role("button", name="Expand or collapse all files").click()
    expect(pane.locator("[data-line]:visible")).to_have_count(0)
    # Its keys act wherever the focus is, and what is folded hands the focus to its head.
    fold_by_keys(page)
    page.keyboard.press("Shift+e")
    page.keyboard.press("t")
    expect(files).to_be_visible()
    expect(changed.get_by_text("value_5 = 5 + 1")).to_be_visible()

    page.keyboard.press("u")
    expect(pane.locator(".diff-split")).to_have_count(0)
    page.keyboard.press("u")
    expect(changed.locator(".diff-split")).to_be_visible()
    # Where there is no room for two columns there is one.
    page.set_viewport_size(PHONE)
    expect(pane.locator(".diff-split")).to_have_count(0)
    page.set_viewport_size(DESK)
    expect(changed.locator(".diff-split")).to_be_visible()

    # All of it is there again after a reload, and beside the conversation with one column.
    page.reload()
    expect(chat).to_be_hidden()
    expect(changed.locator(".diff-split")).to_be_visible()
    page.keyboard.press("Escape")
    expect(chat).to_be_visible()
    expect(changed).to_contain_text("value_5 = 5 + 1")
    expect(pane.locator(".diff-split")).to_have_count(0)
    assert "full=1" not in page.url
    # What a file can have done to it stays at its head while its lines go by.
    page.keyboard.press("e")
    changed.get_by_text("value_60 = None").scroll_into_view_if_needed()
    added.get_by_label("Revert added.md…").click()
    expect(added.get_by_role("button", name="Revert added.md")).to_be_visible()
    # That goes first; the full window stays.
    page.keyboard.press("Escape")
    expect(added.get_by_role("button", name="Revert added.md")).to_be_hidden()
    expect(chat).to_be_hidden()
    changed.get_by_role("link", name="Open long.py").click()
    expect(page.get_by_role("article", name="long.py")).to_be_visible()
    expect(chat).to_be_visible()


def test_a_long_line_is_wrapped_or_scrolled_and_shown_whole_when_asked_for(
    server: Installation, client: httpx.Client, folder: Path, page: Page
) -> None:
    (folder / "wide.py").write_text(f"text = '{'x' * 3_000}'\n")
    session = new_session(client)
    page.goto(f"{server.url}/t/{server.team}/s/{session}?panel=changes&source=uncommitted&full=1")
    pane = page.locator("#changes")
    wide = pane.locator("[data-file-card]").filter(has_text="wide.py")
    expect(wide.locator(".diff-code")).to_be_visible()
    assert len(wide.locator(".diff-code").inner_text()) < 2_100
    wide.get_by_role("link", name="Show line").click()
    expect(wide.get_by_role("link", name="Show line")).to_have_count(0)
    assert len(wide.locator(".diff-code").inner_text()) > 3_000
    fits = "(element) => element.scrollWidth <= element.clientWidth"
    assert pane.get_by_role("region", name="Diffs").evaluate(fits)
    pane.get_by_role("button", name="Wrap").click()
    expect(pane.get_by_role("button", name="Wrap")).to_have_attribute("aria-pressed", "false")
    table = wide.locator(".diff")
    assert not table.evaluate(fits)
    page.reload()
    expect(pane.get_by_role("button", name="Wrap")).to_have_attribute("aria-pressed", "false")
    pane.get_by_role("button", name="Wrap").click()
    expect(pane.get_by_role("button", name="Wrap")).to_have_attribute("aria-pressed", "true")


@pytest.mark.deep
def test_nfr_01_a_branch_of_five_thousand_files_opens_quickly_and_its_last_file_is_reached(
    server: Installation, client: httpx.Client, folder: Path, page: Page
) -> None:
    for number in range(FILES):
        inside = folder / "many" / f"part{number % 20:02}"
        inside.mkdir(parents=True, exist_ok=True)
        (inside / f"file{number:04}.py").write_text(f"number = {number}\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "Many")
    session = new_session(client)
    page.add_init_script(
        "window.longest = 0; new PerformanceObserver((list) => list.getEntries().forEach("
        "({ duration }) => { window.longest = Math.max(window.longest, duration) }))"
        ".observe({ type: 'longtask', buffered: true })"
    )
    page.goto(f"{server.url}/t/{server.team}/s/{session}?panel=changes&source=branch")
    pane = page.locator("#changes")
    expect(pane).to_contain_text("5000 files")
    expect(pane.locator("[data-file-card]").first).to_contain_text("number = 0")
    # Generous: other tests share the processors.
    assert page.evaluate("document.querySelectorAll('*').length") < 6_000
    folder_row = pane.locator("summary", has_text="part19")
    pane.locator("summary", has_text="many").or_(folder_row).first.click()
    folder_row.click()
    pane.get_by_role("link", name="file4999.py").click()
    last = pane.locator("[data-file-card]", has_text="file4999.py")
    expect(last).to_be_in_viewport()
    expect(last).to_contain_text("number = 4999")
    assert page.evaluate("document.querySelectorAll('*').length") < 8_000
    assert page.evaluate("window.longest") < 1_500
    pane.get_by_label("Filter changed files").fill("file0042")
    expect(pane.locator("[data-file-card]")).to_have_count(1)
    expect(pane.get_by_label("Filter changed files")).to_be_focused()


def test_taps_on_lines_choose_what_a_comment_is_about(
    server: Installation, client: httpx.Client, folder: Path, signed_in: BrowserContext
) -> None:
    change_long_file(folder)
    session = new_session(client)
    with phone(signed_in) as page:
        page.goto(f"{server.url}/t/{server.team}/s/{session}?panel=changes&source=uncommitted")
        expect(page.locator("#live")).to_have_attribute("data-state", "live")
        card = page.locator("[data-file-card]", has_text="long.py")
        row = card.locator("[data-line]", has_text="value_5 = 5 + 1")
        row.locator(".diff-code").tap()
        expect(card.get_by_placeholder("What should the agent know about it?")).to_be_focused()
        expect(card.locator("[data-comment-form]")).to_contain_text("Tap another line")
        card.locator("[data-line]", has_text="value_7 = 7").locator(".diff-code").tap()
        expect(card.locator("[data-comment-lines]")).to_have_text("Lines 6 to 8")

        # With a keyboard on the screen there is room for the form, and for nothing beside it.
        page.set_viewport_size({"width": 390, "height": 500})
        add = card.get_by_role("button", name="Add comment")
        expect(add).to_be_in_viewport(ratio=1)
        expect(page.locator("#pane-switch")).to_be_hidden()
        expect(page.get_by_text("Commit…")).to_be_hidden()
        page.set_viewport_size(PHONE)
        card.get_by_role("button", name="Cancel").tap()
        expect(page.get_by_text("Commit…")).to_be_in_viewport()
        files = page.get_by_role("navigation", name="Files", exact=True)
        expect(files.get_by_role("link")).to_have_count(0)
        files.get_by_text("File list").tap()
        expect(files.get_by_role("link")).to_have_count(2)
        head = page.locator("#changes-head").bounding_box()
        assert head
        assert head["height"] < 60


def test_a_review_on_a_phone_on_its_side_is_mostly_lines(
    server: Installation, client: httpx.Client, folder: Path, signed_in: BrowserContext
) -> None:
    change_long_file(folder)
    session = new_session(client)
    with phone(signed_in) as page:
        page.set_viewport_size({"width": 844, "height": 390})
        page.goto(
            f"{server.url}/t/{server.team}/s/{session}?panel=changes&source=uncommitted&full=1"
        )
        expect(page.locator("[data-file-card]", has_text="value_5 = 5 + 1")).to_be_visible()
        diffs = page.get_by_role("region", name="Diffs").bounding_box()
        assert diffs
        assert 390 - diffs["y"] >= 0.6 * 390
        # There is a way back without the bars that are not there.
        expect(page.get_by_role("button", name="Back to the side panel")).to_be_in_viewport(ratio=1)


def test_the_toolbar_of_a_review_fits_a_small_phone(
    server: Installation, client: httpx.Client, folder: Path, signed_in: BrowserContext
) -> None:
    change_long_file(folder)
    session = new_session(client)
    with phone(signed_in) as page:
        page.set_viewport_size({"width": 320, "height": 700})
        page.goto(f"{server.url}/t/{server.team}/s/{session}?panel=changes&source=uncommitted")
        expect(page.locator("#live")).to_have_attribute("data-state", "live")
        expect(page.get_by_label("Changes to show")).to_be_in_viewport(ratio=1)
        wrap = page.get_by_role("button", name="Wrap")
        expect(wrap).to_be_hidden()
        page.get_by_role("checkbox", name="View options").tap()
        for name in ("Wrap", "Whitespace", "Expand or collapse all files"):
            expect(page.get_by_role("button", name=name)).to_be_in_viewport(ratio=1)
        wrap.tap()
        expect(wrap).to_have_attribute("aria-pressed", "false")
        page.get_by_label("Filter changed files").fill("added")
        expect(page.locator("[data-file-card]")).to_have_count(1)
        wrap.tap()
        expect(wrap).to_have_attribute("aria-pressed", "true")
        viewed = page.get_by_role("checkbox", name="Viewed").bounding_box()
        assert viewed
        assert min(viewed["width"], viewed["height"]) >= 24


def test_comments_and_viewed_marks_are_kept_and_sent_as_one_message(
    server: Installation, client: httpx.Client, folder: Path, page: Page
) -> None:
    change_long_file(folder)
    session = new_session(client)
    page.goto(f"{server.url}/t/{server.team}/s/{session}?panel=changes&source=uncommitted")
    expect(page.locator("#live")).to_have_attribute("data-state", "live")
    pane = page.locator("#changes")
    card = pane.locator("[data-file-card]", has_text="long.py")
    row = card.locator("[data-line]", has_text="value_5 = 5 + 1")
    row.locator(".diff-number").last.click()
    field = card.get_by_placeholder("What should the agent know about it?")
    expect(field).to_be_focused()
    field.fill("Why this")
    later = card.locator("[data-line]", has_text="value_7 = 7")
    later.locator(".diff-number").last.click(modifiers=["Shift"])
    expect(card.locator("[data-picked]")).to_have_count(3)
    expect(field).to_have_value("Why this")

    # What changes elsewhere meanwhile leaves the form and its words alone.
    with page.expect_response(lambda answer: "panel=changes" in answer.url):
        page.evaluate("document.getElementById('changes-mark').dataset.changesMark = 'other'")
    expect(field).to_have_value("Why this")
    card.get_by_role("button", name="Add comment").click()
    expect(card.locator(".comment")).to_contain_text("Lines 6 to 8")
    expect(pane.get_by_role("button", name="Send 1 comment")).to_be_visible()

    # By keyboard, from the line that has the focus.
    pane.locator("[data-diffs]").focus()
    page.keyboard.press("n")
    page.keyboard.press("n")
    page.keyboard.press("]")
    page.keyboard.press("Shift+ArrowDown")
    page.keyboard.press("Shift+ArrowDown")
    expect(card.locator("[data-picked]")).to_have_count(3)
    page.keyboard.press("c")
    expect(card.locator("[data-comment-lines]")).to_have_text("Lines 6 to 7")
    expect(field).to_be_focused()
    page.keyboard.type("And this")
    page.keyboard.press("Control+Enter")
    expect(card.locator(".comment")).to_have_count(2)
    page.reload()
    expect(card.locator(".comment")).to_have_count(2)

    added = pane.locator("[data-file-card]", has_text="added.md")
    added.locator("summary").first.focus()
    # On the head of a file it is about its first change, and words are for the comment at once.
    page.keyboard.type("cnew")
    expect(added.get_by_placeholder("What should the agent know about it?")).to_have_value("new")
    added.get_by_role("button", name="Cancel").click()
    added.locator("summary").first.focus()
    page.keyboard.press("v")
    expect(pane).to_contain_text("1 of 2 viewed")
    expect(added.locator(".file-body")).to_be_hidden()
    # A folded file is no end of the way.
    for key, text in (("]", "value_5 = 5"), ("[", "added.md"), ("]", "value_5 = 5")):
        page.keyboard.press(key)
        expect(page.locator(":is([data-line], summary):focus")).to_contain_text(text)
    page.set_viewport_size(PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    page.set_viewport_size(DESK)

    pane.get_by_role("button", name="Send 2 comments").click()
    expect(page.get_by_role("log")).to_contain_text("Please look at these comments.")
    expect(page.get_by_role("log")).to_contain_text("And this")
    expect(card.locator(".comment")).to_have_count(0)
    page.locator("#toasts").get_by_role("link", name="Show the message").press("Enter")
    expect(page.locator("article:target")).to_contain_text("And this")
