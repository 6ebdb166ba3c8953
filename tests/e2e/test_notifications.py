"""What the browser itself shows of a session, which only the whole of it does."""

from __future__ import annotations

import json
from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.e2e.browser import chromium, of_page, phone, signed_in_as, watched
from tests.e2e.installation import Installation
from tests.e2e.rest import body, new_session, script, wait_for
from tests.e2e.test_budgets import COSTLY, PRICED
from tests.e2e.test_together import bobs as bobs
from tests.sessions.webhook_receiver import receive

pytestmark = [*of_page, pytest.mark.deep]


@pytest.fixture
def told(server: Installation) -> Iterator[BrowserContext]:
    with (
        chromium(whole=True) as browser,
        signed_in_as(browser, server, server.email) as context,
    ):
        context.grant_permissions(["notifications"], origin=server.url)
        yield context


def look_away(page: Page, server: Installation, session: str) -> None:
    """Open a session for somebody who wants to be told, in a page that nobody sees."""
    page.goto(f"{server.url}/me/notifications")
    page.get_by_label("An agent or a teammate needs a response: open pages").check()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved.")).to_be_visible()
    page.add_init_script("Object.defineProperty(document, 'hidden', { get: () => true })")
    page.goto(f"{server.url}/t/{server.team}/s/{session}")
    expect(page.locator("#live")).to_have_attribute("data-state", "live")


def test_admins_are_told_that_a_member_asks_them(
    server: Installation, client: httpx.Client, told: BrowserContext, bobs: BrowserContext
) -> None:
    config = {**PRICED, "limits": {"session_cost": "0.50"}}
    client.patch("/config", json=config).raise_for_status()
    with watched(told) as page, watched(bobs) as his:
        session = new_session(client)
        look_away(page, server, session)
        text = json.dumps({"name": "e2e", "turns": [COSTLY], "otherwise": COSTLY[-1:]})
        client.post(f"/session/{session}/prompt_async", json=body(f"<<script{text}>>"))
        expect(page.locator(".permission")).to_be_visible()
        his.goto(f"{server.url}/t/{server.team}/s/{session}")
        # A card hears nothing for the first half second.
        his.wait_for_timeout(600)
        his.get_by_role("button", name="Ask them").click()
        expect(his.locator(".permission")).to_contain_text("has asked them.")
        notes = """async () => (await (await navigator.serviceWorker.ready).getNotifications())
            .some(({ body }) => body.includes("asks the admins"))"""
        wait_for(lambda: page.evaluate(notes))
        client.post(f"/session/{session}/abort")


def test_the_browser_tells_of_what_waits_while_nobody_looks(
    server: Installation, client: httpx.Client, told: BrowserContext
) -> None:
    with watched(told, console=True) as page:
        session = new_session(client)
        look_away(page, server, session)
        text = script([{"tool": "bash", "input": {"command": "true"}}], [{"text": "Done."}])
        client.post(f"/session/{session}/prompt_async", json=body(text))
        expect(page.locator(".permission")).to_be_visible()
        notes = """async () => (await (await navigator.serviceWorker.ready).getNotifications())
            .map(({ tag, body, data }) => [tag, body.split(":")[0], data.url.split("/").at(-1)])"""
        shown = wait_for(lambda: page.evaluate(notes))
        assert shown == [[f"row-{session}", "Needs you", session]]
        # The worker of the app has a page of its own for the time without a server.
        assert "cannot be reached" in page.evaluate(
            "async () => (await caches.match('/offline')).text()"
        )
        client.post(f"/session/{session}/abort")


def push(page: Page, message: dict[str, str]) -> None:
    """Give the service worker a message, as the browser's push service does."""
    registered: list[str] = []
    devtools = page.context.new_cdp_session(page)
    devtools.on(
        "ServiceWorker.workerRegistrationUpdated",
        lambda event: registered.extend(one["registrationId"] for one in event["registrations"]),
    )
    devtools.send("ServiceWorker.enable")
    wait_for(lambda: page.evaluate("1") and registered)
    origin = "/".join(page.url.split("/")[:3])
    parameters = {"origin": origin, "registrationId": registered[-1], "data": json.dumps(message)}
    devtools.send("ServiceWorker.deliverPushMessage", parameters)
    devtools.detach()


def test_a_pushed_message_is_shown_unless_its_page_is_in_sight(
    server: Installation, client: httpx.Client, told: BrowserContext
) -> None:
    session = new_session(client)
    path = f"/t/{server.team}/s/{session}"
    message = {"title": "Till", "body": "Needs you", "tag": "row-x", "url": f"{path}#perm-1"}
    notes = """async () => (await (await navigator.serviceWorker.ready).getNotifications())
        .map(({ title, body, tag, data }) => [title, body, tag, data.url])"""
    with watched(told, console=True) as page:
        page.goto(f"{server.url}/me/notifications")
        page.evaluate("navigator.serviceWorker.register('/sw.js')")
        page.evaluate("navigator.serviceWorker.ready.then(() => true)")
        page.goto(server.url + path)
        expect(page.locator("#live")).to_have_attribute("data-state", "live")
        push(page, message)
        push(page, {**message, "tag": "row-y", "url": "/t/other"})
        wait_for(lambda: page.evaluate(notes))
        assert [one[2] for one in page.evaluate(notes)] == ["row-y"]
        page.goto(f"{server.url}/me/notifications")
        push(page, message)
        shown = ["Till", "Needs you", "row-x", f"{path}#perm-1"]
        wait_for(lambda: shown in page.evaluate(notes))


# Chromium subscribes only at Google's service, which tests cannot reach.
SUBSCRIBES = """
    PushManager.prototype.subscribe = async ({ applicationServerKey }) => ({
        toJSON: () => ({ endpoint: `https://push.example.com/${applicationServerKey}`, keys: {
            auth: "BTBZMqHH6r4Tts7J_aSIgg",
            p256dh: "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcx" +
                "aOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
        } }),
    });
"""


def test_web_push_is_turned_on_and_off(server: Installation, told: BrowserContext) -> None:
    with watched(told, console=True) as page:
        page.add_init_script(SUBSCRIBES)
        page.goto(f"{server.url}/me/notifications")
        expect(page.get_by_text("Web Push reaches you while no page is open")).to_be_visible()
        expect(page.get_by_text("This browser has no Web Push here")).to_be_hidden()
        page.get_by_role("button", name="Turn on in this browser").click()
        expect(page.get_by_text("This browser gets Web Push from now on.")).to_be_visible()
        listed = page.locator("#push .list-row")
        expect(listed).to_contain_text("This browser")
        expect(page.get_by_role("button", name="Turn on in this browser")).to_have_count(0)
        page.get_by_role("button", name="Turn off for").click()
        expect(listed).to_have_count(0)
        # Another try, where the person says no.
        page.add_init_script("Notification.requestPermission = async () => 'denied'")
        page.reload()
        page.get_by_role("button", name="Turn on in this browser").click()
        expect(page.get_by_text("This browser did not allow it.")).to_be_visible()


def test_a_mention_reaches_the_webhook_of_a_teammate(
    server: Installation, client: httpx.Client, told: BrowserContext, bobs: BrowserContext
) -> None:
    session = new_session(client)
    with receive() as receiver, watched(told) as page, watched(bobs) as his:
        his.goto(f"{server.url}/me/notifications")
        form = his.locator("#own-webhook")
        form.get_by_label("Address").fill(f"{receiver.address}/in")
        form.get_by_role("button", name="Add").click()
        expect(form.get_by_text("Copy the secret now.")).to_be_visible()
        expect(form.locator(".secret code")).to_contain_text("whsec_")
        expect(his.get_by_label("A teammate has mentioned you: Webhook")).to_be_checked()
        form.get_by_role("button", name="Send a test").click()
        expect(his.get_by_text("The test has arrived")).to_be_visible()
        page.goto(f"{server.url}/t/{server.team}/s/{session}")
        page.locator("#prompt").press_sequentially("What says @bo")
        option = page.locator("#mentions .mention", has_text="Teammate")
        expect(option).to_have_attribute("data-insert", "@Bob")
        option.click()
        page.locator("#prompt").press_sequentially("about it?")
        page.keyboard.press("Enter")
        expect(page.locator(".prompt-mention")).to_have_text("@Bob")
        wait_for(lambda: len(receiver.got) > 1)
        [line] = json.loads(receiver.got[1][1])["data"]["notifications"]
        assert (line["kind"], line["session"]) == ("mentioned", {"id": session})
        his.goto(line["url"])
        expect(his.locator(".prompt-mention")).to_be_in_viewport()
        client.post(f"/session/{session}/abort")


def test_boxes_are_large_enough_for_fingers(server: Installation, told: BrowserContext) -> None:
    with phone(told) as page:
        page.goto(f"{server.url}/me/notifications")
        boxes = page.locator("#notifications label.check")
        sizes = boxes.evaluate_all(
            "all => all.map((one) => one.getBoundingClientRect()).map((r) => [r.width, r.height])"
        )
        assert len(sizes) == 11
        assert min(size for pair in sizes for size in pair) >= 40, sizes
        wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert page.evaluate(wide) <= 0
        # Beside the box, still on its label.
        box = boxes.first.locator("input")
        before = box.is_checked()
        boxes.first.click(position={"x": 35, "y": 20})
        expect(box).to_be_checked(checked=not before)
