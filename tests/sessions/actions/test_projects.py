from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from opencode_web.lib.errors import Conflict, Forbidden, Invalid, NotFound
from sessions.access import ProjectAccess, access_project
from sessions.actions import projects
from sessions.git.project_folders import managed_home
from sessions.models import Project, Session, State, TeamFolder
from sessions.tasks import remove_project_files
from teams.access import TeamAccess, access_team
from teams.audit import AuditAction
from teams.auth import authenticate_user
from teams.models import AuditEntry, Team, User
from tests.sessions.factories import make_session
from tests.sessions.git_server import make_repository, run_git

Sent = list[tuple[Any, ...]]


@pytest.fixture(autouse=True)
def worktrees(settings: Settings, tmp_path: Path) -> Path:
    settings.WORKTREES_DIR = tmp_path / "worktrees"
    settings.WORKTREES_DIR.mkdir()
    return tmp_path / "worktrees"


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> Sent:
    messages: Sent = []
    monkeypatch.setattr(
        "sessions.wake._send",
        lambda task, *args, queue, **_: messages.append((task, *args, queue)),
    )
    return messages


@pytest.fixture
def access(bob: User, team: Team) -> TeamAccess:
    return access_team(bob, team.pk)


@pytest.fixture
def assigned(team: Team, worktrees: Path) -> None:
    for name in ("shop", "a/b", "brought"):
        TeamFolder.objects.create(host="local", path=str(worktrees / name), team=team)


def reach(user: User, project: Project) -> ProjectAccess:
    return access_project(authenticate_user(user), project.pk)


def audited(project: Project) -> list[str]:
    rows = AuditEntry.objects.filter(target_id=project.pk).order_by("pk")
    return [row.action for row in rows]


def test_an_empty_project_is_a_repository_with_one_commit(
    access: TeamAccess, worktrees: Path
) -> None:
    project = projects.create_empty_project(access, name="  My  Shop ")
    folder = Path(project.directory)
    assert (project.name, project.status) == ("My Shop", Project.Status.READY)
    assert folder == worktrees / "managed" / project.pk / "my-shop"
    assert run_git("rev-list", "--count", "HEAD", cwd=folder) == "1"
    assert run_git("log", "-1", "--format=%an", cwd=folder) == "OpenCode Web"
    assert audited(project) == [AuditAction.PROJECT_CREATED]


def test_two_projects_of_one_name_have_folders_of_their_own(access: TeamAccess) -> None:
    first = projects.create_empty_project(access, name="Shop")
    second = projects.create_empty_project(access, name="Shop")
    assert first.directory != second.directory


def test_a_name_of_signs_only_still_gets_a_folder(access: TeamAccess) -> None:
    project = projects.create_empty_project(access, name="../../日本")
    assert Path(project.directory).name == "code"
    assert Path(project.directory).parent == managed_home(project.pk)


def test_the_sample_has_a_failing_test_and_a_clean_worktree(access: TeamAccess) -> None:
    project = projects.create_sample_project(access)
    folder = Path(project.directory)
    assert run_git("status", "--porcelain", cwd=folder) == ""
    tested = subprocess.run(
        [sys.executable, "-B", "-m", "unittest", "-q"], cwd=folder, capture_output=True, text=True
    )
    assert tested.returncode == 1
    assert "failures=1" in tested.stderr


def test_a_project_whose_files_cannot_be_made_leaves_nothing(
    access: TeamAccess, worktrees: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Exception, match="git could not run"):
        projects.create_empty_project(access, name="Shop")
    assert not Project.objects.exists()
    assert list((worktrees / "managed").iterdir()) == []


@pytest.mark.parametrize("name", ["", "   ", "x" * 121])
def test_it_refuses_an_unusable_name(access: TeamAccess, name: str) -> None:
    with pytest.raises(Invalid, match="1 to 120 characters"):
        projects.create_empty_project(access, name=name)


def test_a_viewer_makes_no_project(vera: User, team: Team) -> None:
    viewer = access_team(vera, team.pk)
    with pytest.raises(Forbidden):
        projects.create_empty_project(viewer, name="Shop")
    with pytest.raises(Forbidden):
        projects.create_project_from_git(viewer, url="https://host/code")
    with pytest.raises(Forbidden):
        projects.create_project_from_folder(viewer, path="x")


@pytest.mark.usefixtures("assigned")
def test_a_folder_of_the_team_becomes_a_project(access: TeamAccess, worktrees: Path) -> None:
    make_repository(worktrees / "shop" / "till", {"a": "a"})
    before = (worktrees / "shop/till/.git/config").read_text()
    project = projects.create_project_from_folder(access, path="shop/till")
    assert project.directory == str(worktrees / "shop" / "till")
    assert (project.name, project.source) == ("till", Project.Source.FOLDER)
    assert (worktrees / "shop/till/.git/config").read_text() == before


@pytest.mark.usefixtures("assigned")
def test_a_folder_that_is_no_repository_is_made_one_only_when_asked(
    access: TeamAccess, worktrees: Path
) -> None:
    (worktrees / "shop").mkdir()
    (worktrees / "shop" / "a").write_text("a")
    with pytest.raises(Invalid, match="not a Git repository") as caught:
        projects.create_project_from_folder(access, path=str(worktrees / "shop"))
    assert caught.value.data == {"field": "init"}
    assert not (worktrees / "shop" / ".git").exists()
    projects.create_project_from_folder(access, path=str(worktrees / "shop"), init=True)
    assert run_git("status", "--porcelain", cwd=worktrees / "shop") == "?? a"


@pytest.mark.usefixtures("assigned")
def test_a_folder_is_made_a_repository_inside_of_the_sandbox(
    access: TeamAccess, worktrees: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (worktrees / "shop").mkdir()
    # Inside of the sandbox the PATH is the system's.
    monkeypatch.setenv("PATH", str(tmp_path))
    projects.create_project_from_folder(access, path="shop", init=True)
    assert (worktrees / "shop" / ".git" / "HEAD").read_text() == "ref: refs/heads/main\n"


@pytest.mark.usefixtures("assigned")
def test_a_link_in_place_of_a_repository_is_not_followed(
    access: TeamAccess, worktrees: Path, tmp_path: Path
) -> None:
    (worktrees / "shop").mkdir()
    (worktrees / "shop" / ".git").symlink_to(tmp_path / "elsewhere")
    projects.create_project_from_folder(access, path="shop", init=True)
    assert not (tmp_path / "elsewhere").exists()


def test_it_refuses_a_folder_outside_the_root(
    access: TeamAccess, worktrees: Path, tmp_path: Path
) -> None:
    make_repository(tmp_path / "secret", {"a": "a"})
    (worktrees / "link").symlink_to(tmp_path / "secret")
    (worktrees / "file").write_text("")
    (worktrees / "loop").symlink_to(worktrees / "loop")
    (worktrees / "managed").mkdir()
    paths = ["", ".", "..", "../secret", "/etc", "/", "link", "file", "loop", "none", "managed"]
    for path in [*paths, str(tmp_path / "secret"), str(worktrees), "a\0b", "x" * 5000]:
        with pytest.raises(Invalid):
            projects.create_project_from_folder(access, path=path, init=True)
    assert not Project.objects.exists()


@pytest.mark.usefixtures("assigned")
def test_a_folder_belongs_to_one_project(access: TeamAccess, worktrees: Path) -> None:
    make_repository(worktrees / "a" / "b" / "c", {"x": "x"})
    projects.create_project_from_folder(access, path="a/b", init=True)
    for path in ("a/b", "a/b/c"):
        with pytest.raises(Conflict):
            projects.create_project_from_folder(access, path=path, init=True)


def test_no_team_adds_the_files_of_a_managed_project(access: TeamAccess, charlie: User) -> None:
    project = projects.create_empty_project(access, name="Shop")
    with pytest.raises(Invalid):
        projects.create_project_from_folder(access_team(charlie, "globex"), path=project.directory)


def test_a_failed_clone_is_tried_again_with_a_credential(
    access: TeamAccess,
    bob: User,
    sent: Sent,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    project = projects.create_project_from_git(access, url="https://host/code")
    with pytest.raises(Conflict):
        projects.clone_again(reach(bob, project))
    Project.objects.update(status=Project.Status.FAILED, status_detail="…")
    with django_capture_on_commit_callbacks(execute=True):
        again = projects.clone_again(reach(bob, project), url="https://u:p@host/code")
    assert (again.status, again.git_url) == (Project.Status.PREPARING, "https://host/code")
    [(task, project_id, sealed, queue)] = sent
    assert (task, project_id, queue) == ("sessions.prepare_project", project.pk, "sessions.local")
    assert sealed
    assert "u:p" not in sealed


def test_a_member_renames_and_configures(access: TeamAccess, bob: User) -> None:
    project = projects.create_empty_project(access, name="Shop")
    changed = projects.update_project(
        reach(bob, project), name="Store", config={"permission": {"bash": "deny"}}
    )
    assert (changed.name, changed.config) == ("Store", {"permission": {"bash": "deny"}})
    with pytest.raises(Invalid):
        projects.update_project(reach(bob, project), name="X", config={"model": "no-slash"})
    project.refresh_from_db()
    assert project.name == "Store"


@pytest.mark.usefixtures("assigned")
def test_deleting_removes_only_what_the_server_made(
    access: TeamAccess,
    adam: User,
    worktrees: Path,
    sent: Sent,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    made = projects.create_empty_project(access, name="Shop")
    make_repository(worktrees / "brought", {"a": "a"})
    brought = projects.create_project_from_folder(access, path="brought")
    with django_capture_on_commit_callbacks(execute=True):
        projects.delete_project(reach(adam, made))
        projects.delete_project(reach(adam, brought))
    assert sent == [("sessions.remove_project_files", made.pk, "sessions.local")]
    remove_project_files(made.pk)
    remove_project_files(made.pk)
    assert not Path(made.directory).parent.exists()
    assert (worktrees / "brought" / "a").read_text() == "a"
    assert audited(brought)[-1] == AuditAction.PROJECT_DELETED
    with pytest.raises(NotFound):
        reach(adam, made)


@pytest.mark.parametrize("project_id", ["", "..", ".", "a/b", "/etc"])
def test_no_message_removes_anything_but_a_projects_folder(
    worktrees: Path, project_id: str
) -> None:
    (worktrees / "managed").mkdir()
    (worktrees / "kept").mkdir()
    with pytest.raises(ValueError):
        remove_project_files(project_id)
    assert (worktrees / "kept").exists()


def test_only_admins_delete_and_not_while_a_session_runs(
    access: TeamAccess, bob: User, adam: User
) -> None:
    project = projects.create_empty_project(access, name="Shop")
    with pytest.raises(Forbidden):
        projects.delete_project(reach(bob, project))
    session = make_session(bob, project)
    Session.objects.filter(pk=session.pk).update(state=State.BUSY)
    with pytest.raises(Conflict, match="Stop it first"):
        projects.delete_project(reach(adam, project))
    Session.objects.filter(pk=session.pk).update(state=State.IDLE)
    projects.delete_project(reach(adam, project))
    assert not Session.objects.filter(pk=session.pk).exists()
