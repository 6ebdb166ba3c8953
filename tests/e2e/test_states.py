"""What a session's page says and keeps while people read it, on a real server."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.e2e.browser import in_chromium, watched
from tests.e2e.installation import Installation
from tests.e2e.rest import ask, body, new_session, script

pytestmark = [*in_chromium, pytest.mark.deep]
# A worker holds the session for so long, on a host that has none.
_HELD = """
from datetime import timedelta
from django.conf import settings
from django.db.models import F
from django.utils import timezone
from sessions.models import Project, Run, Session
now = timezone.now()
host = {host!r} or settings.HOST_NAME
Project.objects.filter(sessions={session!r}).update(host=host)
Session.objects.filter(pk={session!r}).update(state={state!r}, state_since=now)
until = now + timedelta(seconds={for_s})
run = Run.objects.filter(session={session!r})
run.update(owner="worker@gone", lease_until=until, token=F("token") + 1)
"""
LONG = "seq -f 'line %g' 200"


@pytest.fixture
def page(signed_in: BrowserContext) -> Iterator[Page]:
    with watched(signed_in) as page:
        yield page
    signed_in.set_offline(False)


@pytest.fixture(scope="module")
def client(server: Installation) -> Iterator[httpx.Client]:
    with server.client() as made:
        allowed = {"bash": "allow", "edit": "allow"}
        made.patch("/global/config", json={"permission": allowed}).raise_for_status()
        yield made


def go(page: Page, server: Installation, session: str, query: str = "") -> None:
    page.goto(f"{server.url}/t/{server.team}/s/{session}{query}")
    expect(page.locator("#live")).to_have_attribute("data-state", "live")


def folder_of(client: httpx.Client) -> Path:
    return Path(client.get("/path").json()["worktree"])


def test_without_a_connection_the_state_is_the_last_known_one_and_nothing_moves(
    server: Installation, client: httpx.Client, page: Page
) -> None:
    session = new_session(client)
    go(page, server, session)
    page.emulate_media(reduced_motion="no-preference")
    steps = [{"text": "This takes long."}, {"delay_ms": 60_000}]
    client.post(f"/session/{session}/prompt_async", json=body(script(steps)))
    status = page.locator(".status")
    expect(status).to_contain_text("Running", use_inner_text=True)
    expect(status).not_to_contain_text("Last known", use_inner_text=True)

    page.context.set_offline(True)
    expect(page.locator("#live")).to_have_attribute("data-state", "retry")
    expect(status).to_contain_text(re.compile(r"Last known:\s*Running"), use_inner_text=True)
    state = status.locator(".state")
    assert state.evaluate("(one) => getComputedStyle(one).animationPlayState") == "paused"
    before = status.inner_text()
    page.wait_for_timeout(1_500)
    assert status.inner_text() == before

    page.context.set_offline(False)
    expect(page.locator("#live")).to_have_attribute("data-state", "live")
    expect(status).not_to_contain_text("Last known", use_inner_text=True)
    page.locator("[data-stop]").click()


def test_a_lost_worker_is_said_until_another_takes_the_session(
    server: Installation, client: httpx.Client, page: Page
) -> None:
    session = new_session(client)
    server.run(_HELD.format(session=session, host="gone", state="busy", for_s=4))
    try:
        go(page, server, session)
        status = page.locator(".status")
        expect(status).to_contain_text("Worker lost, resuming")
        assert status.locator(".state-run").count() == 0
        server.run(_HELD.format(session=session, host="gone", state="busy", for_s=60))
        expect(status).to_contain_text("Running")
    finally:
        server.run(_HELD.format(session=session, host="", state="idle", for_s=0))


def test_the_changes_follow_what_changes_only_where_they_were_left_open(
    server: Installation, client: httpx.Client, page: Page
) -> None:
    write = {"tool": "write", "input": {"filePath": "made.md", "content": "# Made\n"}}
    changed, other = new_session(client), new_session(client)
    # As its person left it: an account keeps the tab.
    go(page, server, other)
    with page.expect_response(lambda answer: answer.url.endswith("/panel")):
        page.keyboard.press("c")
    go(page, server, changed)
    panel = page.locator("#panel")
    expect(panel).to_be_hidden()
    made = ask(client, changed, script([write], [{"text": "Made."}]))
    expect(panel).to_be_visible()
    expect(page.locator("#panel-changes")).to_contain_text("made.md")

    page.locator("#prompt").focus()
    page.mouse.move(600, 300)
    answer = client.post(f"/session/{changed}/revert", json={"messageID": made["info"]["parentID"]})
    assert answer.status_code == 200, answer.text
    expect(panel).to_be_hidden()
    expect(page.locator("#prompt")).to_be_focused()

    # What its person has closed stays closed.
    ask(client, changed, script([write], [{"text": "Again."}]))
    expect(panel).to_be_visible()
    with page.expect_response(lambda answer: answer.url.endswith("/panel")):
        page.get_by_role("link", name="Close the side panel").click()
    go(page, server, other)
    another = {"tool": "write", "input": {"filePath": "other.md", "content": "# Other\n"}}
    ask(client, other, script([another], [{"text": "Made."}]))
    expect(page.locator("#changes-count")).to_have_text("1")
    expect(panel).to_be_hidden()


def test_rows_stay_open_and_the_turn_in_view_over_back_and_forward(
    server: Installation, client: httpx.Client, page: Page
) -> None:
    session = new_session(client)
    ask(client, session, script([{"tool": "bash", "input": {"command": LONG}}], [{"text": "A."}]))
    for number in range(4):
        ask(client, session, script([{"text": f"Long {number}.\n\n" + "word\n\n" * 30}]))
    go(page, server, session)
    row = page.locator("details[data-tool=bash]")
    row.locator("summary").click()
    expect(row).to_have_attribute("open", "")
    # The end of what it wrote is what was waited for.
    output = row.locator(".bash-output")
    expect(output).to_contain_text("line 200")
    at_end = "(one) => one.scrollHeight - one.scrollTop - one.clientHeight < 2"
    assert output.evaluate(at_end)
    second = page.locator("[data-turn]").nth(2)
    page.locator("[data-log]").evaluate("(log) => (log.scrollTop = 0)")
    second.evaluate("(turn) => turn.scrollIntoView()")
    page.wait_for_timeout(500)
    place = second.bounding_box()

    page.goto(f"{server.url}/t/{server.team}/")
    page.go_back()
    expect(page.locator("#live")).to_have_attribute("data-state", "live")
    expect(row).to_have_attribute("open", "")
    page.wait_for_timeout(300)
    again = second.bounding_box()
    assert place is not None
    assert again is not None
    assert abs(place["y"] - again["y"]) < 3
    # A visit of its own begins with all rows closed.
    page.goto(f"{server.url}/t/{server.team}/")
    go(page, server, session)
    expect(row).not_to_have_attribute("open", "")


def test_the_end_of_what_a_command_writes_stays_in_view_until_somebody_reads_above(
    server: Installation, client: httpx.Client, page: Page
) -> None:
    session = new_session(client)
    go(page, server, session)
    slow = f"{LONG}; sleep 2; echo more; sleep 2; echo last; sleep 30"
    call = {"tool": "bash", "input": {"command": slow, "description": "Count slowly"}}
    client.post(f"/session/{session}/prompt_async", json=body(script([call])))
    row = page.locator("details[data-tool=bash]")
    row.locator("summary").click()
    output = row.locator(".bash-output")
    at_end = "(one) => one.scrollHeight - one.scrollTop - one.clientHeight"
    expect(output).to_contain_text("more")
    assert output.evaluate(at_end) < 2
    output.evaluate("(one) => (one.scrollTop = 100)")
    expect(output).to_contain_text("last")
    assert output.evaluate(at_end) > 20
    page.locator("[data-stop]").click()


def test_an_address_with_a_message_leads_to_it_and_the_keys_go_on_from_there(
    server: Installation, client: httpx.Client, page: Page
) -> None:
    session = new_session(client)
    answers = [
        ask(client, session, script([{"text": f"Answer {number}.\n\n" + "word\n\n" * 30}]))
        for number in range(3)
    ]
    prompt, answer = answers[0]["info"]["parentID"], answers[0]["info"]["id"]
    turn = page.locator(f"#turn-{prompt}")
    for address in (f"?at={answer}", f"?at={prompt}", f"?at={prompt}#turn-{prompt}"):
        go(page, server, session, address)
        expect(turn).to_be_in_viewport()
        expect(turn).to_be_focused()
        page.goto("about:blank")


def test_a_draft_comes_back_with_its_caret(
    server: Installation, client: httpx.Client, page: Page
) -> None:
    go(page, server, new_session(client))
    field = page.locator("#prompt")
    field.fill("one two three")
    for _ in range(5):
        field.press("ArrowLeft")
    page.reload()
    expect(field).to_have_value("one two three")
    field.focus()
    page.keyboard.type("and ")
    expect(field).to_have_value("one two and three")
    field.fill("")


def test_code_output_and_prompts_are_copied_by_a_button(
    server: Installation, client: httpx.Client, page: Page
) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    (folder_of(client) / "lines.txt").write_text("first\n  second\n")
    session = new_session(client)
    code = "Do this:\n\n```sh\nmake  all\n  make test\n```\n"
    calls = [{"tool": "read", "input": {"filePath": "lines.txt"}}]
    ask(client, session, "Look.\n```\ncode\n```\n" + script(calls, [{"text": code}]))
    go(page, server, session)
    copied = page.locator("[data-announce]")

    def copy(button: str) -> str:
        page.locator(button).last.focus()
        page.keyboard.press("Enter")
        expect(page.locator(f"{button}[data-copied]")).to_have_count(1)
        return str(page.evaluate("navigator.clipboard.readText()"))

    assert copy(".prose .copy-block") == "make  all\n  make test"
    expect(copied).to_have_text("Copied.")
    assert copy(".prompt-copy").startswith("Look.\n```\ncode\n```\n<<script")
    for row in page.locator("[data-fold]").all():
        row.evaluate("(one) => (one.open = true)")
    page.get_by_role("link", name="Show 2 more lines").click()
    expect(page.locator(".read .copy-block")).to_have_count(1)
    assert copy(".read .copy-block") == "first\n  second"


def test_the_text_of_a_turn_that_is_rolled_back_returns_to_an_empty_message_field(
    server: Installation, client: httpx.Client, page: Page
) -> None:
    session = new_session(client)
    for text in ("Say it so.", "Say it again."):
        ask(client, session, f"{text} {script([{'text': 'Said.'}])}")
    go(page, server, session)
    field = page.locator("#prompt")

    def roll_back() -> None:
        page.get_by_role("button", name="More about this turn").last.click()
        page.get_by_text("Roll back to before this turn").click()
        page.get_by_role("dialog").get_by_role("button", name="Roll back").click()
        expect(page.get_by_role("dialog")).to_be_hidden()

    roll_back()
    expect(field).to_have_value(re.compile("^Say it again. <<script"))
    expect(field).to_be_focused()
    # A draft is nobody's to overwrite.
    field.fill("My own words.")
    expect(page.locator(".turn")).to_have_count(1)
    roll_back()
    expect(page.locator("#reverted")).to_contain_text("2 messages rolled back")
    expect(field).to_have_value("My own words.")
    field.fill("")


def test_what_a_prompt_names_is_a_link_where_it_has_a_page(
    server: Installation, client: httpx.Client, page: Page
) -> None:
    (folder_of(client) / "named.md").write_text("# Named\n")
    past, session = new_session(client), new_session(client)
    ask(client, past, script([{"text": "Long ago."}]))
    go(page, server, session)
    text = f"Look at @named.md and @{past} with @general, not at a@b.c "
    page.locator("#prompt").fill(text + script([{"text": "Looked."}]))
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("log")).to_contain_text("Looked.")
    mentions = page.locator(".prompt-mention")
    expect(mentions).to_have_text(["@named.md", f"@{past}", "@general"])
    mentions.nth(0).click()
    expect(page.locator("#panel-files")).to_contain_text("Named")
    mentions.nth(1).click()
    page.wait_for_url(re.compile(f"/s/{past}"))


def test_a_queued_message_can_steer_instead(
    server: Installation, client: httpx.Client, page: Page
) -> None:
    session = new_session(client)
    go(page, server, session)
    steps = [{"text": "This takes long."}, {"delay_ms": 60_000}]
    client.post(f"/session/{session}/prompt_async", json=body(script(steps)))
    expect(page.get_by_role("log")).to_contain_text("This takes long.")
    page.locator("#prompt").fill("hurry")
    page.keyboard.press("Control+Enter")
    row = page.locator(".queue-row")
    expect(row).to_contain_text("Sends after this turn")
    row.get_by_role("button", name="Steer instead").click()
    expect(row).to_contain_text("Sends after this step")
    expect(row.get_by_role("button", name="Steer instead")).to_have_count(0)
    page.locator("[data-stop]").click()


def test_a_turn_with_a_failed_edit_is_not_simply_done(
    server: Installation, client: httpx.Client, page: Page
) -> None:
    session = new_session(client)
    go(page, server, session)
    edit = {"tool": "edit", "input": {"filePath": "gone.md", "oldString": "a", "newString": "b"}}
    ask(client, session, script([edit], [{"text": "It could not be changed."}]))
    expect(page.locator(".turn-footer")).to_contain_text("1 tool call failed")
    expect(page.locator(".status.chip-warn")).to_have_text("Done, 1 tool call failed")
    expect(page.locator(f"#row-{session} .state-warn")).to_be_visible()
    expect(page.locator(f"#row-{session}")).to_contain_text("Done, 1 tool call failed")
