from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from sessions.access import access_project
from sessions.actions.secrets import set_secret
from sessions.git.branch import branch_of, default_branch_of, has_file
from sessions.models import Project, Session
from teams.auth import authenticate_user
from teams.models import Team, User
from tests.factories import make_token
from tests.sessions.factories import make_project


def _head(project: Project) -> Path:
    return Path(project.directory, ".git", "HEAD")


def _pipe(project: Project) -> None:
    _head(project).unlink()
    os.mkfifo(_head(project))


def _endless(project: Project) -> None:
    _head(project).unlink()
    _head(project).symlink_to("/dev/zero")


def _elsewhere(project: Project) -> None:
    outside = Path(project.directory).parent / "HEAD"
    outside.write_text("ref: refs/heads/somebody-elses\n")
    _head(project).unlink()
    _head(project).symlink_to(outside)


def _linked_folder(project: Project) -> None:
    git = Path(project.directory, ".git")
    git.rename(Path(project.directory).parent / "git")
    git.symlink_to(Path(project.directory).parent / "git")


def _long(project: Project) -> None:
    _head(project).write_text("ref: refs/heads/" + "x" * 400)


def _folder(project: Project) -> None:
    _head(project).unlink()
    _head(project).mkdir()


def _detached(project: Project) -> None:
    _head(project).write_text("0" * 40 + "\n")


HOSTILE = [_pipe, _endless, _elsewhere, _linked_folder, _long, _folder, _detached]


def test_it_reads_the_branch(project: Project) -> None:
    _head(project).write_text("ref: refs/heads/fix/1\n")
    assert branch_of(project) == "fix/1"


@pytest.mark.parametrize("arrange", HOSTILE)
def test_what_an_agent_put_there_holds_up_no_page(
    arrange: Callable[[Project], None],
    project: Project,
    alice: User,
    client_for: Callable[[User], Client],
    team: Team,
) -> None:
    arrange(project)
    assert branch_of(project) == ""
    browser = client_for(alice)
    page = browser.get(f"/t/acme/p/{project.pk}/")
    assert page.status_code == 200
    assert "somebody-elses" not in page.content.decode()
    assert browser.get("/t/acme/").status_code == 200
    token = {"Authorization": f"Bearer {make_token(alice, team)[1]}"}
    told = Client(headers=token).get(f"/vcs?project={project.pk}").json()
    assert told.get("branch") is None
    assert "somebody-elses" not in str(told)


def _write(project: Project, path: str, text: str) -> Path:
    file = Path(project.directory, ".git", path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def test_the_default_branch_is_that_of_the_origin_else_one_with_a_usual_name(
    project: Project, alice: User, team: Team
) -> None:
    assert default_branch_of(project) == ""
    _write(project, "refs/heads/develop", "0" * 40)
    assert default_branch_of(project) == "develop"
    _write(project, "packed-refs", f"# pack-refs with: sorted\n{'0' * 40} refs/heads/master\n")
    assert default_branch_of(project) == "master"
    _write(project, "refs/remotes/origin/HEAD", "ref: refs/remotes/origin/release/2\n")
    _head(project).write_text("ref: refs/heads/fix\n")
    token = {"Authorization": f"Bearer {make_token(alice, team)[1]}"}
    client = Client(headers=token)
    assert client.get(f"/vcs?project={project.pk}").json() == {
        "branch": "fix",
        "default_branch": "release/2",
    }
    project.host = "elsewhere"
    assert default_branch_of(project) == ""


def test_a_branch_that_is_called_after_a_secret_is_shown_masked(
    project: Project,
    session: Session,
    alice: User,
    client_for: Callable[[User], Client],
    team: Team,
) -> None:
    access = access_project(authenticate_user(alice), project.pk)
    set_secret(access, name="DEPLOY", value="value-of-the-project")
    _head(project).write_text("ref: refs/heads/b-value-of-the-project\n")
    _write(project, "refs/remotes/origin/HEAD", "ref: refs/remotes/origin/c-value-of-the-project\n")
    browser = client_for(alice)
    for url in ("/t/acme/", f"/t/acme/p/{project.pk}/", f"/t/acme/s/{session.pk}"):
        page = browser.get(url).content.decode()
        assert "b-[secret DEPLOY]" in page, url
        assert "value-of-the-project" not in page, url
    token = {"Authorization": f"Bearer {make_token(alice, team)[1]}"}
    assert Client(headers=token).get(f"/vcs?project={project.pk}").json() == {
        "branch": "b-[secret DEPLOY]",
        "default_branch": "c-[secret DEPLOY]",
    }


def test_branches_of_many_projects_cost_one_look_at_their_secrets(
    project: Project, alice: User, client_for: Callable[[User], Client], tmp_path: Path
) -> None:
    browser = client_for(alice)

    def queries() -> int:
        with CaptureQueriesContext(connection) as made:
            browser.get("/t/acme/")
        return len(made)

    queries()
    with_one = queries()
    for number in range(4):
        make_project(project.team, tmp_path / f"other-{number}", name=f"other-{number}")
    assert queries() == with_one


def test_no_link_leads_to_the_default_branch(project: Project, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    (outside / "origin").mkdir(parents=True)
    (outside / "origin" / "HEAD").write_text("ref: refs/remotes/origin/private\n")
    refs = Path(project.directory, ".git", "refs")
    refs.mkdir(parents=True, exist_ok=True)
    (refs / "remotes").symlink_to(outside)
    assert default_branch_of(project) == ""
    (refs / "remotes").unlink()
    os.mkfifo(refs / "remotes")
    assert default_branch_of(project) == ""


def test_a_link_is_not_taken_for_an_instruction_file(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").symlink_to("/etc/passwd")
    (tmp_path / "CLAUDE.md").write_text("x")
    names = ("AGENTS.md", "CLAUDE.md", "CONTEXT.md")
    assert [name for name in names if has_file(tmp_path, name)] == ["CLAUDE.md"]
