from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from opencode_web.lib.db import close_pool
from sessions.models import Project, Session
from teams.models import Team, User
from tests.sessions.factories import make_project, make_session


@pytest.fixture(scope="session", autouse=True)
def close_pool_connections(django_db_setup: None) -> Iterator[None]:
    yield
    close_pool()


@pytest.fixture
def project(team: Team, tmp_path: Path) -> Project:
    return make_project(team, tmp_path / "shop")


@pytest.fixture
def session(alice: User, project: Project) -> Session:
    return make_session(alice, project)
