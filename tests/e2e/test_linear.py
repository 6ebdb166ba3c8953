"""Linear, connected on its page: a comment there, a session, and its answer in the same comment."""

from __future__ import annotations

import re
from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import expect

from tests.e2e.browser import chromium, signed_in_as, watched
from tests.e2e.installation import Installation, installation
from tests.e2e.rest import script, wait_for
from tests.sessions.integrations.linear_server import KEY, SECRET, FakeLinear, linear, signed

pytestmark = [pytest.mark.e2e, pytest.mark.deep]
_MODEL = """
from sessions.models import Project
Project.objects.update(config={"model": "demo/inline"})
result = None
"""
SAYS = "Tax is added twice: in the till and on the bill."


@pytest.fixture
def fake() -> Iterator[FakeLinear]:
    with linear() as server:
        yield server


@pytest.fixture
def server(tmp_path_factory: pytest.TempPathFactory, fake: FakeLinear) -> Iterator[Installation]:
    with installation(tmp_path_factory.mktemp("linear")) as made:
        made.env["DJANGO_SETTINGS_MODULE"] = "tests.e2e.linear_settings"
        made.env |= {"PLAYED_LINEAR": fake.base, "PUBLIC_URL": f"http://127.0.0.1:{made.port}"}
        made.start()
        made.bootstrap()
        made.run(_MODEL)
        yield made


def test_a_comment_becomes_a_session_whose_answer_is_a_comment(
    server: Installation, fake: FakeLinear
) -> None:
    project = f"{server.url}/t/{server.team}/p/{server.project}"
    with (
        chromium() as browser,
        signed_in_as(browser, server, server.email) as context,
        watched(context, console=True) as page,
    ):
        page.goto(f"{project}/integration")
        page.get_by_role("link", name="Linear").click()
        page.get_by_label("API key").fill(KEY)
        page.get_by_label("Team key").fill("ENG")
        page.get_by_role("button", name="Set up").click()
        address = page.locator("#integration-address-text").inner_text()
        assert address.startswith(f"{server.url}/integrations/igr_")
        page.get_by_label("Signing secret").fill(SECRET)
        page.get_by_role("button", name="Save").click()
        expect(page.locator("main")).not_to_contain_text("Paste the signing secret of the webhook.")
        assert KEY not in page.content()

        def says(text: str) -> None:
            body, headers = signed(fake.says(text))
            kind = {"content-type": "application/json"}
            got = httpx.post(address, content=body, headers={**headers, **kind}, timeout=30)
            assert got.status_code == 200, got.text

        def answer() -> str:
            """Returns: the newest that the server has written."""
            own = [one["body"] for one in fake.comments.values() if "/oc" not in one["body"]]
            return str(own[-1]) if own else ""

        page.get_by_role("button", name="Link my account").click()
        says(page.locator("#integration-code-text").inner_text())
        wait_for(lambda: "confirm there" in answer())
        page.goto(f"{project}/trackers/linear")
        page.get_by_role("button", name=re.compile("^Link Bob")).click()
        expect(page.locator("#integration-accounts")).to_contain_text("Unlink")

        says(f"/oc {script([{'text': SAYS}])}")
        wait_for(lambda: answer().startswith(SAYS))
        [link] = re.findall(r"\[Open the session\]\((.*?)\)", answer())
        wait_for(lambda: [emoji for _, emoji in fake.reactions.values()] == ["tada"])
        page.goto(link)
        expect(page.locator("main")).to_contain_text(SAYS)
        expect(page).to_have_title(re.compile("ENG-7 The till is wrong"))
