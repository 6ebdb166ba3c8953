from __future__ import annotations

import re
import threading
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.e2e.browser import chromium, in_chromium, sign_in
from tests.e2e.installation import Installation
from tests.e2e.rest import body, new_session, text_of, wait_for
from tests.providers.servers import OpenAIServer, Reply, Request

pytestmark = [*in_chromium, pytest.mark.deep]
MODEL = {"providerID": "loop", "modelID": "m"}
REFUSED = {"error": {"message": "Invalid key.", "code": "invalid_api_key"}}


def shoot(page: Page, folder: Path, name: str) -> None:
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        for width, height in ((1440, 900), (390, 844)):
            page.set_viewport_size({"width": width, "height": height})
            page.screenshot(path=folder / f"{name}-{width}-{scheme}.png", full_page=True)
            assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.set_viewport_size({"width": 1440, "height": 900})


def block(name: str, server: OpenAIServer) -> dict[str, Any]:
    options = {"baseURL": server.base_url, "apiKey": f"sk-{name}-0123456789"}
    return {"name": name.title(), "options": options, "models": {"m": {"name": f"{name} model"}}}


def said_in(client: httpx.Client, session: str) -> list[str]:
    return [text_of(message) for message in client.get(f"/session/{session}/message").json()]


def test_turns_wait_in_line_for_a_key_and_another_model_goes_on_when_it_is_refused(
    mortal: Installation, tmp_path: Path
) -> None:
    running, most, lock = [0], [0], threading.Lock()
    refuses, released = threading.Event(), threading.Event()

    def answer(_: Request) -> Reply:
        if refuses.is_set():
            return Reply(status=401, error=REFUSED)
        return Reply(text="Done with it.", chunk_chars=1, chunk_delay_s=0.02)

    class Counting(OpenAIServer):
        def frames(self, reply: Reply) -> Any:
            with lock:
                running[0] += 1
                most[0] = max(most[0], running[0])
            released.wait(60)
            yield from super().frames(reply)
            with lock:
                running[0] -= 1

    with (
        Counting(answer) as one,
        OpenAIServer([Reply(text="I went on.")]) as two,
        mortal.client() as client,
        chromium() as browser,
    ):
        config = {"provider": {"loop": block("loop", one), "next": block("next", two)}}
        assert client.patch("/global/config", json=config).status_code == 200
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.goto(f"{mortal.url}/login")
        sign_in(page, mortal.email)
        page.wait_for_url(re.compile("/t/"))
        settings = f"{mortal.url}/t/{mortal.team}/settings/models/p/loop"
        page.goto(settings)
        page.get_by_label("Concurrent calls").first.fill("1")
        page.locator("#provider-keys form").first.get_by_role("button", name="Save").click()
        expect(page.locator(".toasts")).to_contain_text("Limits saved.")

        sessions = [new_session(client) for _ in range(3)]
        for session in sessions:
            client.post(f"/session/{session}/prompt_async", json=body("go", MODEL))

        def waiting() -> str:
            found = client.get("/session/status").json()
            told = {key: one for key, one in found.items() if one.get("message")}
            return next(iter(told), "")

        waits = wait_for(waiting)
        status = client.get("/session/status").json()[waits]
        assert (status["type"], status["message"]) == ("retry", "Waiting for room at Loop")
        page.goto(f"{mortal.url}/t/{mortal.team}/s/{waits}")
        expect(page.locator(".status").first).to_contain_text("Waiting for room at Loop")
        shoot(page, tmp_path, "room")
        released.set()
        for session in sessions:
            wait_for(
                lambda session=session: "Done with it." in said_in(client, session), seconds=60
            )
        assert most[0] == 1

        refuses.set()
        client.patch("/global/config", json={"fallback_models": ["next/m"]})
        session = new_session(client)
        client.post(f"/session/{session}/prompt_async", json=body("go", MODEL))
        wait_for(lambda: "I went on." in said_in(client, session), seconds=30)
        page.goto(f"{mortal.url}/t/{mortal.team}/s/{session}")
        said = "loop model did not answer (Invalid key). next model went on."
        expect(page.locator(".retry")).to_contain_text(said)
        shoot(page, tmp_path, "fallback")

        def shown() -> str:
            page.goto(settings)
            return page.locator("#provider").inner_text()

        wait_for(lambda: "AuthError" in shown())  # told every few seconds
        assert "AuthError: 1" in shown()
        shoot(page, tmp_path, "provider")
        page.goto(f"{mortal.url}/t/{mortal.team}/settings/models/")
        shoot(page, tmp_path, "providers")
