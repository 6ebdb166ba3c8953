from __future__ import annotations

import gzip
import json

import pytest
from django.test import Client

from opencode_web.api import urlpatterns
from opencode_web.catalogs import PATHS
from sessions.models import Project
from teams.models import Team, User
from tests.sessions.api.conftest import bearer
from tests.sessions.factories import make_project

pytestmark = pytest.mark.django_db


@pytest.fixture
def project(team: Team, tmp_path_factory: pytest.TempPathFactory) -> Project:
    return make_project(team, tmp_path_factory.mktemp("shop"))


@pytest.fixture
def client(alice: User, team: Team, project: Project) -> Client:
    return Client(headers=bearer(alice, team))


@pytest.mark.parametrize("path", ["/agent", "/provider", "/config/providers", "/command", "/doc"])
def test_a_catalog_is_sent_once_and_compressed(path: str, client: Client) -> None:
    plain = client.get(path)
    packed = client.get(path, headers={"Accept-Encoding": "br, gzip"})
    assert "Content-Encoding" not in plain
    assert packed["Content-Encoding"] == "gzip"
    assert len(packed.content) < len(plain.content)
    assert json.loads(gzip.decompress(packed.content)) == plain.json()
    assert packed["ETag"] == plain["ETag"]
    assert {"Authorization", "Cookie", "Accept-Encoding"} <= set(plain["Vary"].split(", "))
    again = client.get(path, headers={"If-None-Match": plain["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert client.get(path, headers={"If-None-Match": 'W/"other"'}).status_code == 200


def test_a_change_is_seen_at_once(client: Client, project: Project) -> None:
    before = client.get("/agent")["ETag"]
    project.config = {"agent": {"extra": {"description": "d", "mode": "primary"}}}
    project.save()
    after = client.get("/agent", headers={"If-None-Match": before})
    assert after.status_code == 200
    assert after["ETag"] != before


def test_other_answers_stay_as_they_are(client: Client) -> None:
    answer = client.get("/session", headers={"Accept-Encoding": "gzip"})
    assert "ETag" not in answer
    assert "Content-Encoding" not in answer
    refused = Client().get("/agent")
    assert refused.status_code == 401
    assert "ETag" not in refused


def test_every_classic_catalog_is_a_route() -> None:
    routes = {f"/{pattern.pattern}" for pattern in urlpatterns}
    assert {path for path in PATHS if not path.startswith("/api/")} <= routes
