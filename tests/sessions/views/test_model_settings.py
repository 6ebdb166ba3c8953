from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from providers.actions import create_demo
from sessions.models import Project, Session
from teams.models import AuditEntry, Team, User
from tests.providers.factories import make_openai

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]
DEFAULT = reverse("sessions:default_model", kwargs={"team": "acme"})
USES = reverse("sessions:model_uses", kwargs={"team": "acme"})


@pytest.fixture
def admin(client_for: ClientFor, adam: User) -> Client:
    return client_for(adam)


def test_the_model_that_was_connected_is_proposed(team: Team, admin: Client) -> None:
    create_demo(team, actor=None)
    make_openai(team)
    page = admin.get(DEFAULT, {"model": "openai/gpt-5-mini"}).content.decode()
    assert '<option value="openai/gpt-5-mini" selected>' in page
    assert "No default is set. The server currently chooses" in page


def test_the_default_is_set_and_told(team: Team, admin: Client) -> None:
    make_openai(team)
    page = admin.post(DEFAULT, {"model": "openai/gpt-5"}, follow=True).content.decode()
    assert "GPT-5 (OpenAI) is now the team&#x27;s default." in page
    team.refresh_from_db()
    assert team.config["model"] == "openai/gpt-5"
    assert AuditEntry.objects.filter(action="config.changed").exists()
    assert "The current default is GPT-5 (OpenAI)." in admin.get(DEFAULT).content.decode()


@pytest.mark.parametrize("name", ["", "openai/none", "globex/gpt-5"])
def test_what_the_team_does_not_have_is_no_default(team: Team, admin: Client, name: str) -> None:
    make_openai(team)
    answer = admin.post(DEFAULT, {"model": name})
    assert answer.status_code == 422
    assert "Choose one of the models." in answer.content.decode()
    team.refresh_from_db()
    assert "model" not in team.config


def test_everything_that_names_a_model_is_counted(
    team: Team, admin: Client, project: Project, session: Session
) -> None:
    make_openai(team)
    project.config = {"model": "openai/gpt-5", "agent": {"plan": {"model": "openai/gpt-5"}}}
    project.save()
    model = {"providerID": "openai", "id": "gpt-5"}
    Session.objects.filter(pk=session.pk).update(model=model)
    page = admin.get(USES, {"model": "openai/gpt-5"}).content.decode()
    assert f"of the project {project.name}" in page
    assert f"plan ({project.name})" in page
    assert "<dt>Sessions</dt><dd>1</dd>" in page


def test_the_fragment_is_asked_for_alone(
    team: Team, admin: Client, django_assert_max_num_queries: Any
) -> None:
    admin.get(USES, {"model": "a/b"})
    with django_assert_max_num_queries(8):
        answer = admin.get(USES, {"model": "a/b"}, headers={"HX-Request": "true"})
    assert answer.content.decode().lstrip().startswith('<section id="model-uses"')
    assert admin.get(USES, {"model": "none"}).status_code == 400
