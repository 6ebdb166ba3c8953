from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace

import httpx
import pytest

from tests.e2e.installation import PASSWORD, ROOT, Installation, free_port
from tests.e2e.rest import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.deep, pytest.mark.timeout(120), pytest.mark.any_database]


@pytest.fixture
def second(server: Installation) -> Iterator[Installation]:
    """Another web process on the same database."""
    other = replace(server, port=free_port())
    command = [
        sys.executable,
        "-m",
        "daphne",
        "-p",
        str(other.port),
        "opencode_web.asgi:application",
    ]
    with subprocess.Popen(command, cwd=ROOT, env=server.env, stderr=subprocess.DEVNULL) as process:
        wait_for(lambda: _is_healthy(other), seconds=60)
        yield other
        process.terminate()


def _is_healthy(server: Installation) -> bool:
    try:
        return httpx.get(f"{server.url}/global/health").status_code == 200
    except httpx.HTTPError:
        return False


def sign_in(server: Installation, password: str) -> httpx.Response:
    with httpx.Client(base_url=server.url, headers={"origin": server.url}) as browser:
        browser.get("/login")
        data = {
            "login": server.email,
            "password": password,
            "csrfmiddlewaretoken": browser.cookies["csrftoken"],
        }
        return browser.post("/login", data=data)


def test_failed_sign_ins_count_for_both(server: Installation, second: Installation) -> None:
    # One after the other at each, as a balancer would spread them.
    codes = [sign_in(one, "wrong").status_code for one in (server, second) * 3]
    assert codes == [422] * 5 + [429]
    for one in (server, second):
        blocked = sign_in(one, PASSWORD)
        assert blocked.status_code == 429
        assert int(blocked.headers["Retry-After"]) > 20
