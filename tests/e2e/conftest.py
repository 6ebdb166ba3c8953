from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext

from bench.npm import Unavailable
from bench.reference import install
from tests.e2e.browser import chromium
from tests.e2e.genuine import Genuine
from tests.e2e.installation import PASSWORD, Installation


@pytest.fixture(scope="module")
def signed_in(server: Installation) -> Iterator[BrowserContext]:
    with chromium() as browser:
        context = browser.new_context(viewport={"width": 1440, "height": 900})
        page = context.new_page()
        page.goto(f"{server.url}/login")
        page.get_by_label("E-mail").fill(server.email)
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url(re.compile("/t/"))
        page.close()
        yield context


@pytest.fixture(scope="module")
def genuine(server: Installation, tmp_path_factory: pytest.TempPathFactory) -> Genuine:
    try:
        program = install()
    except Unavailable as exc:
        pytest.skip(f"the genuine client: {exc}")
    return Genuine(program, tmp_path_factory.mktemp("home"), server)
