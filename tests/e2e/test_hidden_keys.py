from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.e2e.browser import of_page, watched
from tests.e2e.installation import Installation
from tests.e2e.rest import new_session

pytestmark = [*of_page, pytest.mark.deep]


@pytest.fixture
def page(signed_in: BrowserContext) -> Iterator[Page]:
    # The console says that the message was refused.
    with watched(signed_in) as page:
        yield page


def test_each_message_with_a_key_asks_before_it_is_hidden(
    server: Installation, client: httpx.Client, page: Page
) -> None:
    page.goto(f"{server.url}/t/{server.team}/s/{new_session(client)}")
    expect(page.locator("#live")).to_have_attribute("data-state", "live")
    field, asked = page.locator("#prompt"), page.locator("#composer-keys")
    for last in "AB":
        field.fill(f"Use AKIA7QWERTYUIOPASDF{last}")
        field.press("Enter")
        expect(asked).to_be_visible()
        expect(field).to_have_value(f"Use AKIA7QWERTYUIOPASDF{last}")
        field.press("Enter")
        expect(field).to_have_value("")
        expect(asked).to_have_count(0)
    expect(page.get_by_role("log")).not_to_contain_text("AKIA7QWERTYUIOPASDF")
