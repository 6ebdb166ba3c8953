from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.browser import chromium, in_chromium
from tests.e2e.installation import PASSWORD, Installation, installation

pytestmark = [*in_chromium, pytest.mark.timeout(240)]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as made:
        yield made


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Installation]:
    with installation(tmp_path / "installation") as made:
        made.start()
        yield made


def set_up_owner(page: Page, server: Installation) -> None:
    address = re.search(r"http://\S+/setup\?key=\S+", server.log())
    assert address, server.log()
    page.goto(address.group())
    page.get_by_label("Your name").fill("Ada")
    page.get_by_label(re.compile("mail")).fill("ada@example.com")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_label(re.compile("Team")).fill("Till team")
    page.get_by_role("button", name="Create owner").click()


def test_from_the_first_page_to_a_fixed_bug(fresh: Installation, browser: Browser) -> None:
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda m: problems.append(m.text) if m.type == "error" else None)
    set_up_owner(page, fresh)
    expect(page.get_by_role("heading", name="Sample project")).to_be_visible()

    (till,) = (fresh.data / "data").rglob("worktrees/**/till.py")
    tests = ["python3", "-m", "unittest", "-q"]
    assert subprocess.run(tests, cwd=till.parent, capture_output=True).returncode == 1

    page.locator("[data-prompt]").fill("The till test fails. Please fix it.")
    page.get_by_role("button", name="Start").click()
    log = page.get_by_role("log")
    expect(log).to_contain_text("I am a scripted demo", timeout=20_000)
    expect(page.locator("#prompt")).to_be_focused()

    card = page.locator("[data-permission]")
    expect(card).to_contain_text("till.py", timeout=30_000)
    before = till.read_text()
    # The card refuses answers for half a second after it came, so that nobody approves by accident.
    page.wait_for_timeout(700)
    card.get_by_role("button", name="Allow once").click()
    expect(card).to_contain_text("python3 -m unittest -q", timeout=30_000)
    assert till.read_text() != before
    # Nobody has written anything meanwhile, so the card has the focus, and hears its keys.
    expect(card).to_be_focused()
    page.wait_for_timeout(700)
    page.keyboard.press("y")

    expect(log).to_contain_text("the tests pass", timeout=30_000)
    expect(page.get_by_text("1 file").first).to_be_visible()
    expect(page.get_by_text("Done", exact=True).first).to_be_visible(timeout=10_000)
    assert subprocess.run(tests, cwd=till.parent, capture_output=True).returncode == 0

    # It has one story, and says so to who asks for something else.
    expect(page.locator("#prompt")).to_be_focused()
    page.keyboard.type("Write a haiku about the moon")
    page.keyboard.press("Enter")
    answer = log.locator(".parts").last
    expect(answer).to_contain_text("I play only one story", timeout=20_000)
    expect(page.get_by_text("Done", exact=True).first).to_be_visible(timeout=20_000)
    models = answer.get_by_role("link", name="Team settings → Models")
    assert re.fullmatch(r"/t/[^/]+/settings/models/", models.get_attribute("href") or "")
    expect(log.locator(".error, .tool-error")).to_have_count(0)
    live = log.inner_text()
    page.reload()
    expect(page.get_by_role("log")).to_contain_text("the tests pass")
    assert squeeze(page.get_by_role("log").inner_text()) == squeeze(live)
    assert problems == []
    context.close()


def squeeze(text: str) -> str:
    return " ".join(text.split())


def test_without_javascript_the_conversation_is_shown(
    server: Installation, browser: Browser
) -> None:
    from tests.e2e.rest import ask, new_session, script

    with server.client() as client:
        session = new_session(client)
        ask(client, session, script([{"text": "Hello without scripts."}]))
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{server.url}/login")
    page.get_by_label(re.compile("mail", re.I)).fill(server.email)
    page.get_by_label(re.compile("Password")).fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.goto(f"{server.url}/")
    address = page.url.rstrip("/")
    page.goto(f"{address}/s/{session}")
    expect(page.get_by_role("log")).to_contain_text("Hello without scripts.")
    context.close()


@pytest.mark.deep
def test_ten_browsers_watch_one_session(server: Installation, browser: Browser) -> None:
    from tests.e2e.rest import body, new_session, script

    contexts = [browser.new_context() for _ in range(10)]
    first = contexts[0].new_page()
    first.goto(f"{server.url}/login")
    first.get_by_label(re.compile("mail", re.I)).fill(server.email)
    first.get_by_label(re.compile("Password")).fill(PASSWORD)
    first.get_by_role("button", name="Sign in", exact=True).click()
    first.goto(f"{server.url}/")
    home = first.url.rstrip("/")
    cookies = contexts[0].cookies()
    with server.client() as client:
        session = new_session(client)
        pages = [first]
        for context in contexts[1:]:
            context.add_cookies(cookies)
            pages.append(context.new_page())
        for page in pages:
            page.goto(f"{home}/s/{session}")
        words = " ".join(f"word{number}" for number in range(200))
        steps = [{"text": words}, {"tool": "list", "input": {}}], [{"text": "And that is all."}]
        prompt = script(*steps)
        client.post(f"/session/{session}/prompt_async", json=body(prompt))
        for page in pages:
            expect(page.get_by_role("log")).to_contain_text("And that is all.", timeout=30_000)
            # The line below the turn comes with its end.
            expect(page.locator(".turn")).to_contain_text("tokens")
        shown = {squeeze(page.locator(".turn").inner_text()) for page in pages}
        assert len(shown) == 1
        # Once in the answer, besides the script that the prompt shows.
        assert shown.pop().count("word199") == 1 + prompt.count("word199")
    for context in contexts:
        context.close()
