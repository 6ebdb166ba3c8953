"""From a file that an agent changed to a pull request, without leaving the browser."""

from __future__ import annotations

import re
import subprocess
import threading
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, expect

from sessions.forges.adapter import ForgeKind
from tests.e2e.browser import of_page
from tests.e2e.installation import Installation
from tests.e2e.rest import approve_everything, ask, script
from tests.sessions.forges.servers import TOKEN, FakeForge, forge
from tests.sessions.git_server import git_server

pytestmark = [*of_page, pytest.mark.timeout(300)]
WAIT_MS = 60_000


@pytest.fixture
def session(client: httpx.Client) -> str:
    """A session in a worktree, whose agent has written two files."""
    session = str(client.post("/session", json={"worktree": True, "title": "Tills"}).json()["id"])
    stop = threading.Event()
    approving = approve_everything(client, stop)
    calls = [
        {"tool": "write", "input": {"filePath": name, "content": f"{name}\n"}}
        for name in ("first.txt", "second.txt")
    ]
    ask(client, session, script(calls, [{"text": "Written."}]))
    stop.set()
    approving.join()
    return session


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    path = tmp_path / "acme" / "till.git"
    path.mkdir(parents=True)
    git(path, "init", "--quiet", "--bare")
    git(path, "config", "http.receivepack", "true")
    return path


def git(folder: Path, *arguments: str) -> str:
    return subprocess.run(
        ["git", *arguments], cwd=folder, check=True, capture_output=True, text=True
    ).stdout


def fits(page: Page) -> None:
    for width in (390, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def set_up(page: Page, project: str, fake: FakeForge, remote: str) -> None:
    page.goto(f"{project}settings")
    page.get_by_role("main").get_by_role("link", name="Publishing").click()
    page.get_by_label("Repository").fill(remote)
    page.get_by_label(re.compile("^Forge")).select_option("gitea")
    page.get_by_label("API address").fill(fake.api)
    page.get_by_label("Access token").fill(TOKEN)
    page.get_by_role("button", name="Save").click()
    expect(page.locator("main")).to_contain_text(remote)
    assert TOKEN not in page.content()


@pytest.mark.deep
def test_a_change_is_committed_pushed_and_proposed(
    server: Installation, page: Page, session: str, bare: Path, tmp_path: Path
) -> None:
    team = f"{server.url}/t/{server.team}"
    with forge(ForgeKind.GITEA) as fake, git_server(tmp_path) as place:
        set_up(page, f"{team}/p/{server.project}/", fake, f"http://{place}/acme/till.git")
        page.goto(f"{team}/s/{session}")
        page.get_by_label("More about this session").click()
        page.get_by_role("link", name="Commit, push, pull request").first.click()
        panel = page.locator("#publish")
        expect(panel).to_contain_text("2 files", timeout=WAIT_MS)
        fits(page)

        panel.get_by_label("Message").fill("Add the first")
        panel.get_by_label("Only the files").check()
        panel.locator("summary", has_text="2 files").click()
        panel.get_by_label("second.txt").uncheck()
        panel.get_by_role("button", name="Commit").click()
        expect(panel).to_contain_text("Committed", timeout=WAIT_MS)
        expect(panel).to_contain_text("1 file")

        panel.get_by_role("button", name="Push", exact=True).click()
        expect(panel).to_contain_text("Pushed as opencode/", timeout=WAIT_MS)
        (branch,) = git(bare, "branch", "--format=%(refname:short)").split()
        assert git(bare, "show", "--name-only", "--format=%s", branch).split("\n\n") == [
            "Add the first",
            "first.txt\n",
        ]

        fake.branches.add(branch)
        expect(panel.get_by_label("Title")).to_have_value("Add the first")
        panel.get_by_label("Description").fill("What it is for.")
        panel.get_by_label("As a draft").check()
        panel.get_by_role("button", name="Open the pull request").click()
        expect(panel).to_contain_text("Opened the pull request #1.", timeout=WAIT_MS)
        link = panel.get_by_role("link", name="#1")
        expect(link).to_have_attribute("href", f"{fake.page}/pulls/1")
        expect(panel).to_contain_text("Draft")
        fits(page)
        assert fake.pulls[0]["title"] == "WIP: Add the first"
        assert fake.pulls[0]["body"] == "What it is for."
        assert fake.pulls[0]["head"]["ref"] == branch

        # Lists have it without being asked, beside the page that it was opened on.
        row = page.locator(f"#row-{session}")
        expect(row.get_by_role("link", name="#1")).to_have_attribute("href", f"{fake.page}/pulls/1")
        page.goto(f"{team}/s/{session}")
        header = page.locator("#session-header")
        expect(header.get_by_role("link", name=re.compile("#1"))).to_be_visible()
        expect(header).to_contain_text("Draft")
