from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from sessions.models import Backup, Project
from teams.models import Team

pytestmark = pytest.mark.django_db


def add(host: str, *, hours: float, **fields: Any) -> Backup:
    taken_at = timezone.now() - timedelta(hours=hours)
    given = {"size_bytes": 4_200_000, "logs": 2, "events": 1234, "encrypted": True, **fields}
    return Backup.objects.create(
        id=f"bkp_{host}_{hours}",
        host=host,
        destination="/backups/<1>",
        taken_at=taken_at,
        finished_at=taken_at,
        **given,
    )


def test_without_a_backup_it_says_how_to_make_one(console: Client, settings: Any) -> None:
    page = console.get("/ops/backups").content.decode()
    assert "No backups yet." in page
    assert "notice-warn" not in page
    settings.BACKUP_MAX_AGE_H = 24
    assert "There is no backup of local." in console.get("/ops/backups").content.decode()


def test_every_host_needs_a_backup_that_is_young_and_whole(
    console: Client, team: Team, settings: Any
) -> None:
    settings.BACKUP_MAX_AGE_H = 24
    Project.objects.create(id="prj_1", team=team, name="far", host="far", directory="/x")
    add("local", hours=30)
    add("far", hours=1, problem="database.gz is damaged")
    page = console.get("/ops/backups").content.decode()
    assert "The newest backup of local is more than 24 hours old." in page
    assert "There is no backup of far." in page
    assert "database.gz is damaged" in page
    assert "/backups/&lt;1&gt;" in page
    assert "1234" in page
    add("local", hours=2)
    add("far", hours=3)
    assert "notice-warn" not in console.get("/ops/backups").content.decode()
