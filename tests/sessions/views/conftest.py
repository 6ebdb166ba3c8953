from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from django.test import Client

from sessions.models import Project, Session
from teams.models import User
from tests.sessions.views.reviewing import PNG, Repository, Review

ClientFor = Callable[[User | None], Client]


@pytest.fixture
def repository(project: Project) -> Repository:
    made = Repository(Path(project.directory))
    (made.folder / "till.py").write_text("".join(f"line {n}\n" for n in range(40)))
    (made.folder / "gone.txt").write_text("gone\n")
    (made.folder / "old name.txt").write_text("".join(f"same {n}\n" for n in range(20)))
    (made.folder / "logo.png").write_bytes(PNG)
    made.commit()
    return made


@pytest.fixture
def review(client_for: ClientFor, alice: User, project: Project, session: Session) -> Review:
    return Review(client_for(alice), session)
