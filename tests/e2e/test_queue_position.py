from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.e2e.browser import chromium, in_chromium, signed_in_as, watched
from tests.e2e.installation import Installation, installation
from tests.e2e.rest import body, new_session, script, wait_for

pytestmark = [*in_chromium, pytest.mark.deep]


@pytest.fixture(scope="module")
def narrow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """A server whose worker takes one session at a time."""
    with installation(tmp_path_factory.mktemp("narrow")) as server:
        server.env["WORKER_CONCURRENCY"] = "1"
        server.start()
        server.bootstrap()
        yield server


def test_who_waits_for_a_worker_sees_the_line_move(narrow: Installation) -> None:
    with (
        narrow.client() as client,
        chromium() as browser,
        signed_in_as(browser, narrow, narrow.email) as context,
        watched(context, console=True) as page,
    ):
        first, second, third = (new_session(client) for _ in range(3))
        for session in (first, second, third):
            text = script([{"text": "Working"}, {"delay_ms": 600_000}])
            answer = client.post(f"/session/{session}/prompt_async", json=body(text))
            assert answer.status_code == 204, answer.text
            if session == first:
                wait_for(lambda: client.get(f"/session/{first}/message").json()[1:])
        page.goto(f"{narrow.url}/t/till-team/s/{third}")
        status = page.locator("#session-header .status")
        row = page.locator(f"#row-{third} .session-row-detail")
        expect(status).to_contain_text("Queued, 2nd in line")
        expect(row).to_contain_text("Queued, 2nd in line")
        expect(page.locator(f"#row-{second}")).to_contain_text("Queued, next in line")
        client.post(f"/session/{first}/abort")
        expect(status).to_contain_text("Queued, next in line")
        expect(row).to_contain_text("Queued, next in line")
        expect(page.locator(f"#row-{second} .state-run")).to_have_count(1)
        client.post(f"/session/{second}/abort")
        expect(status).to_contain_text("Running")
        client.post(f"/session/{third}/abort")
