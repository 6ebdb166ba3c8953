from __future__ import annotations

import os
from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import BrowserContext, Page

from bench.npm import Unavailable
from bench.reference import install
from tests.e2e.browser import chromium, signed_in_as, watched
from tests.e2e.genuine import Genuine
from tests.e2e.installation import Installation

# The embedded server has no Redis that could fail.
collect_ignore = [] if "REDIS_URL" in os.environ else ["test_broker_outage.py"]


@pytest.fixture(scope="module")
def signed_in(server: Installation) -> Iterator[BrowserContext]:
    with chromium() as browser, signed_in_as(browser, server, server.email) as context:
        yield context


@pytest.fixture
def page(signed_in: BrowserContext) -> Iterator[Page]:
    with watched(signed_in, console=True) as page:
        yield page


@pytest.fixture
def client(server: Installation) -> Iterator[httpx.Client]:
    with server.client() as made:
        yield made


@pytest.fixture(scope="module")
def genuine(server: Installation, tmp_path_factory: pytest.TempPathFactory) -> Genuine:
    try:
        program = install()
    except Unavailable as exc:
        pytest.skip(f"the genuine client: {exc}")
    return Genuine(program, tmp_path_factory.mktemp("home"), server)
