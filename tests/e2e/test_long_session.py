"""A session of ten thousand messages in the browser: little of it is in the page at any time."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.browser import of_page
from tests.e2e.installation import Installation
from tests.e2e.rest import body, new_session, script

MESSAGES = 10_000
pytestmark = [*of_page, pytest.mark.deep]
# Written as rows, not as events: ten thousand of those take a while, and pages read rows.
_SEED = """
import json
from bench.requests import make_document
from sessions.models import Message, Part, Session
session = Session.objects.get(pk={session!r})
messages, parts = [], []
document = json.dumps(make_document(session.directory, messages={messages}))
# Each seeded session has messages of its own.
for row in json.loads(document.replace("b" * 14, session.pk[-14:]))["messages"]:
    session.seq += 1
    info, place = row["info"], dict(session=session, seq=session.seq)
    messages.append(Message(id=info["id"], role=info["role"], data=info, **place))
    parts += [
        Part(id=part["id"], message_id=info["id"], type="text", data=part, **place)
        for part in row["parts"]
    ]
Message.objects.bulk_create(messages, batch_size=500)
Part.objects.bulk_create(parts, batch_size=500)
session.save(update_fields=["seq"])
"""


@pytest.fixture(scope="module")
def client(server: Installation) -> Iterator[httpx.Client]:
    with server.client() as made:
        yield made


@pytest.fixture(scope="module")
def session(server: Installation, client: httpx.Client) -> str:
    made = new_session(client)
    server.run(_SEED.format(session=made, messages=MESSAGES))
    return made


def turn(page: Page, number: int) -> Locator:
    return page.locator("[data-turn]", has=page.get_by_text(f"Question {number}?", exact=True))


def test_nfr_01_the_first_look_is_at_thirty_turns(
    server: Installation, session: str, page: Page
) -> None:
    answer = page.goto(f"{server.url}/t/{server.team}/s/{session}")
    assert answer
    assert len(answer.body()) < 300_000
    expect(page.locator("[data-turn]")).to_have_count(30)
    expect(page.locator("[data-turn]").last).to_be_in_viewport()
    assert page.locator("#log *").count() < 1_500


@pytest.mark.deep
def test_nfr_01_who_reads_backwards_keeps_the_place_and_a_small_page(
    server: Installation, client: httpx.Client, session: str, page: Page
) -> None:
    page.goto(f"{server.url}/t/{server.team}/s/{session}")
    expect(page.locator("#live")).to_have_attribute("data-state", "live")
    log, turns = page.locator("[data-log]"), page.locator("[data-turn]")
    count, newest = 30, MESSAGES // 2
    for _ in range(5):
        log.evaluate("(log) => { log.scrollTop = 1; }")
        count += 30
        expect(turn(page, newest - count)).to_be_attached()
        # The one that was first is where it was.
        expect(turn(page, newest - count + 30)).to_be_in_viewport()
    expect(turns).to_have_count(120)
    assert page.locator("#log *").count() < 6_000

    # What is said meanwhile has no place here, and is found at the end.
    client.post(f"/session/{session}/prompt_async", json=body("go on" + script([{"text": "Now."}])))
    expect(page.get_by_role("button", name=re.compile("Jump to latest · . new"))).to_be_visible()
    expect(page.locator(f"#row-{session}")).to_contain_text("Done")
    expect(turns).to_have_count(120)

    # Down again: the later turns come back in order, and then the live one.
    later = page.locator("#later")
    for last in (newest - 61, newest - 31, newest - 1):
        expect(turns.last).to_contain_text(f"Question {last}?")
        later.scroll_into_view_if_needed()
        expect(turns.last).not_to_contain_text(f"Question {last}?")
        expect(turn(page, last)).to_be_in_viewport()
    expect(later).to_have_count(0)
    expect(turns.last).to_contain_text("Now.")
    numbers = re.findall(r"Question (\d+)", "".join(page.locator(".prompt-text").all_inner_texts()))
    assert numbers == [str(n) for n in range(newest - len(numbers), newest)]


def test_nfr_01_the_way_back_to_the_latest_is_one_step(
    server: Installation, client: httpx.Client, session: str, page: Page
) -> None:
    some = client.get(f"/session/{session}/message").json()[2345 * 2]["info"]["id"]
    page.goto(f"{server.url}/t/{server.team}/s/{session}?at={some}#turn-{some}")
    expect(turn(page, 2345)).to_be_in_viewport()
    expect(page.locator("#live")).to_have_attribute("data-state", "live")
    page.get_by_role("button", name="Jump to latest").click()
    expect(page.locator("#later")).to_have_count(0)
    expect(page.locator("[data-turn]").last).to_be_in_viewport()
    expect(page.get_by_role("button", name="Jump to latest")).to_be_hidden()
    expect(page.locator("[data-turn]")).to_have_count(30)


def test_nfr_01_text_that_comes_restyles_little_of_the_page(
    server: Installation, client: httpx.Client, page: Page
) -> None:
    session = new_session(client)
    server.run(_SEED.format(session=session, messages=60))
    page.goto(f"{server.url}/t/{server.team}/s/{session}")
    expect(page.locator("#live")).to_have_attribute("data-state", "live")
    chunks = 60
    words = [{"text": "Word after\n\nword. "}, {"delay_ms": 20}] * chunks
    steps = script([{"text": "First. "}, {"delay_ms": 1_000}, *words, {"text": "Last."}])
    client.post(f"/session/{session}/prompt_async", json=body(steps))
    answer = page.locator("[data-turn]").last.locator(".text")
    expect(answer).to_contain_text("First.")
    browser = page.context.browser
    assert browser
    browser.start_tracing(page=page, categories=["devtools.timeline"])
    expect(answer).to_contain_text("Last.")
    events = json.loads(browser.stop_tracing())["traceEvents"]
    restyled = [e["args"]["elementCount"] for e in events if e["name"] == "UpdateLayoutTree"]
    layouts = [e for e in events if e["name"] == "Layout"]
    assert page.locator("*").count() > 1_000
    assert max(restyled) < 200
    assert 0 < len(layouts) <= chunks
