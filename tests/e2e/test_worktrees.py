"""A session in its own worktree, from the first prompt to what is left of it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.browser import in_chromium
from tests.e2e.installation import Installation
from tests.e2e.rest import body, script

pytestmark = [*in_chromium, pytest.mark.timeout(300)]
WAIT_MS = 60_000


@pytest.fixture
def shop(client: httpx.Client) -> Path:
    (project,) = client.get("/project").json()
    return Path(project["worktree"])


def git(folder: Path, *arguments: str) -> str:
    return subprocess.run(
        ["git", *arguments], cwd=folder, check=True, capture_output=True, text=True
    ).stdout


def ask(page: Page, client: httpx.Client, name: str, text: str) -> None:
    """Have the agent write a file, and allow it on the page of its session."""
    call = {"tool": "write", "input": {"filePath": name, "content": text}}
    said = script([call], [{"text": f"Wrote {name}."}])
    session = page.url.rpartition("/")[2]
    client.post(f"/session/{session}/prompt_async", json=body(said)).raise_for_status()
    card = page.locator("[data-permission]")
    expect(card).to_contain_text(name, timeout=WAIT_MS)
    # It hears nothing for the first half second, so that nobody answers by accident.
    page.wait_for_timeout(600)
    card.get_by_role("button", name="Allow once").click()
    expect(page.get_by_role("log")).to_contain_text(f"Wrote {name}.", timeout=WAIT_MS)
    expect(page.get_by_role("button", name="Stop")).to_be_hidden(timeout=WAIT_MS)


def fits(page: Page) -> None:
    for width in (390, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def result(page: Page) -> Locator:
    return page.locator("#checkout > .notice").first


@pytest.mark.deep
def test_work_in_a_worktree_is_merged_rescued_restored_kept_and_deleted(
    server: Installation, client: httpx.Client, shop: Path, page: Page
) -> None:
    project = f"{server.url}/t/{server.team}/p/{server.project}/"
    session = client.post("/session", json={"worktree": True}).json()["id"]
    url = f"{server.url}/t/{server.team}/s/{session}"
    page.goto(url)
    expect(page.locator("#live")).to_have_attribute("data-state", "live")
    ask(page, client, "merged.txt", "one\n")
    assert not (shop / "merged.txt").exists()

    page.get_by_role("link", name="Worktree").click()
    checkout = page.locator("#checkout")
    expect(checkout).to_contain_text("1 file", timeout=WAIT_MS)
    fits(page)
    checkout.get_by_label("Message").fill("Add what is merged")
    checkout.get_by_role("button", name="Commit").click()
    expect(result(page)).to_contain_text("Committed", timeout=WAIT_MS)
    checkout.get_by_role("button", name="Merge into").click()
    expect(result(page)).to_contain_text("Merged into", timeout=WAIT_MS)
    assert (shop / "merged.txt").read_text() == "one\n"
    assert git(shop, "log", "-1", "--format=%s").strip() == "Add what is merged"

    # What nobody has committed is rescued, and the page says so.
    page.goto(url)
    expect(page.locator("#live")).to_have_attribute("data-state", "live")
    ask(page, client, "rescued.txt", "two\n")
    page.get_by_role("link", name="Worktree").click()
    expect(checkout).to_contain_text("1 file", timeout=WAIT_MS)
    drop(page)
    ref = f"refs/opencode/rescue/{session}"
    expect(result(page)).to_contain_text(f"kept as {ref}", timeout=WAIT_MS)
    assert git(shop, "show", f"{ref}:rescued.txt") == "two\n"
    assert not (shop / "rescued.txt").exists()

    page.get_by_role("button", name="Restore the worktree").click()
    expect(result(page)).to_contain_text("The worktree is back.", timeout=WAIT_MS)
    drop(page)
    expect(result(page)).to_contain_text(f"kept as {ref}", timeout=WAIT_MS)

    page.goto(project)
    rescued = page.locator("#rescued")
    expect(rescued).to_contain_text(ref)
    fits(page)
    rescued.locator("summary", has_text="Create a branch").click()
    fits(page)
    rescued.get_by_label("Branch name").fill("kept")
    rescued.get_by_role("button", name="Create branch").click()
    expect(rescued).to_contain_text("on the branch kept of the project", timeout=WAIT_MS)
    assert git(shop, "show", "kept:rescued.txt") == "two\n"
    rescued.locator("summary", has_text="Delete").click()
    rescued.get_by_role("button", name="Delete permanently").click()
    # A page that is read anew has no such section any more.
    expect(rescued.get_by_role("listitem")).to_have_count(0, timeout=WAIT_MS)
    assert "refs/opencode/" not in git(shop, "for-each-ref")
    assert git(shop, "show", "kept:rescued.txt") == "two\n"


def drop(page: Page) -> None:
    page.locator("summary", has_text="Remove the worktree").click()
    page.get_by_role("button", name="Remove", exact=True).click()
