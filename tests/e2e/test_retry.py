from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.e2e.browser import chromium, in_chromium, sign_in
from tests.e2e.installation import Installation
from tests.e2e.rest import body, new_session, text_of, wait_for
from tests.providers.servers import OpenAIServer, Reply

pytestmark = [*in_chromium, pytest.mark.deep]
MODEL = {"providerID": "loop", "modelID": "m"}
BUSY = {"error": {"message": "Rate limit reached for m.", "type": "rate_limit_error"}}


def test_a_wait_for_the_next_try_survives_a_kill_and_is_counted_down(
    mortal: Installation, tmp_path: Path
) -> None:
    limited = Reply(status=429, error=BUSY, headers={"retry-after": "20"})
    with (
        OpenAIServer([limited, Reply(text="At last.")]) as provider,
        mortal.client() as client,
        chromium() as browser,
    ):
        options = {"baseURL": provider.base_url, "apiKey": "sk-loop-0123456789"}
        block = {"loop": {"name": "Loop", "options": options, "models": {"m": {"name": "M"}}}}
        assert client.patch("/global/config", json={"provider": block}).status_code == 200
        session = new_session(client)
        client.post(f"/session/{session}/prompt_async", json=body("go", MODEL))
        status = wait_for(
            lambda: (
                client.get("/session/status").json().get(session, {}).get("next")
                and client.get("/session/status").json()[session]
            )
        )
        assert (status["type"], status["attempt"]) == ("retry", 1)
        assert status["message"].startswith("Rate limit reached for m.")
        assert 10_000 < status["next"] - time.time() * 1000 < 20_500

        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.goto(f"{mortal.url}/login")
        sign_in(page, mortal.email)
        page.wait_for_url(re.compile("/t/"))
        page.goto(f"{mortal.url}/t/{mortal.team}/s/{session}")
        shown = page.locator(".status time")
        expect(shown).to_have_text(re.compile(r"0:[01]\d"))
        first = shown.inner_text()
        expect(shown).not_to_have_text(first)
        expect(page.locator(".retry")).to_contain_text("Attempt 1 of 6 failed")
        page.screenshot(path=tmp_path / "retry-1440.png")
        page.set_viewport_size({"width": 390, "height": 844})
        page.screenshot(path=tmp_path / "retry-390.png")
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= 390

        mortal.kill_worker()
        if mortal.is_embedded:
            mortal.start()
        assert client.get("/session/status").json()[session] == status
        wait_for(lambda: client.get("/session/status").json() == {}, seconds=30)
        assert time.time() * 1000 >= status["next"]
        assert text_of(client.get(f"/session/{session}/message").json()[-1]) == "At last."
        assert len(provider.requests) == 2
        expect(page.locator("[data-log]")).to_contain_text("At last.")
