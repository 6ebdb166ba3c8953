from __future__ import annotations

import json
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.test import Client

from bench.npm import Unavailable
from bench.reference import reference
from bench.server import Server
from opencode_web.api import api
from sessions.api.openapi import describe
from teams.models import Team, User
from tests.contract.compare import Difference, compare, event_types, fits, routes
from tests.contract.reviewed import outdated, read_reviewed, unreviewed
from tests.contract.sent_events import sent_events
from tests.sessions.api.conftest import bearer
from tests.sessions.factories import make_project

pytestmark = [pytest.mark.e2e, pytest.mark.deep, pytest.mark.any_database]
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
    events = event_types(theirs)
    assert len(events) >= 85
    missing = [Difference(f"EVENT {kind}", "is not sent") for kind in events - sent_events(events)]
    found, entries = [*compare(theirs, ours), *missing], read_reviewed()
    assert [str(one) for one in unreviewed(found, entries)] == []
    assert outdated(found, entries) == []


def test_an_entry_says_what_it_is_about() -> None:
    for entry in read_reviewed():
        assert entry.place.split()[0] in {"*", "EVENT", "GET", "PUT", "POST", "DELETE", "PATCH"}
        assert len(entry.why) > 30


# They answer when somebody asks for something, which nobody does here.
_WAIT = {"GET /tui/control/next"}
_IDS = {
    "sessionID": "ses_unknown",
    "messageID": "msg_unknown",
    "requestID": "per_unknown",
    "ptyID": "pty_unknown",
}


@pytest.mark.django_db(transaction=True)
def test_errors_have_the_shapes_that_the_genuine_program_declares(
    theirs: dict[str, Any], alice: User, team: Team, tmp_path: Path
) -> None:
    make_project(team, tmp_path / "shop")
    client = Client(headers=bearer(alice, team))
    checked, wrong = 0, []
    for path, item in theirs["paths"].items():
        for method in set(item) & {"get", "put", "post", "delete", "patch"}:
            responses = item[method]["responses"]
            if "{" not in path or f"{method.upper()} {path}" in _WAIT:
                continue
            address = re.sub(r"\{(\w+)\}", lambda name: _IDS.get(name[1], "unknown"), path)
            given = client.generic(method.upper(), address, "{}", content_type="application/json")
            declared = responses.get(str(given.status_code))
            if given.status_code < 400 or declared is None:
                continue
            checked += 1
            shape = declared["content"]["application/json"]["schema"]
            if not fits(given.json(), shape, theirs):
                wrong.append(f"{method} {path}: {given.status_code} {given.content.decode()[:200]}")
    assert wrong == []
    assert checked >= 60
