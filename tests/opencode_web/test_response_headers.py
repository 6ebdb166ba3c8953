"""What every kind of response has, over the whole map of routes."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.conf import settings as django_settings
from django.test import Client
from django.urls import get_resolver

from opencode_web.handler import PageHandler
from opencode_web.lib.body_limit import BodyLimit
from opencode_web.lib.secure_headers import SecureHeaders
from opencode_web.lib.static import StaticFilesApp
from teams.models import Team, User
from tests.architecture.test_access_matrix import PLACEHOLDER, routes_of

pytestmark = pytest.mark.django_db(transaction=True)

EVERYWHERE = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin|no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": r".*camera=\(\).*",
    "content-security-policy": ".*frame-ancestors 'none'.*",
    "strict-transport-security": "max-age=31536000",
}


OF_PARTS = {
    "x-content-type-options",
    "cross-origin-resource-policy",
    "strict-transport-security",
}


def lacking(response: httpx.Response) -> list[str]:
    is_part = response.headers.get("content-type", "").startswith("text/javascript")
    return [
        name
        for name, wanted in EVERYWHERE.items()
        if not (is_part and name not in OF_PARTS)
        and not re.fullmatch(wanted, response.headers.get(name, ""))
    ]


@pytest.fixture
async def browser(settings: Any, tmp_path: Path) -> Any:
    settings.SECURE_HSTS_SECONDS = 31_536_000
    settings.STATIC_ROOT = tmp_path
    (tmp_path / "app.js").write_text("1")
    site = SecureHeaders(BodyLimit(StaticFilesApp(PageHandler())))
    transport = httpx.ASGITransport(app=site, raise_app_exceptions=False)  # type: ignore[arg-type]
    async with httpx.AsyncClient(transport=transport, base_url="http://testserver") as made:
        yield made


@pytest.fixture
def cookie(client_for: Callable[[User | None], Client], alice: User) -> str:
    name = django_settings.SESSION_COOKIE_NAME
    return f"{name}={client_for(alice).cookies[name].value}"


@pytest.mark.deep
async def test_every_route_answers_with_all_of_them(browser: httpx.AsyncClient, team: Team) -> None:
    wrong, kinds = list[str](), set[int]()
    for route in {route for route, _ in routes_of(get_resolver().url_patterns)}:
        for method in ("GET", "POST"):
            response = await browser.request(method, f"/{PLACEHOLDER.sub('x', route)}")
            kinds.add(response.status_code)
            wrong += [f"{method} {route}: {name}" for name in lacking(response)]
    assert wrong == []
    assert {200, 302, 401, 403, 404} <= kinds


async def test_so_do_files_faults_refusals_and_streams(
    browser: httpx.AsyncClient, team: Team, cookie: str
) -> None:
    for method, path, headers, expected in [
        ("GET", "/static/app.js", {}, 200),
        ("GET", "/static/nothing.js", {}, 404),
        ("GET", "/login", {"host": "evil.example"}, 400),
        ("POST", "/login", {}, 403),
        ("POST", "/session", {"content-length": "99999999999"}, 413),
        ("GET", "/doc", {}, 200),
        ("GET", "/t/acme/", {"cookie": cookie}, 200),
        ("GET", "/t/acme/usage.csv", {"cookie": cookie}, 200),
    ]:
        response = await browser.request(method, path, headers=headers)
        assert (path, response.status_code, lacking(response)) == (path, expected, [])


async def test_a_forwarded_host_is_not_believed(browser: httpx.AsyncClient, team: Team) -> None:
    evil = {"x-forwarded-host": "evil.example", "forwarded": "host=evil.example"}
    response = await browser.get("/t/acme/", headers=evil)
    assert response.headers["location"] == "/login?next=/t/acme/"
    assert "evil" not in (await browser.get("/login", headers=evil)).text
