"""The first thing that somebody does: connect a server, from the list to a default model."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from bench.npm import Unavailable
from tests.e2e.axe import find_faults, install_axe
from tests.e2e.browser import of_page, signed_in_as
from tests.e2e.installation import Installation
from tests.providers.views.test_connect import KEY, compatible

pytestmark = [*of_page, pytest.mark.deep]


@pytest.fixture(scope="module")
def axe() -> str:
    try:
        return install_axe()
    except Unavailable as exc:
        pytest.skip(f"axe-core: {exc}")


def test_a_server_is_connected_its_models_are_ticked_and_one_is_tested(
    server: Installation, page: Page, axe: str
) -> None:
    settings = f"{server.url}/t/{server.team}/settings/models"
    with compatible() as address:
        page.goto(f"{settings}/new")
        page.get_by_role("link", name="Add a server").click()
        page.get_by_label("Base URL").fill(address)
        page.locator("#server").get_by_label("Key").fill(KEY)
        page.locator("#server").get_by_label("Name").fill("Box")
        page.get_by_role("button", name="Connect").click()
        allow = page.get_by_role("button", name=re.compile("^Allow "))
        expect(page.locator("#check").or_(allow)).to_be_visible()
        if allow.is_visible():
            page.locator("#server").get_by_label("Key").fill(KEY)
            allow.click()
        expect(page.locator("#check")).to_contain_text("2 known models.")
        assert list(find_faults(page, "settings-listed", axe)) == []
        page.get_by_role("checkbox", name="qwen3-coder").uncheck()
        page.get_by_label("Input price of llama4").fill("0.5")
        page.get_by_label("Output price of llama4").fill("1")
        page.get_by_role("button", name="Save and test").click()
        expect(page.locator("#check")).to_contain_text("1 model can be used.")
        expect(page.locator("#check .notice-ok")).to_contain_text("responded.")
        expect(page.get_by_role("region", name="Test call")).to_be_focused()
        assert list(find_faults(page, "settings-check", axe)) == []
    page.get_by_role("link", name="Continue").click()
    page.get_by_role("button", name=re.compile("^Keep ")).click()
    expect(page).to_have_url(re.compile(r"/settings/models/$"))
    expect(page.locator("#providers")).to_contain_text("Box")


def test_the_list_of_providers_narrows_as_somebody_types(server: Installation, page: Page) -> None:
    page.goto(f"{server.url}/t/{server.team}/settings/models/new")
    field = page.get_by_role("searchbox", name="Search providers")
    expect(field).to_be_focused()
    page.keyboard.type("groq")
    expect(page.locator("#choose .entry")).to_have_count(1)
    for _ in ("the button", "the link"):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Connect Groq")


def test_a_code_is_entered_at_the_vendor_and_the_page_goes_on_by_itself(
    played: Installation, signed_in: BrowserContext
) -> None:
    assert signed_in.browser is not None
    with signed_in_as(signed_in.browser, played, played.email) as context:
        page = context.new_page()
        page.goto(f"{played.url}/me/models/new/github-copilot")
        page.get_by_role("main").get_by_role("button", name="Sign in").click()
        expect(page.locator("#user-code")).to_contain_text("WDJB-")
        expect(page.locator("#sign-in .notice-ok")).to_contain_text("Signed in as octocat.")
        page.get_by_role("link", name="Continue").click()
        # Only for a moment it says what is listed: the test call begins by itself.
        expect(page.locator("#check")).to_contain_text(
            re.compile("1 known model|1 model can be used")
        )
