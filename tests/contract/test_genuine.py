from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from bench.npm import Unavailable
from bench.reference import reference
from bench.server import Server
from opencode_web.api import api
from sessions.api.openapi import describe
from tests.contract.compare import compare, routes
from tests.contract.reviewed import outdated, read_reviewed, unreviewed

pytestmark = pytest.mark.e2e
START_S = 120


@contextmanager
def started(server: Server) -> Iterator[str]:
    with server.log.open("wb") as log:
        process = subprocess.Popen(
            server.command, env=server.env, cwd=server.cwd, stdout=log, stderr=log
        )
    try:
        yield server.address.url
    finally:
        process.kill()
        process.wait(30)


def fetch(url: str) -> dict[str, Any]:
    deadline = time.monotonic() + START_S
    while True:
        try:
            # What comes before it listens well is never answered.
            found: dict[str, Any] = httpx.get(f"{url}/doc", timeout=5).json()
            return found
        except httpx.HTTPError:
            assert time.monotonic() < deadline, "the genuine program does not answer"
            time.sleep(0.2)


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    try:
        server = reference(tmp_path_factory.mktemp("genuine"), "http://127.0.0.1:9")
    except Unavailable as exc:
        pytest.skip(f"the genuine program: {exc}")
    with started(server) as url:
        return fetch(url)


@pytest.fixture(scope="module")
def ours() -> dict[str, Any]:
    # As it is sent.
    return dict(json.loads(json.dumps(describe(api))))


def test_clients_of_the_genuine_program_find_what_they_need(
    theirs: dict[str, Any], ours: dict[str, Any]
) -> None:
    newer = [route for route in routes(theirs) if route.split()[1].startswith("/api/")]
    assert len(newer) >= 55
    assert len(routes(theirs)) - len(newer) >= 130
    found, entries = compare(theirs, ours), read_reviewed()
    assert [str(one) for one in unreviewed(found, entries)] == []
    assert outdated(found, entries) == []


def test_an_entry_says_what_it_is_about() -> None:
    for entry in read_reviewed():
        assert entry.place.split()[0] in {"*", "GET", "PUT", "POST", "DELETE", "PATCH"}
        assert len(entry.why) > 30
