from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from sessions.models import Project
from teams.models import Team, User

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]
COMMANDS, AGENTS = "/t/acme/settings/commands/", "/t/acme/settings/agents/"


def page_of(browser: Client, url: str) -> str:
    return html.unescape(browser.get(url).content.decode())


def send(browser: Client, url: str, **given: str) -> Any:
    seen = re.search(r'name="seen" value="(\w+)"', page_of(browser, url))
    assert seen is not None
    return browser.post(url, {"seen": seen[1], **given})


def test_a_command_is_made_changed_and_removed(
    team: Team, adam: User, client_for: ClientFor
) -> None:
    browser = client_for(adam)
    made = send(browser, COMMANDS + "new", name="ship", template="Ship $1.", subtask="on")
    assert made["Location"] == COMMANDS
    team.refresh_from_db()
    assert team.config["command"] == {"ship": {"template": "Ship $1.", "subtask": True}}
    page = page_of(browser, COMMANDS + "i/ship")
    assert "Ship $1." in page
    send(browser, COMMANDS + "i/ship", name="ship", template="Go.", description="Ships it")
    assert "Ships it" in page_of(browser, COMMANDS)
    browser.post(COMMANDS + "i/ship/delete")
    assert "command" not in Team.objects.get(pk=team.pk).config


def test_a_built_in_command_can_be_replaced(team: Team, adam: User, client_for: ClientFor) -> None:
    browser = client_for(adam)
    assert "Review code" in page_of(browser, COMMANDS + "i/review")
    send(browser, COMMANDS + "i/review", name="review", template="Look twice.")
    team.refresh_from_db()
    assert team.config["command"] == {"review": {"template": "Look twice."}}


def test_an_agent_keeps_what_the_form_does_not_know(
    team: Team, adam: User, client_for: ClientFor
) -> None:
    team.config = {"agent": {"build": {"permission": {"bash": "deny"}, "temperature": 0.5}}}
    team.save()
    browser = client_for(adam)
    assert "Changed" in page_of(browser, AGENTS)
    given = {"name": "build", "model": "a/b", "steps": "7"}
    assert send(browser, AGENTS + "i/build", **given)["Location"] == AGENTS
    team.refresh_from_db()
    kept = {"permission": {"bash": "deny"}, "temperature": 0.5}
    assert team.config["agent"] == {"build": {**kept, "model": "a/b", "steps": 7}}


@pytest.mark.parametrize(
    ("url", "key", "more"),
    [(AGENTS, "agent", {"prompt": "Look."}), (COMMANDS, "command", {"template": "Look."})],
)
@pytest.mark.parametrize("name", ["review/strict", "a.b", "prüfen", "two words"])
def test_one_that_was_saved_by_other_means_is_changed_and_removed(
    team: Team, adam: User, client_for: ClientFor, url: str, key: str, more: Any, name: str
) -> None:
    team.config = {key: {name: {**more, "description": "For all."}}}
    team.save()
    browser = client_for(adam)
    found = re.search(rf'href="({url}i/[^/"]+)">{name}<', page_of(browser, url))
    assert found is not None
    assert send(browser, found[1], name=name, **more)["Location"] == url
    team.refresh_from_db()
    assert team.config[key] == {name: more}
    browser.post(f"{found[1]}/delete")
    assert key not in Team.objects.get(pk=team.pk).config


@pytest.mark.parametrize(
    ("url", "more"), [(AGENTS, {"prompt": "Look."}), (COMMANDS, {"template": "Look."})]
)
def test_a_model_that_is_not_set_up_is_told_of(
    project: Project, adam: User, client_for: ClientFor, url: str, more: dict[str, str]
) -> None:
    browser, said = client_for(adam), "Model demo/gone is not set up."
    send(browser, url + "new", name="look", model="demo/gone", **more)
    assert f"look saved. {said}" in page_of(browser, url)
    assert said in page_of(browser, url)
    send(browser, url + "i/look", name="look", model="demo/tour", **more)
    assert "is not set up" not in page_of(browser, url)


def test_an_agent_that_is_taken_away_is_still_listed(
    team: Team, adam: User, client_for: ClientFor
) -> None:
    browser = client_for(adam)
    send(browser, AGENTS + "i/plan", name="plan", disable="on")
    assert "Turned off" in page_of(browser, AGENTS)
    browser.post(AGENTS + "i/plan/delete")
    assert "Turned off" not in page_of(browser, AGENTS)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"name": "two words", "template": "x"}, "one word"),
        ({"name": "ship", "template": ""}, "required"),
        ({"name": "ship", "template": "x", "seen": "0" * 16}, "Someone else"),
        ({"name": "there", "template": "x"}, "already"),
    ],
)
def test_what_is_wrong_is_said(
    team: Team, adam: User, client_for: ClientFor, given: dict[str, str], said: str
) -> None:
    team.config = {"command": {"there": {"template": "x"}}}
    team.save()
    answer = send(client_for(adam), COMMANDS + "new", **given)
    assert answer.status_code == 422
    assert said in answer.content.decode()
    team.refresh_from_db()
    assert team.config == {"command": {"there": {"template": "x"}}}


def test_members_read_the_lists_only(
    team: Team, adam: User, bob: User, client_for: ClientFor
) -> None:
    browser = client_for(bob)
    for url, name in ((COMMANDS, "review"), (AGENTS, "build")):
        page = page_of(browser, url)
        assert name in page
        assert f'href="{url}new"' not in page
        assert f'href="{url}new"' in page_of(client_for(adam), url)
        assert browser.get(f"{url}i/{name}").status_code == 403
        assert browser.post(f"{url}new", {}).status_code == 403
        assert browser.post(f"{url}i/{name}/delete").status_code == 403


def test_what_is_not_there_is_not_found(team: Team, adam: User, client_for: ClientFor) -> None:
    for path in ("i/none", "i/none/delete", "i/review/delete"):
        assert client_for(adam).get(COMMANDS + path).status_code == 404
