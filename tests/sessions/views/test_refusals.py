from __future__ import annotations

import html
from collections.abc import Callable

import pytest
from django.test import Client

from sessions.models import Project
from teams.actions.tastes import remember_taste
from teams.models import User

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]
SCHEDULE = {"name": "Look", "prompt": "Look.", "timezone": "UTC", "model": "demo/inline"}
SETTINGS = "/t/acme/settings"


@pytest.mark.parametrize(
    ("path", "given", "said"),
    [
        ("{project}/secrets", {"name": "T", "value": "short"}, "Ein Wert hat mindestens 6 Zeichen"),
        ("{project}/secrets", {"name": "PATH", "value": "x" * 20}, "Der Name PATH ist reserviert"),
        ("{project}/schedules", {**SCHEDULE, "cron": "0 3 * *"}, "Ein Zeitplan hat fünf Felder"),
        (f"{SETTINGS}/skills/new", {"name": "Big", "description": "a", "text": "b"}, "bis zu 64"),
        (
            "/t/acme/p/new",
            {"kind": "git", "git-url": "ftp://a.example/b"},
            "Nur Adressen mit",
        ),
    ],
)
def test_a_refusal_is_read_in_the_readers_language(
    project: Project,
    alice: User,
    client_for: ClientFor,
    path: str,
    given: dict[str, str],
    said: str,
) -> None:
    remember_taste(alice, key="language", value="de")
    address = path.format(project=f"/t/acme/p/{project.pk}")
    answer = client_for(alice).post(address, given, follow=True)
    assert said in html.unescape(answer.content.decode())
