"""What people do on a session's page, with the real runner behind it."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.e2e.browser import of_page
from tests.e2e.installation import Installation
from tests.e2e.rest import body, new_session, script, wait_for

pytestmark = [*of_page, pytest.mark.deep]
PHONE = {"width": 390, "height": 844}
Begin = Callable[..., str]


@pytest.fixture
def begin(server: Installation, client: httpx.Client, page: Page) -> Begin:
    """Open the page of a new session, and have the model play these steps. Returns: its id."""

    def run(*steps: list[dict[str, Any]]) -> str:
        session = new_session(client)
        page.goto(f"{server.url}/t/{server.team}/s/{session}")
        expect(page.locator("#live")).to_have_attribute("data-state", "live")
        client.post(f"/session/{session}/prompt_async", json=body(script(*steps)))
        return session

    return run


def settle(page: Page) -> None:
    """A card hears nothing for the first half second, so that nobody answers by accident."""
    page.wait_for_timeout(600)


def test_waiting_messages_are_moved_changed_and_removed_while_others_come(
    begin: Begin, client: httpx.Client, page: Page
) -> None:
    session = begin([{"text": "This takes long."}, {"delay_ms": 60_000}])
    expect(page.get_by_role("log")).to_contain_text("This takes long.")
    for text in ("one", "two"):
        page.locator("#prompt").fill(text)
        page.keyboard.press("Control+Enter")
        expect(page.locator("#prompt")).to_have_value("")
    rows = page.locator(".queue-row .queue-text")
    expect(rows).to_have_text(["ada one", "ada two"])

    page.get_by_role("button", name="Move up").last.focus()
    page.keyboard.press("Enter")
    expect(rows).to_have_text(["ada two", "ada one"])
    # The button went along with its row, and is still the one that the keys press.
    expect(page.get_by_role("button", name="Move up").first).to_be_focused()

    page.get_by_role("link", name="Edit the queued message").first.focus()
    page.keyboard.press("Enter")
    field = page.get_by_role("textbox", name="Edit the queued message")
    expect(field).to_be_focused()
    page.keyboard.press("Escape")
    expect(field).to_have_count(0)
    expect(page.locator(".queue-row").first).to_be_focused()
    page.get_by_role("link", name="Edit the queued message").first.press("Enter")
    expect(field).to_be_focused()
    assert field.evaluate("(text) => text.selectionStart === text.value.length")
    field.fill("two, but")
    elsewhere = body("three", delivery="queue")
    client.post(f"/session/{session}/prompt_async", json=elsewhere)
    expect(rows).to_have_count(3)
    expect(field).to_be_focused()
    page.keyboard.type(" changed")
    # What was typed is left and not lost.
    page.keyboard.press("Escape")
    expect(page.get_by_role("log")).to_be_focused()
    field.press("Control+Enter")
    expect(rows).to_have_text(["ada two, but changed", "ada one", "ada three"])
    expect(page.locator(".queue-row").first).to_be_focused()

    # By the grip before it, over the lower half of the last row.
    grips = page.locator("[data-grip]")
    place = page.locator(".queue-row").last.bounding_box()
    assert place is not None
    below = {"x": 40, "y": place["height"] - 4}
    grips.first.drag_to(page.locator(".queue-row").last, target_position=below)
    expect(rows).to_have_text(["ada one", "ada three", "ada two, but changed"])
    grips.last.drag_to(page.locator(".queue-row").first, target_position={"x": 40, "y": 4})
    expect(rows).to_have_text(["ada two, but changed", "ada one", "ada three"])

    for left in (2, 1):
        page.get_by_role("button", name="Remove “").first.focus()
        page.keyboard.press("Enter")
        expect(rows).to_have_count(left)
        # The next row, so that the same key does not remove it, too.
        expect(page.locator(".queue-row").first).to_be_focused()
    expect(rows).to_have_text(["ada three"])
    page.locator("[data-stop]").click()
    expect(page.locator(".status")).to_have_text("Stopped by ada")
    expect(page.locator(".queue-row")).to_contain_text("Held")


def test_questions_are_answered_by_choice_and_in_own_words(begin: Begin, page: Page) -> None:
    options = [{"label": label, "description": f"It is {label}."} for label in ("Redis", "Memory")]
    cache = {"question": "Which cache?", "header": "Cache", "options": options}
    name = {"question": "Which name?", "header": "Name", "options": []}
    call = {"tool": "question", "input": {"questions": [cache, name]}}
    begin([call], [{"text": "So be it."}])
    card = page.locator("[data-permission]")
    expect(card).to_contain_text("The agent has 2 questions")
    expect(page.locator("[data-alert]")).to_contain_text("The agent has 2 questions")
    settle(page)
    card.get_by_role("radio", name="Memory").focus()
    page.keyboard.press("Space")
    expect(card.get_by_role("button", name="Answer")).to_be_hidden()
    card.get_by_role("button", name="Next").click()
    expect(page.get_by_label("Your answer: Which name?")).to_be_focused()
    card.get_by_role("button", name="Back").click()
    page.keyboard.press("Enter")
    page.get_by_label("Your answer: Which name?").fill("till-cache")
    page.keyboard.press("Enter")
    expect(page.get_by_role("log")).to_contain_text("So be it.")
    expect(card).to_have_count(0)
    row = page.locator("details[data-tool=question]")
    row.locator("summary").click()
    expect(row.locator("dd")).to_have_text(["Memory", "till-cache"])
    expect(row).to_contain_text("Answered by ada")


def test_a_request_of_a_sub_agent_is_answered_where_people_look(begin: Begin, page: Page) -> None:
    write = {"tool": "write", "input": {"filePath": "notes.md", "content": "# Notes\n"}}
    work = script([write], [{"text": "Written."}])
    given = {"description": "Write the notes", "prompt": work, "subagent_type": "general"}
    session = begin([{"tool": "task", "input": given}], [{"text": "It is done."}])
    card = page.locator("[data-permission]")
    expect(card).to_contain_text("Allow creating notes.md?")
    expect(page.locator(".status")).to_contain_text("Waiting for you")

    # There and back, by links that say where they lead.
    page.get_by_role("link", name="Open the sub-agent's session").click()
    page.wait_for_url(re.compile(f"{session}/sub/"))
    expect(page.locator("#prompt")).to_have_count(0)
    expect(page.locator("details[data-tool=write]")).to_have_count(1)
    page.get_by_role("navigation", name="Sub-agents").get_by_role("link").click()
    page.wait_for_url(re.compile(f"{session}$"))

    page.set_viewport_size(PHONE)
    for shown in (card.locator("h2"), card.get_by_role("link"), card.get_by_role("button")):
        for one in shown.all():
            box = one.bounding_box()
            # Words stay words: in a narrow card the least important goes to a line of its own.
            assert box is None or (box["x"] + box["width"] <= 390 and box["height"] <= 60)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    settle(page)
    card.get_by_role("button", name="Allow once").click()
    expect(page.get_by_role("log")).to_contain_text("It is done.")
    expect(card).to_have_count(0)
    row = page.locator("details[data-tool=task]")
    expect(row.locator(".prose")).to_have_text("Written.")
    expect(row).to_contain_text("general · 1 tool call")


def test_the_list_of_the_agent_stands_above_the_message_field(begin: Begin, page: Page) -> None:
    look = {"content": "Look", "status": "completed", "priority": "low"}
    mend = {"content": "Mend the till", "status": "in_progress", "priority": "high"}
    begin(
        [{"tool": "todowrite", "input": {"todos": [look, mend]}}],
        [{"text": "On it."}, {"delay_ms": 2_000}, {"text": " Done."}],
    )
    dock = page.locator("#todos")
    expect(dock.locator("summary")).to_have_text("1 of 2 doneMend the till")
    expect(dock.locator("li").first).to_be_hidden()
    dock.locator("summary").click()
    expect(dock.locator("li")).to_have_text(["Done: Look", "In progress: Mend the tillhigh"])
    # What comes in draws it again, and leaves it open.
    expect(page.get_by_role("log")).to_contain_text("On it. Done.")
    expect(page.get_by_role("button", name="Stop")).to_be_hidden()
    expect(dock.locator("li").first).to_be_visible()
    page.reload()
    expect(dock.locator("summary")).to_have_text("1 of 2 doneMend the till")
    page.set_viewport_size(PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_an_approved_plan_switches_the_agent_of_the_message_field(
    server: Installation, client: httpx.Client, page: Page
) -> None:
    session = new_session(client)
    info = client.get(f"/session/{session}").json()
    path = f".opencode/plans/{info['time']['created']}-{info['slug']}.md"
    plan = {"filePath": path, "content": "# Mend it\n\nOnly `till.py`."}
    steps = [
        [{"events": [{"tool": "write", "input": plan}]}, {"events": [{"tool": "plan_exit"}]}],
        [{"events": [{"text": "Carried out."}]}],
    ]
    text = f"<<script{json.dumps({'name': 'plan', 'turns': steps})}>>"
    page.goto(f"{server.url}/t/{server.team}/s/{session}")
    expect(page.locator("#live")).to_have_attribute("data-state", "live")
    client.post(f"/session/{session}/prompt_async", json=body(text, agent="plan"))
    card = page.locator(".question")
    expect(card.get_by_role("heading", name="Mend it")).to_be_visible()
    expect(page.get_by_label("Agent", exact=True)).to_have_value("plan")
    settle(page)
    card.get_by_label("Yes").check()
    card.get_by_role("button", name="Answer").click()
    expect(page.get_by_role("log")).to_contain_text("Plan approved")
    expect(page.get_by_role("log")).to_contain_text("Carried out.")
    expect(page.get_by_label("Agent", exact=True)).to_have_value("build")


def test_a_message_is_written_with_suggestions_and_carries_a_picture(
    server: Installation, client: httpx.Client, page: Page
) -> None:
    session = new_session(client)
    page.goto(f"{server.url}/t/{server.team}/s/{session}")
    expect(page.locator("#live")).to_have_attribute("data-state", "live")
    field, offered = page.get_by_label("Message to the agent"), page.get_by_role("listbox")
    field.press_sequentially("!echo out of the")
    field.press_sequentially(" sandbox")
    field.press("Enter")
    row = page.locator("details[data-tool=bash]")
    expect(row.locator("summary")).to_contain_text("echo out of the sandbox")
    expect(row.locator("summary")).to_contain_text("typed by ada")
    expect(row.locator(".bash-output")).to_be_visible()
    expect(row.locator(".bash-output")).to_have_text("out of the sandbox")
    expect(page.locator("[data-stop]")).to_have_count(0)

    field.press_sequentially("/")
    expect(offered.get_by_role("option", name="/init")).to_be_visible()
    field.press("Escape")
    expect(offered).to_have_count(0)
    field.fill("")
    field.press_sequentially("Mend @till")
    expect(offered.get_by_role("option", name="till.py", exact=True)).to_be_visible()
    field.press("ArrowDown")
    field.press("ArrowUp")
    picked = offered.get_by_role("option", selected=True)
    name = picked.get_attribute("data-insert")
    expect(field).to_have_attribute("aria-activedescendant", picked.get_attribute("id") or "")
    field.press("Enter")
    expect(field).to_have_value(f"Mend {name} ")
    expect(offered).to_have_count(0)

    pixel = base64.b64decode(
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    )
    page.locator("[data-files]").set_input_files(
        [
            {"name": "shot.png", "mimeType": "image/png", "buffer": pixel},
            {"name": "note.txt", "mimeType": "text/plain", "buffer": b"n"},
            {"name": "till.zip", "mimeType": "text/plain", "buffer": b"PK\x03\x04\xff\xfe"},
        ]
    )
    attached = page.locator("[data-attached]")
    expect(attached.get_by_role("listitem")).to_have_count(2)
    expect(page.locator("[data-attach-fault]")).to_contain_text("till.zip is not text, a PDF or a")
    page.get_by_role("button", name="Remove note.txt").click()
    expect(attached.get_by_role("listitem")).to_have_count(1)
    field.press("Enter")
    said = page.locator(".prompt").last
    expect(said.get_by_role("img", name="shot.png")).to_be_visible()
    expect(said).to_contain_text(f"Mend {name}")
    expect(said.locator(".prompt-files")).to_contain_text(str(name).removeprefix("@"))
    expect(attached).to_be_hidden()
    expect(field).to_have_value("")
    field.press("ArrowUp")
    expect(field).to_have_value(f"Mend {name}")


def test_a_session_is_shared_by_a_link_that_runs_no_script(
    begin: Begin, client: httpx.Client, page: Page, signed_in: BrowserContext
) -> None:
    client.patch("/global/config", json={"sharing": {"links": "public"}})
    read = {"tool": "read", "input": {"filePath": "till.py"}}
    begin([read], [{"text": "The till is **sound**."}])
    expect(page.get_by_role("log")).to_contain_text("The till is sound.")
    page.set_viewport_size(PHONE)
    page.get_by_label("More about this session").click()
    page.get_by_role("link", name="Share…").click()
    panel = page.locator("#share-form")
    panel.get_by_label("Anyone with the link").check()
    panel.get_by_role("button", name="Create link").click()
    expect(panel).to_contain_text("Link created.")
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    url = panel.locator("code").inner_text()

    assert signed_in.browser is not None
    with signed_in.browser.new_context(viewport=PHONE) as stranger:
        reader, asked = stranger.new_page(), set[str]()
        problems: list[str] = []
        reader.on("request", lambda request: asked.add(request.resource_type))
        reader.on("console", lambda m: problems.append(m.text))
        reader.goto(url)
        expect(reader.locator("strong", has_text="sound")).to_be_visible()
        reader.locator("summary", has_text="Explored").click()
        expect(reader.locator("details[data-tool=read]")).to_contain_text("till.py")
        expect(reader.get_by_role("button")).to_have_count(0)
        assert reader.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        assert asked <= {"document", "stylesheet", "font", "image", "other"}
        assert problems == []
        assert stranger.cookies() == []
        panel.get_by_role("button", name="Revoke").click()
        expect(panel).to_contain_text("Link revoked")
        reader.reload()
        expect(reader.get_by_role("heading")).to_have_text("Not found")


@pytest.fixture
def patching(server: Installation, client: httpx.Client) -> Iterator[Path]:
    """The scripted model under a name whose models patch. Gives the project's folder."""
    (project,) = [one for one in client.get("/project").json() if one["id"] == server.project]
    place = {"directory": project["worktree"]}

    def rename(name: str) -> None:
        model = {"provider": {"demo": {"models": {"inline": {"id": name}}}}}
        assert client.patch("/config", params=place, json=model).status_code == 200

    rename("gpt-5-scripted")
    yield Path(project["worktree"])
    rename("inline")


def test_a_patch_of_several_files_is_shown_with_its_lines_and_taken_back(
    server: Installation, client: httpx.Client, page: Page, patching: Path
) -> None:
    root = patching
    (root / "one.txt").write_text("a\nb\n")
    (root / "two.txt").write_text("c\n")
    text = "*** Begin Patch\n*** Update File: one.txt\n@@\n-b\n+B\n*** Delete File: two.txt\n"
    text += "*** Add File: three.txt\n+d\n*** End Patch"
    session = new_session(client)
    page.goto(f"{server.url}/t/{server.team}/s/{session}")
    expect(page.locator("#live")).to_have_attribute("data-state", "live")
    reads = [{"tool": "read", "input": {"filePath": name}} for name in ("one.txt", "two.txt")]
    steps = (reads, [{"tool": "apply_patch", "input": {"patchText": text}}], [{"text": "Done."}])
    client.post(f"/session/{session}/prompt_async", json=body(script(*steps)))

    card = page.locator("[data-permission]")
    expect(card).to_contain_text("one.txt")
    expect(card.locator(".diff-add")).to_have_count(2)
    settle(page)
    card.get_by_role("button", name="Allow once").click()
    expect(page.get_by_role("log")).to_contain_text("Done.")
    row = page.locator("details[data-tool=apply_patch]")
    row.locator("summary").first.click()
    expect(row.locator(".patch-file .mono")).to_have_text(["one.txt", "two.txt", "three.txt"])
    expect(row.locator(".diff-add .diff-code")).to_have_text(["B", "d"])
    expect(row.locator(".diff-del .diff-code")).to_have_text(["b", "c"])
    for width in (1440, 390):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width

    page.get_by_role("button", name="More about this turn").click()
    page.locator("summary", has_text="Roll back to before this turn").click()
    page.get_by_role("button", name="Roll back", exact=True).click()
    expect(page.locator("#reverted")).to_contain_text("Restore")
    wait_for(lambda: (root / "two.txt").exists() and not (root / "three.txt").exists())
    assert (root / "one.txt").read_text() == "a\nb\n"
