from __future__ import annotations

from collections.abc import Callable
from urllib.parse import quote

import pytest
from django.test import Client
from django.urls import reverse

from opencode_web.lib.ids import new_id
from sessions.models import PermissionRequest, Project, SavedRule, Session
from teams.models import Team, User
from tests.factories import make_team
from tests.sessions.factories import prompt
from tests.sessions.story import Story

SEEN = {"alice": 200, "adam": 200, "bob": 200, "vera": 200, "charlie": 404, None: 302}
# What answers a form that was accepted; 302 sends the plain browser on.
ACTED = {"alice": 302, "adam": 302, "bob": 302, "vera": 403, "charlie": 404, None: 302}
GOVERNED = {**ACTED, "bob": 403}

PAGES = {
    "team_home": ("team",),
    "sessions:rail": ("team",),
    "sessions:project": ("team", "project"),
    "sessions:session": ("team", "session"),
    "sessions:turns": ("team", "session"),
    "sessions:window": ("team", "session"),
    "sessions:part": ("team", "session", "part"),
    "sessions:body": ("team", "session", "part"),
}
OF_SESSION, OF_PROJECT = ("team", "session"), ("team", "project")
FORMS = [
    ("sessions:start", ("team",), {"text": "hi", "project": "prj_acme_shop"}, ACTED),
    ("sessions:prompt", OF_SESSION, {"text": "hi"}, ACTED),
    ("sessions:stop", OF_SESSION, {}, ACTED),
    ("sessions:unqueue", (*OF_SESSION, "prompt"), {}, ACTED),
    ("sessions:reply", (*OF_SESSION, "permission"), {"reply": "once"}, ACTED),
    ("sessions:rename", OF_SESSION, {"title": "New"}, ACTED),
    ("sessions:archive", OF_SESSION, {}, ACTED),
    ("sessions:rule_revoke", (*OF_PROJECT, "rule"), {}, ACTED),
    ("sessions:project_settings", OF_PROJECT, {"config": "{}"}, GOVERNED),
    ("sessions:project_delete", OF_PROJECT, {}, GOVERNED),
]


@pytest.fixture
def people(
    alice: User, adam: User, bob: User, vera: User, charlie: User
) -> dict[str | None, User | None]:
    return {"alice": alice, "adam": adam, "bob": bob, "vera": vera, "charlie": charlie, None: None}


@pytest.fixture
def names(session: Session, alice: User, project: Project) -> dict[str, str]:
    story = Story(session, alice)
    story.ask("hi")
    story.answer()
    part = story.done("read", {"filePath": "a"}, "x", display={"type": "file", "text": "x"})
    permission = story.waits("ls")
    rule = SavedRule.objects.create(
        project=project, permission="bash", pattern="ls *", created_at=session.created_at
    )
    return {
        "team": "acme",
        "session": session.pk,
        "project": project.pk,
        "part": part,
        "permission": permission,
        "rule": str(rule.pk),
        "prompt": prompt(alice, session, "later", delivery="queue").pk,
    }


def address(name: str, keys: tuple[str, ...], names: dict[str, str]) -> str:
    return reverse(name, kwargs={key: names[key] for key in keys})


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("who", list(SEEN))
def test_members_of_any_role_read_and_outsiders_find_nothing(
    client_for: Callable[[User | None], Client],
    people: dict[str | None, User | None],
    names: dict[str, str],
    name: str,
    who: str | None,
) -> None:
    url = address(name, PAGES[name], names)
    response = client_for(people[who]).get(url)
    assert response.status_code == SEEN[who]
    if who is None:
        assert response["Location"] == f"/login?next={quote(url)}"


@pytest.mark.parametrize(("name", "keys", "data", "expected"), FORMS, ids=[f[0] for f in FORMS])
@pytest.mark.parametrize("who", list(SEEN))
def test_only_those_with_the_role_act(
    client_for: Callable[[User | None], Client],
    people: dict[str | None, User | None],
    names: dict[str, str],
    name: str,
    keys: tuple[str, ...],
    data: dict[str, str],
    expected: dict[str | None, int],
    who: str | None,
) -> None:
    response = client_for(people[who]).post(address(name, keys, names), data)
    assert response.status_code == expected[who]
    if who is None:
        assert response["Location"].startswith("/login")


def test_a_session_is_not_reached_through_another_team_of_the_same_person(
    client_for: Callable[[User | None], Client], alice: User, session: Session
) -> None:
    make_team(alice, name="Other", slug="other")
    client = client_for(alice)
    assert client.get(f"/t/other/s/{session.pk}").status_code == 404
    assert client.post(f"/t/other/s/{session.pk}/stop").status_code == 404


def test_a_permission_is_not_answered_through_another_session(
    client_for: Callable[[User | None], Client],
    alice: User,
    names: dict[str, str],
    team: Team,
) -> None:
    other = new_id("ses")
    url = reverse("sessions:reply", kwargs={**_three(names), "session": other})
    assert client_for(alice).post(url, {"reply": "once"}).status_code == 404
    assert PermissionRequest.objects.get().status == "pending"


def _three(names: dict[str, str]) -> dict[str, str]:
    return {key: names[key] for key in ("team", "session", "permission")}


@pytest.mark.parametrize(("who", "status"), [*{**SEEN, "vera": 403}.items()])
def test_only_members_see_the_page_of_a_new_project(
    client_for: Callable[[User | None], Client],
    people: dict[str | None, User | None],
    team: Team,
    who: str | None,
    status: int,
) -> None:
    assert client_for(people[who]).get("/t/acme/p/new").status_code == status
