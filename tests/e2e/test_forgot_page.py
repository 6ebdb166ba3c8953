"""The page of a forgotten password, which only a server that sends mail has."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.e2e.axe import find_faults
from tests.e2e.browser import of_page
from tests.e2e.installation import installation
from tests.e2e.test_every_page import axe as axe

pytestmark = [*of_page, pytest.mark.deep]


def test_axe_finds_nothing_where_a_forgotten_password_is_reset(
    signed_in: BrowserContext, axe: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    pictures = request.config.getoption("--pictures")
    assert signed_in.browser is not None
    with installation(tmp_path) as mailing, signed_in.browser.new_context() as context:
        mailing.env |= {"SMTP_URL": "smtp+plain://127.0.0.1:9", "PUBLIC_URL": mailing.url}
        mailing.start()
        # Before there is anybody, every address leads to the setup.
        mailing.bootstrap()
        page = context.new_page()
        page.goto(f"{mailing.url}/login")
        page.locator('a[href="/login/forgot"]').click()
        expect(page.get_by_role("textbox")).to_be_visible()
        assert list(find_faults(page, "forgot", axe, pictures=pictures)) == []
        page.get_by_role("textbox").fill("nobody@example.com")
        page.keyboard.press("Enter")
        page.wait_for_url(f"{mailing.url}/login")
        expect(page.get_by_text("If there is an account with this address")).to_be_visible()
