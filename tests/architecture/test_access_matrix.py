from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from asgiref.sync import iscoroutinefunction
from django.conf import settings
from django.db import transaction
from django.test import AsyncClient, Client
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils import timezone
from pytest_django import DjangoDbBlocker

from opencode_web.api import api
from sessions.actions.shares import create_share
from sessions.models import (
    Checkout,
    Project,
    ProjectSecret,
    SavedRule,
    Session,
    TeamSecret,
    TeamSkill,
    Terminal,
)
from sessions.shares.links import share_token
from teams.models import Budget, BudgetNotice, BudgetRequest, Period, Role, User
from teams.urls import account_urlpatterns, team_urlpatterns
from tests.architecture.access_automation import API, PAGES, make_automation
from tests.architecture.access_billing import OF_WORK, code_for_billing
from tests.architecture.access_table import ALIASES, CAST, ELSEWHERE, Row
from tests.factories import add_member, make_team, make_user
from tests.sessions.factories import make_project, make_session, prompt, session_access
from tests.sessions.held_changes import make_change
from tests.sessions.story import Story

ClientFor = Callable[[User | None], Client]
Cast = list[tuple[str, User | None]]
ROWS = [*PAGES, *API, *ALIASES]
ROLES = {"adam": Role.ADMIN, "bob": Role.MEMBER, "vera": Role.VIEWER, "bill": Role.BILLING}
METHODS = ("get", "post", "put", "patch", "delete")
NAMED = re.compile(r'"\{(\w+)\}"')
PLACEHOLDER = re.compile(r"<(?:\w+:)?(\w+)>")


def routes_of(patterns: list[Any], prefix: str = "") -> Iterator[tuple[str, URLPattern]]:
    for pattern in patterns:
        route = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from routes_of(pattern.url_patterns, route)
        else:
            yield route, pattern


# The pages of teams and accounts have a table of the same kind: tests/teams/test_page_access.py.
OF_TEAMS = {id(pattern) for _, pattern in routes_of([*account_urlpatterns, *team_urlpatterns])}
MAP = [
    (route, pattern)
    for route, pattern in routes_of(get_resolver().url_patterns)
    if id(pattern) not in OF_TEAMS and not route.startswith(tuple(ELSEWHERE))
]
ASYNC = {route for route, pattern in MAP if iscoroutinefunction(pattern.callback)}


@pytest.fixture
def project(team: Any, tmp_path: Any) -> Project:
    return make_project(team, tmp_path / "shop")


@pytest.fixture
def names(alice: User, project: Project) -> dict[str, str]:
    return _make_names(alice, project)


def _make_names(alice: User, project: Project) -> dict[str, str]:
    """What the routes name, and forms send."""
    session = make_session(alice, project)
    story = Story(session, alice)
    message = story.ask("hi")
    story.answer()
    part = story.done("read", {"filePath": "a"}, "x", display={"type": "file", "text": "x"})
    request = story.waits("ls")
    question = story.questions("Which colour?", "Red", "Blue")
    rule = SavedRule.objects.create(
        project=project, permission="bash", pattern="ls *", created_at=session.created_at
    )
    TeamSkill.objects.create(
        team=project.team, name="release", description="d", text="t", updated_at=session.created_at
    )
    terminal = Terminal.objects.create(
        id="pty_of_alice",
        project=project,
        creator=alice,
        title="t",
        command="/bin/sh",
        cwd=project.directory,
        lease_until=session.created_at + timedelta(days=1),
    )
    rescued = Checkout.objects.create(
        id="ses_01HZZZZZZZZZZZZZZZZZZZZZZZ",
        project=project,
        branch="opencode/x",
        state=Checkout.State.RESCUED,
    )
    project.team.config = {"sharing": {"links": "public"}}
    project.team.save()
    link = create_share(session_access(alice, session), scope="public", days=1, details=True)
    waiting = prompt(alice, Session.objects.get(pk=session.pk), "later", delivery="queue")
    return {
        "team": "acme",
        **dict.fromkeys(("project", "project_id"), project.pk),
        "session": session.pk,
        "session_id": session.pk,
        "child": make_session(alice, project, parent=session).pk,
        "message_id": message,
        "message": message,
        **dict.fromkeys(("part", "part_id"), part),
        "turn": message,
        "prompt": waiting.pk,
        "input_id": waiting.pk,
        "permission": request,
        "request_id": request,
        "question": question,
        "question_id": question,
        "rule": str(rule.pk),
        "checkout": rescued.pk,
        "provider": "demo",
        "model": "tour",
        "provider_id": "demo",
        "integration_id": "demo",
        **dict.fromkeys(("attempt_id", "attempt", "label", "slug", "kind"), "none")
        | {"entry": "0"},
        "credential_id": "cred_0",
        "path": "a",
        "workspace_id": "wrk_x",
        "rest": "todo",
        "name": "x",
        "skill": "release",
        **dict.fromkeys(("comment", "number", "folder", "credential", "member"), "0"),
        "process": "host:1",
        "secret": _make_secret(project),
        "act": "drop",
        "share": link.pk,
        "token": share_token(link.pk),
        "pty_id": terminal.pk,
        # Of none of them: whose own it is may end it, as its tests show.
        "token_id": "tok_missing",
        "directory": quote(project.directory),
        **_make_budget(alice, project),
        **make_automation(alice, project),
    }


def _make_secret(project: Project) -> str:
    """One of the project and one of its team, which have the same number."""
    fields = {"name": "TOKEN", "value": "", "updated_at": timezone.now()}
    secret = ProjectSecret.objects.create(project=project, **fields)
    TeamSecret.objects.create(pk=secret.pk, team=project.team, **fields)
    return str(secret.pk)


def _make_notice(project: Project) -> BudgetNotice:
    now = timezone.now()
    return BudgetNotice.objects.create(
        team=project.team,
        start=now.date().replace(day=1),
        threshold=80,
        spent=8,
        limit=10,
        time=now,
    )


def _make_budget(alice: User, project: Project) -> dict[str, str]:
    """A budget and a request for more of it. Nothing is held to it: the team does not know."""
    budget = Budget.objects.create(team=project.team, scope="team", period="week", amount=10)
    asked = BudgetRequest.objects.create(
        budget=budget,
        team=project.team,
        asker=alice,
        start=Period.WEEK.first_day(),
        amount=5,
        reason="To go on",
    )
    ids = {"notice": str(_make_notice(project).pk), "budget": str(budget.pk)}
    ids["budget_id"] = ids["budget"]
    ids["change"] = ids["change_id"] = make_change(alice, project.team).pk
    # None that exists: nobody of the cast is an operator, or has signed in anywhere.
    none = {"announcement": "1", "announcement_id": "1", "sign_in": "0", "subscription": "0"}
    return {**ids, **none, "asked": asked.pk, "ask_id": asked.pk}


@pytest.fixture
def cast(alice: User, adam: User, bob: User, vera: User, charlie: User, bill: User) -> Cast:
    """With whoever sees nothing of the team's work last."""
    people = {"alice": alice, "adam": adam, "bob": bob, "vera": vera, "charlie": charlie}
    return [*((name, people.get(name)) for name in CAST), ("bill", bill)]


def _address(row: Row, names: dict[str, str]) -> str:
    return (
        "/" + PLACEHOLDER.sub(lambda found: names[found[1]], row.route) + row.query.format(**names)
    )


def _body(row: Row, names: dict[str, str]) -> dict[str, Any]:
    if row not in PAGES:
        text = NAMED.sub(lambda found: json.dumps(names[found[1]]), json.dumps(row.send))
        return {"data": text, "content_type": "application/json"}
    return {"data": {key: names.get(value.strip("{}"), value) for key, value in row.send.items()}}


@dataclass(frozen=True)
class World:
    """`keys` are those of the sessions of the browsers of `CAST`, then of bill."""

    names: dict[str, str]
    keys: tuple[str, ...]


def _make_world(folder: Path) -> World:
    alice, charlie = make_user("alice@example.com"), make_user("charlie@example.com")
    team = make_team(alice, name="Acme", slug="acme")
    make_team(charlie, name="Globex", slug="globex")
    people = {"alice": alice, "charlie": charlie}
    for name, role in ROLES.items():
        people[name] = make_user(f"{name}@example.com")
        add_member(team, people[name], role)
    keys = []
    for name in (*CAST, "bill"):
        client = Client()
        if name in people:
            client.force_login(people[name])
        keys.append(client.session.session_key if name in people else "")
    return World(_make_names(alice, make_project(team, folder)), tuple(keys))


@pytest.fixture(scope="class")
def world(
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[World]:
    """Made once: every request is taken back."""
    with django_db_blocker.unblock(), transaction.atomic():
        yield _make_world(tmp_path_factory.mktemp("world") / "shop")
        transaction.set_rollback(True)


def _is_public(row: Row) -> bool:
    return row.codes[-1] == 200


# As many tests as share the world well among the processes that run them.
PIECES = 24


@pytest.mark.deep
@pytest.mark.django_db
class TestWhoMay:
    @pytest.mark.parametrize("piece", range(PIECES))
    def test_gets_what(self, piece: int, world: World) -> None:
        wrong = {}
        for row in [row for row in ROWS if row.route not in ASYNC][piece::PIECES]:
            found = tuple(_ask_as_everybody(row, world))
            if found != (wanted := (*row.codes, code_for_billing(row))):
                wrong[str(row)] = f"{found}, and not {wanted}"
        assert wrong == {}


def _ask_as_everybody(row: Row, world: World) -> Iterator[int]:
    """Returns: the status codes that they get."""
    has_body = bool(row.send) or row.method not in {"get", "delete"}
    body = _body(row, world.names) if has_body else {}
    for key in world.keys:
        client = Client()
        if key:
            client.cookies[settings.SESSION_COOKIE_NAME] = key
        # Everybody finds the same things.
        with transaction.atomic():
            response = getattr(client, row.method)(_address(row, world.names), **body)
            transaction.set_rollback(True)
        if key == world.keys[-1] and response.status_code < 400 and not _is_public(row):
            told = getattr(response, "content", b"").decode(errors="replace")
            assert [one for one in OF_WORK if world.names[one] in told] == [], row
        if not key and response.status_code == 302 and row.route != "setup":
            assert response["Location"].startswith("/login?next=/"), row
        yield response.status_code


ASYNC_ROWS = [row for row in ROWS if row.route in ASYNC]


@pytest.mark.deep
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    "rows",
    # Who reads changes nothing for the next one.
    [
        pytest.param([row for row in ASYNC_ROWS if row.method == "get"], id="get"),
        *(pytest.param([row], id=str(row)) for row in ASYNC_ROWS if row.method != "get"),
    ],
)
async def test_who_may_where_the_view_is_asynchronous(
    rows: list[Row],
    names: dict[str, str],
    cast: Cast,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # No worker is there that would stop anything.
    monkeypatch.setattr("sessions.api.prompts.ABORT_WAIT_S", 0.05)
    clients = []
    for _, user in cast:
        clients.append(client := AsyncClient())
        if user is not None:
            await client.aforce_login(user)
    wrong = {}
    for row in rows:
        body = {} if row.method == "get" else _body(row, names)
        found = []
        for client in clients:
            response = await getattr(client, row.method)(_address(row, names), **body)
            found.append(response.status_code)
            if response.streaming:
                await response.streaming_content.aclose()
        if (*found,) != (wanted := (*row.codes, code_for_billing(row))):
            wrong[str(row)] = f"{found}, and not {wanted}"
    assert wrong == {}


def test_every_route_is_in_the_table() -> None:
    assert {route for route, _ in MAP} == {row.route for row in ROWS}
    assert len({str(row) for row in ROWS}) == len(ROWS)


def test_every_method_of_the_api_is_in_the_table() -> None:
    schema = api.get_openapi_schema(path_prefix="")
    operations = {
        f"{method} {path.lstrip('/')}" for path, item in schema["paths"].items() for method in item
    }
    listed = {PLACEHOLDER.sub(r"{\1}", str(row)) for row in API if row.route != "doc"}
    assert operations == listed


@pytest.mark.deep
@pytest.mark.django_db
def test_a_page_refuses_every_method_that_is_not_in_the_table(
    names: dict[str, str], alice: User, client_for: ClientFor
) -> None:
    listed = {(row.method, row.route) for row in PAGES}
    client = client_for(alice)
    wrong = {
        f"{method} {row.route}": response.status_code
        for row in PAGES
        for method in METHODS
        if (method, row.route) not in listed
        and (response := getattr(client, method)(_address(row, names))).status_code != 405
    }
    assert wrong == {}


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/admin/", "/admin/teams/user/", "/admin/login/x"])
def test_only_operators_reach_the_admin(path: str, cast: Cast, client_for: ClientFor) -> None:
    for _, user in cast:
        response = client_for(user).get(path)
        assert response.status_code == 302
        assert response["Location"].startswith("/admin/login/")


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/pty/x/y/z", "/session/x/y/z", "/tui/open"])
def test_an_unknown_address_of_the_api_is_not_found_by_anybody(
    path: str, cast: Cast, client_for: ClientFor
) -> None:
    for _, user in cast:
        for method in METHODS:
            assert getattr(client_for(user), method)(path).status_code == 404


@pytest.mark.django_db
def test_an_unknown_address_of_scim_is_for_the_directory_alone(
    cast: Cast, client_for: ClientFor
) -> None:
    for _, user in cast:
        assert client_for(user).get("/scim/v2/Nothing").status_code == 401


def test_what_is_watched_elsewhere_is_still_there() -> None:
    routes = [route for route, _ in routes_of(get_resolver().url_patterns)]
    for prefix, test in ELSEWHERE.items():
        assert any(route.startswith(prefix) for route in routes)
        assert test in globals()
