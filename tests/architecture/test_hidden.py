from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction
from django.test import AsyncClient, Client
from django.utils import timezone
from pytest_django import DjangoDbBlocker

from opencode_web.lib.db import in_db
from sessions.models import Pin, Project, Session, Terminal
from teams.models import Role, User
from tests.architecture.access_table import Row
from tests.architecture.page_table import TO_PAGE
from tests.architecture.sources import modules, name_of, tree_of
from tests.architecture.test_access_matrix import (
    ASYNC,
    ASYNC_ROWS,
    PLACEHOLDER,
    ROWS,
    World,
    _address,
    _body,
    _make_names,
)
from tests.factories import add_member, make_team, make_usage, make_user
from tests.sessions.factories import make_project

# What is looked for in everything that somebody is sent who must not know of it.
SECRET_PROJECT, SECRET_SESSION = "quokkaproject", "quokkasession"
OF_SESSION = {
    *("session", "session_id", "child", "message_id", "part", "part_id", "turn", "prompt"),
    *("input_id", "permission", "request_id", "question", "question_id", "share"),
}
OF_PROJECT = {
    *OF_SESSION,
    *("project", "project_id", "rule", "checkout", "pty_id", "secret", "schedule", "schedule_id"),
}
# These name things by numbers of their own, or are of the team as well.
NOT_BY_PLACE = re.compile(
    r"ops/|t/<slug:team>/settings/|api/permission/saved/|share/|api/provider/"
)


@dataclass(frozen=True)
class Hidden:
    """A world in which mia, a member of the team, does not see the project or session."""

    world: World
    named: set[str]
    client: Callable[[], Client]


def _hide(kind: str, folder: Path) -> tuple[World, User]:
    alice = make_user("alice@example.com")
    team = make_team(alice, name="Acme", slug="acme")
    mia = make_user("mia@example.com")
    add_member(team, mia, Role.MEMBER)
    project = make_project(team, folder)
    names = _make_names(alice, project)
    Terminal.objects.update(watchable=True)
    Pin.objects.create(user=mia, session_id=names["session"])
    for user in (alice, mia):
        make_usage(team, user, project=project.pk)
    Session.objects.filter(project=project).update(title=SECRET_SESSION, updated_at=timezone.now())
    if kind == "project":
        Project.objects.filter(pk=project.pk).update(is_restricted=True, name=SECRET_PROJECT)
    else:
        Session.objects.filter(root=None).update(is_private=True)
    return World(names, ()), mia


@pytest.fixture(scope="class", params=["project", "session"])
def hidden(
    request: pytest.FixtureRequest,
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Hidden]:
    with django_db_blocker.unblock(), transaction.atomic():
        world, mia = _hide(request.param, tmp_path_factory.mktemp("hidden") / "shop")

        def client() -> Client:
            made = Client()
            made.force_login(mia)
            return made

        named = OF_PROJECT if request.param == "project" else OF_SESSION
        yield Hidden(world, named, client)
        transaction.set_rollback(True)


def _names_it(row: Row, named: set[str]) -> bool:
    found = set(PLACEHOLDER.findall(row.route))
    return bool(found & named) and not NOT_BY_PLACE.match(row.route)


@pytest.mark.deep
@pytest.mark.django_db
class TestWhatIsHidden:
    def test_is_not_found_on_any_route_and_named_on_none(self, hidden: Hidden) -> None:
        wrong, client = {}, hidden.client()
        for row in [row for row in ROWS if row.route not in ASYNC]:
            has_body = bool(row.send) or row.method not in {"get", "delete"}
            body = _body(row, hidden.world.names) if has_body else {}
            with transaction.atomic():
                response = getattr(client, row.method)(_address(row, hidden.world.names), **body)
                transaction.set_rollback(True)
            if _names_it(row, hidden.named) and not _is_refused(row, response.status_code):
                wrong[str(row)] = str(response.status_code)
            if (told := _told(response)) and not row.route.startswith("share/"):
                wrong[str(row)] = f"names {told}"
        assert wrong == {}


def _is_refused(row: Row, code: int) -> bool:
    """Not found; or what somebody of the role gets for every project, there or not."""
    is_of_role = (code == 403 and row.codes[2] == 403) or row.codes == TO_PAGE
    return code in (404, row.codes[4]) or is_of_role


def _told(response: Any) -> set[str]:
    text = b"" if response.streaming else response.content
    return {one for one in (SECRET_PROJECT, SECRET_SESSION) if one.encode() in text}


@pytest.mark.deep
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("kind", ["project", "session"])
async def test_what_is_hidden_is_not_found_where_the_view_is_asynchronous(
    kind: str, tmp_path: Path
) -> None:
    world, mia = await in_db(_hide, kind, tmp_path / "shop")
    named = OF_PROJECT if kind == "project" else OF_SESSION
    client = AsyncClient()
    await client.aforce_login(mia)
    wrong = {}
    for row in ASYNC_ROWS:
        body = {} if row.method == "get" else _body(row, world.names)
        response = await getattr(client, row.method)(_address(row, world.names), **body)
        if response.streaming:
            await response.streaming_content.aclose()
        if _names_it(row, named) and not _is_refused(row, response.status_code):
            wrong[str(row)] = str(response.status_code)
        if told := _told(response):
            wrong[str(row)] = f"names {told}"
    assert wrong == {}


# Where rooms that show people something fetch sessions and projects themselves, and why they may.
# Everything else goes by `sessions.access` and `sessions.visibility`.
FETCHES_ITSELF = {
    "sessions/api/location.py": "orders the projects that the principal sees",
    "sessions/present/conversation/running_calls.py": "of sessions that the caller has",
    "sessions/present/conversation/subagent_work.py": "sub-agents of a session that the caller has",
    "sessions/present/frame/forks.py": "tells of no private session",
    "sessions/present/frame/start_place.py": "counts whose work would mix, and names nobody",
    "sessions/present/pages/retention.py": "legal holds, which owners see",
    "sessions/present/pages/servers.py": "of a session that the caller has",
    "sessions/present/pages/usage.py": "tells those that are there and not seen from deleted ones",
    "sessions/present/team_uses.py": "sums of teams, for operators",
    "sessions/stream/frames.py": "of a room that `access_session` let somebody into",
    "sessions/stream/log.py": "of a body that a stream may send",
    "sessions/stream/rail.py": "of those who oversee the team",
    "sessions/stream/room.py": "as frames.py",
    "sessions/stream/worker_watch.py": "as frames.py",
    "sessions/views/project_mcp.py": "of a project that the caller has",
}


def _fetches(path: Path) -> bool:
    """Whether it has `Project.objects` or `Session.objects`, or all `projects` of a team."""
    named = {
        (node.attr, getattr(node.value, "id", "") or getattr(node.value, "attr", ""))
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Attribute)
    }
    return bool(named & {("objects", "Project"), ("objects", "Session"), ("projects", "team")})


def test_what_people_are_shown_is_fetched_by_what_they_see() -> None:
    rooms = ("views", "api", "present", "stream", "consumers")
    found = {
        name_of(path) for path in modules(*(f"sessions/{room}" for room in rooms)) if _fetches(path)
    }
    assert found == set(FETCHES_ITSELF)
