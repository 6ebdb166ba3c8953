from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from django.utils import timezone

from sessions.models import Project, Session
from teams.audit import AuditAction
from teams.models import AuditEntry, Team, User
from tests.sessions.api.conftest import Connect
from tests.sessions.api.shapes import ERROR, PROJECT, SESSION, check
from tests.sessions.factories import make_project, make_session

JSON = "application/json"


def test_it_creates_a_session_without_a_body(
    alice: User, project: Project, connect: Connect
) -> None:
    answer = connect(alice).generic("POST", "/session")
    assert answer.status_code == 200
    check(answer.json(), SESSION)
    assert answer.json()["directory"] == project.directory
    assert answer.json()["title"].startswith("New session - ")
    assert AuditEntry.objects.filter(action=AuditAction.SESSION_CREATED).count() == 1


def test_it_keeps_what_a_session_is_created_with(
    alice: User, project: Project, session: Session, connect: Connect
) -> None:
    body = {
        "title": "Fix the till",
        "agent": "plan",
        "parentID": session.pk,
        "model": {"providerID": "demo", "id": "inline", "variant": "default"},
        "metadata": {"ticket": 7},
        "permission": [{"permission": "question", "pattern": "*", "action": "deny"}],
        "workspaceID": "wrk_of_another_version",
    }
    made = connect(alice).post("/session", body, JSON).json()
    check(made, SESSION)
    kept = {key: value for key, value in made.items() if key in body}
    assert kept == {key: value for key, value in body.items() if key != "workspaceID"}
    children = connect(alice).get(f"/session/{session.pk}/children").json()
    assert [child["id"] for child in children] == [made["id"]]


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({"permission": [{"permission": "bash", "pattern": "*", "action": "maybe"}]}, "permission"),
        ({"model": {"id": "x"}}, "model.providerID"),
        ({"title": "x" * 301}, "title"),
    ],
)
def test_it_names_what_is_wrong(
    body: dict[str, Any], where: str, alice: User, project: Project, connect: Connect
) -> None:
    answer = connect(alice).post("/session", body, JSON)
    assert answer.status_code == 400
    check(answer.json(), ERROR)
    assert answer.json()["name"] == "BadRequest"
    assert where in answer.json()["data"]["message"].lower() or where in str(answer.json())


def test_it_renames_archives_and_deletes(alice: User, session: Session, connect: Connect) -> None:
    client, path = connect(alice), f"/session/{session.pk}"
    assert client.patch(path, {"title": "Better"}, JSON).json()["title"] == "Better"
    archived = client.patch(path, {"time": {"archived": 1_700_000_000_000}}, JSON).json()
    assert archived["time"]["archived"] == 1_700_000_000_000
    assert archived["title"] == "Better"
    check(archived, SESSION)
    assert client.delete(path).json() is True
    assert client.get(path).status_code == 404


def test_it_lists_the_latest_first(alice: User, project: Project, connect: Connect) -> None:
    rows = [make_session(alice, project, title=title) for title in ("One", "Two", "Three")]
    Session.objects.filter(pk=rows[0].pk).update(updated_at=timezone.now() + timedelta(hours=1))
    listed = connect(alice).get("/session").json()
    assert [row["title"] for row in listed] == ["One", "Three", "Two"]
    for row in listed:
        check(row, SESSION)


def test_it_filters_the_list(alice: User, project: Project, connect: Connect) -> None:
    root = make_session(alice, project, title="Root work")
    child = make_session(alice, project, title="Child work", parent=root)
    Session.objects.filter(pk=child.pk).update(updated_at=timezone.now() + timedelta(hours=1))

    def titles(**query: Any) -> list[str]:
        return [row["title"] for row in connect(alice).get("/session", query).json()]

    soon = int((timezone.now() + timedelta(minutes=30)).timestamp() * 1000)
    assert titles(roots="true") == ["Root work"]
    assert titles(search="child") == ["Child work"]
    assert titles(start=soon) == ["Child work"]
    assert titles(limit=1) == ["Child work"]
    for start in (10**15, "1e300", "nan", "inf"):
        assert connect(alice).get("/session", {"start": start}).status_code == 400


def test_the_directory_chooses_the_project(
    alice: User, team: Team, project: Project, tmp_path: Path, connect: Connect
) -> None:
    other = make_project(team, tmp_path / "über shop", name="other")
    make_session(alice, project, title="here")
    make_session(alice, other, title="there")
    client = connect(alice)

    def title(directory: str, **headers: Any) -> str:
        query = {"directory": directory} if directory else {}
        return str(client.get("/session", query, **headers).json()[0]["title"])

    assert title(project.directory) == "here"
    assert title(f"{other.directory}/src/..") == "there"
    encoded = {"x-opencode-directory": quote(other.directory)}
    assert title("", headers=encoded) == "there"
    assert title(project.directory, headers=encoded) == "here"
    assert title("") == "there"
    assert client.get("/session", {"project": project.pk}).json()[0]["title"] == "here"


@pytest.mark.parametrize("directory", ["/", "/etc", "relative", "{project}x", "{project}/../x"])
def test_a_directory_outside_every_project_is_not_found(
    directory: str, alice: User, project: Project, connect: Connect
) -> None:
    query = {"directory": directory.format(project=project.directory)}
    for path in ("/path", "/session", "/config", "/agent"):
        answer = connect(alice).get(path, query)
        assert answer.status_code == 404, path
        check(answer.json(), ERROR)


def test_path_and_project_say_where_it_is(alice: User, project: Project, connect: Connect) -> None:
    client, inside = connect(alice), f"{project.directory}/src"
    assert client.get("/path", {"directory": inside}).json() == {
        "home": "/agent",
        "state": "",
        "config": "",
        "worktree": project.directory,
        "directory": inside,
    }
    check(client.get("/project/current").json(), PROJECT)
    check(client.get("/project").json(), [PROJECT])
    assert client.get("/vcs").json()["branch"] in ("main", "master")


def test_a_branch_is_not_read_through_a_link(
    alice: User, project: Project, tmp_path: Path, connect: Connect
) -> None:
    head = Path(project.directory, ".git", "HEAD")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("ref: refs/heads/secret\n")
    head.unlink()
    head.symlink_to(elsewhere)
    assert connect(alice).get("/vcs").json() == {}


def test_without_a_project_it_says_so(alice: User, connect: Connect) -> None:
    client = connect(alice)
    assert client.get("/session").json() == []
    assert client.get("/project").json() == []
    assert client.get("/agent").json() == []
    answer = client.post("/session", {}, JSON)
    assert answer.status_code == 404
    assert "project" in answer.json()["data"]["message"].lower()


def test_a_project_that_is_not_ready_takes_no_session(
    alice: User, project: Project, connect: Connect
) -> None:
    Project.objects.update(status=Project.Status.PREPARING)
    answer = connect(alice).post("/session", {}, JSON, query_params={"project": project.pk})
    assert answer.status_code == 409


def test_status_lists_what_is_not_idle(
    alice: User, project: Project, session: Session, connect: Connect
) -> None:
    waiting = make_session(alice, project)
    Session.objects.filter(pk=waiting.pk).update(state="waiting")
    assert connect(alice).get("/session/status").json() == {waiting.pk: {"type": "busy"}}


# Two for signing in by token; then what the route itself asks.
@pytest.mark.parametrize(
    ("path", "queries"),
    [
        ("/session", 3),
        ("/session/{session}", 2),
        ("/session/{session}/children", 3),
        ("/session/{session}/diff", 3),
        ("/session/status", 1),
        ("/project", 1),
        ("/path", 2),
        ("/permission", 1),
        ("/experimental/session", 1),
        ("/experimental/worktree", 3),
        ("/project/{project}/directories", 3),
    ],
)
def test_queries_do_not_grow_with_the_rows(
    path: str,
    queries: int,
    alice: User,
    project: Project,
    session: Session,
    connect: Connect,
    django_assert_num_queries: Any,
) -> None:
    client = connect(alice)
    client.get("/global/health")
    for _ in range(3):
        make_session(alice, project, parent=session)
    client.get("/session")
    with django_assert_num_queries(2 + queries):
        assert client.get(path.format(session=session.pk, project=project.pk)).status_code == 200


def test_a_session_works_in_the_folder_that_the_client_is_in(
    alice: User, project: Project, session: Session, connect: Connect
) -> None:
    browser = connect(alice)
    named = {"directory": f"{project.directory}/a/b"}
    made = browser.post(f"/session?{urlencode(named)}", {}, JSON).json()
    check(made, SESSION)
    assert (made["path"], made["directory"]) == ("a/b", named["directory"])

    def listed(**query: str) -> list[str]:
        return [one["path"] for one in browser.get("/session", query).json()]

    assert listed(**named) == ["a/b"]
    assert listed(directory=project.directory) == [""]
    assert sorted(listed(**named, scope="project")) == ["", "a/b"]
    assert listed(path="a") == listed(path="a/b") == ["a/b"]
    assert listed(path="a/b/c") == []
    assert sorted(listed(path="")) == sorted(listed()) == ["", "a/b"]
    # Its children work where it does, wherever the client is.
    child = browser.post("/session", {"parentID": made["id"]}, JSON).json()
    assert child["directory"] == made["directory"]


def test_a_folder_outside_or_with_a_name_that_cannot_be_shown_is_refused(
    alice: User, project: Project, connect: Connect
) -> None:
    browser = connect(alice)
    for folder, status in (("/..", 404), ("/../..", 404), ("/a%0Ab", 400), ("/" + "x" * 1001, 400)):
        header = quote(project.directory) + folder
        answer = browser.post("/session", {}, JSON, headers={"x-opencode-directory": header})
        assert answer.status_code == status, folder
    assert browser.get("/session").json() == []
