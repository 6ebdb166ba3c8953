from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from django.test import Client
from pytest_django import Settings

from sessions.actions.checkouts import Plan
from sessions.models import Project, Session
from teams.models import User
from tests.sessions.checkouts.conftest import INIT, run
from tests.sessions.views.publish.panel import worked

ClientFor = Callable[[User | None], Client]


@pytest.fixture
def browser(client_for: ClientFor, alice: User) -> Client:
    return client_for(alice)


@pytest.fixture
def shop(project: Project, tmp_path: Path, settings: Settings) -> Path:
    settings.DATA_DIR = tmp_path / "data"
    settings.GIT_ALLOW_FILE = True
    run(f"rm -rf .git; {INIT}", Path(project.directory))
    return Path(project.directory)


@pytest.fixture
def bare(shop: Path, project: Project, tmp_path: Path) -> Path:
    run(f"git init -q --bare -b main {tmp_path}/acme/till.git", tmp_path)
    path = tmp_path / "acme" / "till.git"
    run(f"git push -q {path} main", shop)
    project.git_url = f"file://{path}"
    project.save()
    return path


@pytest.fixture
def own(alice: User, project: Project, shop: Path) -> Session:
    return worked(alice, project, "echo 1 >new; rm d/f; echo x >>till.py", checkout=Plan())


@pytest.fixture
def shared(alice: User, project: Project, shop: Path) -> Session:
    return worked(alice, project, "echo 1 >new; echo x >>till.py")
