from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from channels.routing import ProtocolTypeRouter
from daphne.server import Server
from django.conf import settings
from django.contrib.staticfiles.handlers import ASGIStaticFilesHandler
from django.core.asgi import get_asgi_application
from django.db import connections
from django.test import Client
from playwright.sync_api import Page, expect
from twisted.internet import reactor

from opencode_web.lib.ids import new_id
from sessions.consumers import websocket_application
from sessions.events.live import Delta, publish_deltas
from sessions.models import Part, Run, Session
from sessions.stream.room import Room, _rooms
from teams.models import User
from tests.e2e.browser import chromium
from tests.sessions.story import Story, tell_whole_turn

pytestmark = [pytest.mark.deep, pytest.mark.e2e, pytest.mark.django_db(transaction=True)]
TEXT = (
    "# Plan\n\nFirst *this*, then that.\n\n```python\nx = 1 < 2\n```\n\n- 🎉 one\n- two\n\nThe end."
)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The application of this process behind a real socket, so that tests can write to its log."""
    application = ProtocolTypeRouter(
        {
            "http": ASGIStaticFilesHandler(get_asgi_application()),
            "websocket": websocket_application,
        }
    )
    # Each request has a thread of its own, which takes its connection along when it ends.
    patch = pytest.MonkeyPatch()
    patch.setitem(connections.settings["default"], "CONN_MAX_AGE", 0)
    listening = threading.Event()
    server = Server(
        application,
        endpoints=["tcp:port=0:interface=127.0.0.1"],
        signal_handlers=False,
        ready_callable=listening.set,
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    assert listening.wait(10)
    host, port = server.listening_addresses[0]
    yield f"http://{host}:{port}"
    reactor.callFromThread(server.stop)
    thread.join(25)
    patch.undo()


@pytest.fixture
def elsewhere() -> Iterator[Callable[..., Any]]:
    """Run database calls in a thread: playwright keeps an event loop in this one."""
    with ThreadPoolExecutor(1) as pool:
        yield lambda fn, *args, **kwargs: pool.submit(fn, *args, **kwargs).result(30)
        pool.submit(connections.close_all).result()


@pytest.fixture
def cookie(alice: User) -> str:
    client = Client()
    client.force_login(alice)
    return client.cookies[settings.SESSION_COOKIE_NAME].value


@pytest.fixture
def page(address: str, cookie: str, session: Session) -> Iterator[Page]:
    with chromium() as browser:
        context = browser.new_context(viewport={"width": 1440, "height": 900})
        context.add_cookies(
            [{"name": settings.SESSION_COOKIE_NAME, "value": cookie, "url": address}]
        )
        page = context.new_page()
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda m: errors.append(m.text) if m.type == "error" else None)
        page.goto(f"{address}/t/acme/s/{session.pk}")
        expect(page.locator("#live")).to_have_attribute("data-state", "live")
        yield page
        assert errors == []


def shape(page: Page) -> list[str]:
    """What the conversation and its docks show, by elements; white space between them does not
    count."""
    parts = [page.locator(f"#{name}").inner_html() for name in ("log", "permissions", "queue")]
    header = page.locator("#session-header").inner_text()
    # Under the pointer and without haste the scripts add buttons to copy a block with.
    added = r'<button class="copy-block.*?</button>'
    given = rf'value="msg_\w+"| data-htmx-powered="true"| open=""|{added}'
    html = re.sub(given, "", "".join(parts), flags=re.DOTALL)
    plain = re.sub(r">\s+|\s+<", lambda m: m[0].strip(), html + header)
    return re.sub(r"\s+", " ", plain).split("<")


def assert_same_after_reload(page: Page) -> None:
    """Frames may still be on their way: a later one can show what an earlier one tells."""
    fresh = page.context.new_page()
    fresh.goto(page.url)
    expected = shape(fresh)
    fresh.close()
    deadline = time.monotonic() + 20
    while shape(page) != expected and time.monotonic() < deadline:
        page.wait_for_timeout(50)
    assert shape(page) == expected


def wait_for_end(page: Page) -> None:
    """The log follows what grows with the next paint, which may take a while."""
    log = page.locator("[data-log]").element_handle()
    page.wait_for_function(
        "log => log.scrollHeight - log.scrollTop - log.clientHeight < 80", arg=log
    )


def flush(part_id: str, text: str) -> None:
    """As the runner does it: the row follows the text."""
    row = Part.objects.get(pk=part_id)
    row.data["text"] = text
    row.save()


def drop_connections() -> None:
    for loop, rooms in _rooms.all():
        # Other tests of this process leave theirs.
        if not loop.is_closed():
            loop.call_soon_threadsafe(_drop, rooms)


def _drop(rooms: list[Room]) -> None:
    for room in rooms:
        for listener in room._listeners:
            listener.end()


def test_events_appear_and_a_reload_shows_the_same(
    page: Page, session: Session, alice: User, elsewhere: Callable[..., Any]
) -> None:
    page.locator("#prompt").fill("a draft")
    elsewhere(tell_whole_turn, session, alice, "please add a discount")
    expect(page.locator(".turn-footer")).to_contain_text("till.py +1 -1")
    expect(page.locator(".status")).to_have_text("Done")
    expect(page.locator(".explored > summary")).to_contain_text("1 read, 1 search")
    shell = page.locator("details[data-tool=bash]").first
    shell.locator("summary").click()
    expect(shell.locator(".bash-output")).to_have_text("2 passed")
    elsewhere(tell_whole_turn, session, alice, "once more")
    expect(page.locator(".turn-footer")).to_have_count(2)
    # Frames change neither what is being written nor what somebody has opened.
    expect(page.locator("#prompt")).to_have_value("a draft")
    expect(shell).to_have_attribute("open", "")
    assert_same_after_reload(page)


def test_text_that_grows_over_lost_connections_is_whole(
    page: Page, session: Session, alice: User, elsewhere: Callable[..., Any]
) -> None:
    story = Story(session, alice)
    elsewhere(story.ask, "tell me")
    elsewhere(story.answer)
    part = elsewhere(story.text, "", done=False)
    text = page.locator(f"#prt-{part}")
    expect(text).to_have_count(1)
    step = 9
    for number, offset in enumerate(range(0, len(TEXT), step)):
        piece = TEXT[offset : offset + step]
        elsewhere(publish_deltas, [Delta(session, "", part, offset, piece)])
        elsewhere(flush, part, TEXT[: offset + step])
        if number % 4 == 3:
            drop_connections()
        page.wait_for_timeout(60)
    expect(text.locator(".tail")).to_have_text("The end.", timeout=10_000)
    expect(text.locator(".blocks h3")).to_have_text("Plan")
    elsewhere(story.text, TEXT, id=part)
    elsewhere(story.finish, changed=False)
    expect(page.locator(".turn-footer")).to_have_count(1, timeout=10_000)
    # The end comes in a frame of its own.
    expect(page.locator("#session-header")).to_contain_text("Done", timeout=10_000)
    expect(page.locator("#live")).to_have_text("Live")
    assert_same_after_reload(page)


def test_a_question_is_announced_and_answered_from_the_page(
    page: Page, session: Session, alice: User, elsewhere: Callable[..., Any]
) -> None:
    story = Story(session, alice)
    elsewhere(story.ask, "hi")
    elsewhere(story.answer)
    part_id = new_id("prt")
    elsewhere(story.waits, "make test", id=part_id)
    card = page.locator(".permission")
    expect(card).to_contain_text("make test")
    expect(page.locator("[data-alert]")).to_contain_text("Allow a shell command?")
    expect(page.locator(".session-row .state-ask")).to_have_count(1)
    page.wait_for_timeout(600)
    # Its row has the focus: keys answer from anywhere but a field.
    page.locator("details[data-tool=bash] > summary").click()
    page.keyboard.press("?")
    expect(page.locator("[data-keys-list]")).to_contain_text("Allow once")
    page.keyboard.press("Escape")
    page.keyboard.press("y")
    expect(card).to_have_count(0)
    assert elsewhere(lambda: session.permissions.get().status) == "once"
    page.locator("#prompt").fill("and then rest")
    page.locator("[data-queue]").click()
    expect(page.locator(".queue-row")).to_contain_text("and then rest")
    expect(page.locator("#prompt")).to_have_value("")


def test_to_remember_nothing_cannot_be_sent(
    page: Page, session: Session, alice: User, elsewhere: Callable[..., Any]
) -> None:
    story = Story(session, alice)
    elsewhere(story.ask, "hi")
    elsewhere(story.answer)
    elsewhere(story.waits, "make test")
    page.locator(".permission-always > summary").click()
    button = page.get_by_role("button", name="Allow and remember")
    expect(button).to_be_enabled()
    page.locator("[name=pattern]").first.uncheck()
    expect(button).to_be_disabled()
    page.locator("[name=pattern]").first.check()
    expect(button).to_be_enabled()


def test_on_a_phone_a_question_leaves_the_stop_button_and_some_conversation(
    page: Page, session: Session, alice: User, elsewhere: Callable[..., Any]
) -> None:
    elsewhere(tell_whole_turn, session, alice)
    story = Story(session, alice)
    elsewhere(story.ask, "hi")
    elsewhere(story.answer)
    elsewhere(story.waits, "make test")
    card = page.locator(".permission")
    expect(card).to_be_visible()
    expect(card.get_by_role("button", name="Stop")).to_be_hidden()
    page.set_viewport_size({"width": 390, "height": 844})
    expect(card.get_by_role("button", name="Stop")).to_be_visible()
    card.locator(".permission-always > summary").click()
    box = card.locator(".menu-list").bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    page.set_viewport_size({"width": 320, "height": 256})
    assert page.locator("[data-log]").evaluate("log => log.clientHeight") >= 40
    page.wait_for_timeout(600)
    with page.expect_response("**/stop") as answered:
        card.get_by_role("button", name="Stop").click()
    assert answered.value.status == 204
    assert elsewhere(lambda: Run.objects.get(session=session).stop_requested_at) is not None


def test_a_lost_connection_is_said_once_and_only_while_it_is_lost(page: Page) -> None:
    said = "document.dispatchEvent(new CustomEvent('htmx:error', {detail: {error: TypeError()}}))"
    for _ in range(3):
        page.evaluate(said)
    toast = page.locator("[data-toast]")
    expect(toast).to_have_count(1)
    drop_connections()
    expect(toast).to_have_count(0, timeout=4_000)


def test_the_way_to_the_end_is_not_offered_at_the_end(
    page: Page, session: Session, alice: User, elsewhere: Callable[..., Any]
) -> None:
    elsewhere(tell_whole_turn, session, alice)
    expect(page.locator(".turn-footer")).to_have_count(1)
    page.locator("details[data-tool=bash] > summary").click()
    elsewhere(Story(session, alice).ask, "and then?")
    expect(page.locator(".turn")).to_have_count(2)
    expect(page.locator("[data-jump]")).to_be_hidden()


def test_what_comes_open_is_followed_and_what_somebody_opens_is_not(
    page: Page, session: Session, alice: User, elsewhere: Callable[..., Any]
) -> None:
    elsewhere(tell_whole_turn, session, alice)
    expect(page.locator(".turn-footer")).to_have_count(1)
    page.evaluate(
        """() => {
            const row = document.createElement("details");
            row.open = true;
            row.innerText = "waits for an answer\\n".repeat(60);
            document.querySelector("#log").append(row);
        }"""
    )
    wait_for_end(page)
    expect(page.locator("[data-jump]")).to_be_hidden()
    log = page.locator("[data-log]")
    log.evaluate("log => { log.scrollTop = 0; }")
    expect(page.locator("[data-jump]")).to_be_visible()
    page.locator("details[data-tool=bash] > summary").click()
    assert log.evaluate("log => log.scrollTop") < 400


def test_the_end_is_followed_until_somebody_scrolls_up(
    page: Page, session: Session, alice: User, elsewhere: Callable[..., Any]
) -> None:
    for number in range(12):
        elsewhere(tell_whole_turn, session, alice, f"turn {number}")
    expect(page.locator(".turn-footer")).to_have_count(12)
    log = page.locator("[data-log]")
    wait_for_end(page)
    log.evaluate("log => { log.scrollTop = 100; }")
    expect(page.locator("[data-jump]")).to_be_visible()
    elsewhere(tell_whole_turn, session, alice, "below")
    expect(page.locator(".turn-footer")).to_have_count(13)
    assert log.evaluate("log => log.scrollTop") == 100
    expect(page.locator("[data-jump]")).to_contain_text("new")
    page.locator("[data-jump]").click()
    wait_for_end(page)
