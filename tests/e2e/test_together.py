"""Two people on one session."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.e2e.browser import in_chromium, signed_in_as, watched
from tests.e2e.installation import PASSWORD, Installation
from tests.e2e.rest import body, new_session, script

pytestmark = [*in_chromium, pytest.mark.deep]
# What a shell of the server runs to have a second person in the team.
_ADD = """
from tests.factories import add_member, make_user
from teams.models import Team
add_member(Team.objects.get(pk={team!r}), make_user({email!r}, password={password!r}))
"""


@pytest.fixture(scope="module")
def bobs(server: Installation, signed_in: BrowserContext) -> Iterator[BrowserContext]:
    email = f"bob@team-{server.teams}.example.com"
    server.run(_ADD.format(team=server.team, email=email, password=PASSWORD))
    assert signed_in.browser is not None
    with signed_in_as(signed_in.browser, server, email) as context:
        yield context


@pytest.fixture
def pages(signed_in: BrowserContext, bobs: BrowserContext) -> Iterator[tuple[Page, Page]]:
    with watched(signed_in) as adas, watched(bobs) as his:
        yield adas, his


def open_both(server: Installation, pages: tuple[Page, Page]) -> str:
    with server.client() as client:
        session = new_session(client)
    for page in pages:
        page.goto(f"{server.url}/t/{server.team}/s/{session}")
        expect(page.locator("#live")).to_have_attribute("data-state", "live")
    return session


@contextmanager
def as_viewer(server: Installation, ada: Page) -> Iterator[None]:
    """Ada's page shows the members then: Bob is a viewer, and afterwards a member again."""
    try:
        set_role(server, ada, "viewer")
        yield
    finally:
        set_role(server, ada, "member")


def set_role(server: Installation, page: Page, role: str) -> None:
    page.goto(f"{server.url}/t/{server.team}/settings/members")
    field = page.get_by_label("Role of Bob")
    field.select_option(role)
    # A page that is closed while the next one comes may never be gone.
    with page.expect_event("load"):
        page.locator("form", has=field).get_by_role("button").click()


def test_fr_01_each_reads_the_owner_of_the_others_sessions_only(
    server: Installation, pages: tuple[Page, Page]
) -> None:
    session = open_both(server, pages)
    with server.client() as client:
        # What is drawn for everybody when it changes, and what each page had at first.
        for title in ("Mend the till", "Mend the bill"):
            client.patch(f"/session/{session}", json={"title": title}).raise_for_status()
            for page, owners in zip(pages, (0, 1), strict=True):
                row = page.locator(f"#row-{session}")
                expect(row).to_contain_text(title)
                expect(row.locator("[data-owner]")).to_have_count(owners)
                page.reload()
                expect(row.locator("[data-owner]")).to_have_count(owners)
                expect(page.locator("#live")).to_have_attribute("data-state", "live")


def test_fr_01_two_people_see_the_same_turn_each_other_and_who_has_decided(
    server: Installation, pages: tuple[Page, Page]
) -> None:
    ada, bob = pages
    session = open_both(server, pages)
    for page in pages:
        page.bring_to_front()
        expect(page.locator("#presence li")).to_have_count(2)
    bob.get_by_label("Message to the agent").press_sequentially("I think")
    expect(ada.locator("#presence")).to_contain_text("Bob is writing")

    steps = [{"text": "First, a look."}, {"tool": "bash", "input": {"command": "echo seen"}}]
    with server.client() as client:
        prompt = body(script(steps, [{"text": "Both have seen it."}]))
        client.post(f"/session/{session}/prompt_async", json=prompt)
    for page in pages:
        expect(page.get_by_role("log")).to_contain_text("First, a look.")
        expect(page.locator("[data-permission]")).to_have_count(1)
    # A card hears nothing for the first half second, so that nobody answers by accident.
    bob.wait_for_timeout(600)
    bob.get_by_role("button", name="Allow once").click()
    for page in pages:
        expect(page.locator("[data-permission]")).to_have_count(0)
        expect(page.get_by_role("log")).to_contain_text("Both have seen it.")
        row = page.locator("details[data-tool=bash]")
        row.locator("summary").first.click()
        expect(row).to_contain_text(re.compile("Bob", re.IGNORECASE))
    bob.close()
    expect(ada.locator("#presence")).to_be_hidden()


def test_fr_01_a_role_that_changes_changes_the_page_that_is_open(
    server: Installation, pages: tuple[Page, Page]
) -> None:
    ada, bob = pages
    session = open_both(server, pages)
    bob.get_by_label("Message to the agent").fill("mine")
    with as_viewer(server, ada):
        expect(bob.locator("#composer")).to_be_hidden()
        expect(bob.locator(".dock-note")).to_be_visible()
        with server.client() as client:
            prompt = body(script([{"text": "Read on."}]))
            client.post(f"/session/{session}/prompt_async", json=prompt)
        expect(bob.get_by_role("log")).to_contain_text("Read on.")
    expect(bob.get_by_label("Message to the agent")).to_have_value("mine")


def test_fr_01_a_call_runs_with_the_rights_of_who_prompted(
    server: Installation, pages: tuple[Page, Page]
) -> None:
    ada, bob = pages
    session = open_both(server, pages)
    # The session keeps the model of its last prompt.
    with server.client() as client:
        client.post(f"/session/{session}/message", json=body(script([{"text": "Ready."}])))
    bob.reload()
    expect(bob.locator("#live")).to_have_attribute("data-state", "live")
    call = {"tool": "bash", "input": {"command": "echo ran > ran.txt"}}
    bob.get_by_label("Message to the agent").fill(script([call], [{"text": "It ran."}]))
    bob.keyboard.press("Enter")
    expect(ada.locator("[data-permission]")).to_have_count(1)
    needs_you = bob.locator("[data-rail] h2", has_text="Needs you")
    expect(needs_you).to_be_visible()
    expect(bob.locator(".topbar [data-inbox]")).to_be_visible()
    settings = ada.context.new_page()
    with as_viewer(server, settings):
        expect(bob.locator("#composer")).to_be_hidden()
        # What only others can answer is shown, without a claim on a viewer.
        waiting = bob.get_by_role("heading", name="Waiting for others")
        expect(waiting).to_be_visible()
        expect(bob.locator(".topbar [data-inbox]")).to_be_hidden()
        expect(bob).not_to_have_title(re.compile(r"^\("))
        expect(ada).to_have_title(re.compile(r"^\("))

        # An owner allows it; it was asked for by somebody who may not any more.
        ada.get_by_role("button", name="Allow once").click()
        for page in pages:
            expect(page.get_by_role("log")).to_contain_text("may no longer work in this team")
            expect(page.locator("[id^=prt-] p", has_text="It ran.")).to_have_count(0)
    settings.close()


def test_fr_01_what_one_answers_leaves_the_half_answer_of_the_other(
    server: Installation, pages: tuple[Page, Page]
) -> None:
    ada, _ = pages
    session = open_both(server, pages)
    asked = [
        {"question": f"Which {one}?", "header": one, "options": []} for one in ("cache", "name")
    ]
    # A sub-agent asks later than the agent itself, so that its card is the second.
    work = script([{"tool": "bash", "input": {"command": "echo seen"}}], [{"text": "Seen."}])
    given = {"description": "Look", "prompt": work, "subagent_type": "general"}
    calls = [
        {"tool": "question", "input": {"questions": asked}},
        {"tool": "task", "input": given},
    ]
    with server.client() as client:
        prompt = body(script(calls, [{"text": "So be it."}]))
        client.post(f"/session/{session}/prompt_async", json=prompt)
        expect(ada.locator("[data-permission]")).to_have_count(2)
        card = ada.locator("[data-permission]", has_text="2 questions")
        ada.wait_for_timeout(600)
        card.get_by_label("Your answer: Which cache?").fill("Redis")
        card.get_by_role("button", name="Next").click()
        card.get_by_label("Your answer: Which name?").fill("half a na")
        (request,) = client.get("/permission").json()
        client.post(f"/permission/{request['id']}/reply", json={"reply": "once"})
    expect(ada.locator("[data-permission]")).to_have_count(1)
    expect(card.get_by_role("status")).to_have_text("2 of 2")
    expect(card.get_by_label("Your answer: Which cache?")).to_be_hidden()
    expect(card.get_by_label("Your answer: Which name?")).to_have_value("half a na")
    card.get_by_role("button", name="Answer").click()
    expect(ada.get_by_role("log")).to_contain_text("So be it.")
