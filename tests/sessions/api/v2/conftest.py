from __future__ import annotations

from urllib.parse import quote

import pytest
from django.test import Client

from sessions.models import Project
from teams.models import User
from tests.sessions.api.conftest import Connect


@pytest.fixture
def client(alice: User, project: Project, connect: Connect) -> Client:
    return connect(alice)


@pytest.fixture
def here(project: Project) -> str:
    return f"location%5Bdirectory%5D={quote(project.directory)}"
