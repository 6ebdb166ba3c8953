from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client
from django.utils import timezone

from sessions.config.programs import McpConfig
from sessions.mcp.servers import digest_of
from sessions.models import McpServer, Project, Session, SessionInput
from teams.models import User

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]


@pytest.fixture
def configured(project: Project) -> Project:
    project.config = {"command": {"fix": {"template": "Fix $1 please", "description": "Mends."}}}
    project.save()
    return project


def test_commands_are_listed_as_a_page(
    configured: Project, vera: User, client_for: ClientFor
) -> None:
    url = f"/t/acme/p/{configured.pk}/commands"
    page = client_for(vera).get(url).content.decode()
    for said in ("/fix</span>", "Mends.", "$1"):
        assert said in page


def test_a_command_is_run_from_the_message_field(
    configured: Project, session: Session, alice: User, client_for: ClientFor
) -> None:
    browser = client_for(alice)
    browser.post(f"/t/acme/s/{session.pk}/prompt", {"text": "/fix it", "model": "demo/inline"})
    row = session.inputs.get()
    assert row.data["parts"][0]["text"] == "Fix it please"
    browser.post("/t/acme/start", {"text": "/fix that", "project": configured.pk})
    started = Session.objects.exclude(pk=session.pk).get()
    assert started.inputs.get().data["parts"][0]["text"] == "Fix that please"


def test_a_prompt_of_an_mcp_server_is_offered(
    project: Project, alice: User, client_for: ClientFor
) -> None:
    server = {"command": ["x"]}
    project.config = {"mcp": {"shop": server}}
    project.save()
    said = {"name": "shop:order", "description": "Orders.", "template": "Order.", "hints": ["$1"]}
    McpServer.objects.create(
        project=project,
        name="shop",
        digest=digest_of(McpConfig.model_validate(server)),
        prompts=[said],
        asked_at=timezone.now(),
    )
    browser = client_for(alice)
    page = browser.get(f"/t/acme/p/{project.pk}/commands").content.decode()
    assert "/shop:order</span>" in page
    assert ">MCP<" in page
    typed = browser.get(f"/t/acme/p/{project.pk}/mentions?q=%2Fshop")
    assert "$1 · Orders." in typed.content.decode()
    commands = browser.get(f"/command?directory={project.directory}").json()
    [wire] = [one for one in commands if one["source"] == "mcp"]
    assert wire == {
        "name": "shop:order",
        "source": "mcp",
        "template": "Order.",
        "hints": ["$1"],
        "description": "Orders.",
    }


def test_a_command_that_is_not_there_is_sent_as_text_only_the_second_time(
    configured: Project, session: Session, alice: User, client_for: ClientFor
) -> None:
    browser = client_for(alice)
    prompt, start = f"/t/acme/s/{session.pk}/prompt", "/t/acme/start"
    typed = {"text": "/fxi it", "project": configured.pk}
    for url in (prompt, start):
        for headers in ({}, {"HX-Request": "true"}):
            for form in (typed, typed | {"as_text": "fix"}):
                answer = browser.post(url, form, headers=headers)
                assert answer.status_code == 422
                page = answer.content.decode()
                assert "There is no command /fxi. Send it again to send it as text." in page
                assert 'name="as_text" value="fxi"' in page
                assert ">/fxi it</textarea>" in page
    assert not SessionInput.objects.exists()
    assert browser.post(prompt, typed | {"as_text": "fxi"}).status_code == 302
    # A path is none.
    assert browser.post(prompt, {"text": "/etc/hosts is wrong"}).status_code == 302
    assert session.inputs.count() == 2
