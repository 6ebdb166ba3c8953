from __future__ import annotations

import asyncio
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from pytest_django import Settings

from opencode_web.lib.crypto import encrypt
from opencode_web.lib.db import in_db
from sessions import tasks
from sessions.actions.project_files import forgotten_projects
from sessions.actions.projects import create_project_from_git
from sessions.git.clone_errors import UNREACHED
from sessions.git.process import git_environment
from sessions.git.project_folders import managed_home
from sessions.jobs import clones
from sessions.models import Project
from teams.access import TeamAccess, access_team
from teams.models import Team, User
from tests.sessions.git_server import PASSWORD, USER, git_server, make_repository, run_git

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.any_database]

TOKEN = f"{USER}:{PASSWORD}"


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    messages: list[tuple[Any, ...]] = []
    monkeypatch.setattr(
        "sessions.wake._send",
        lambda task, *args, queue, **_: messages.append((task, *args, queue)),
    )
    return messages


@pytest.fixture
def access(alice: User, team: Team) -> TeamAccess:
    return access_team(alice, team.pk)


@pytest.fixture
def served(tmp_path: Path, settings: Settings) -> Iterator[str]:
    settings.WORKTREES_DIR = tmp_path / "worktrees"
    make_repository(tmp_path / "served" / "code", {"README.md": "hello", "src/a.py": "print(1)"})
    with git_server(tmp_path / "served") as address:
        yield address


def prepare(project: Project, credential: str = "") -> Project:
    sealed = encrypt(credential) if credential else ""
    async_to_sync(clones.prepare_project)(project.pk, sealed_credential=sealed)
    project.refresh_from_db()
    return project


def git_processes(project: Project) -> list[str]:
    listed = subprocess.run(["ps", "-ewwo", "args"], capture_output=True, text=True, check=True)
    return [line for line in listed.stdout.splitlines() if project.pk in line]


def test_a_clone_becomes_a_worktree(
    served: str, access: TeamAccess, sent: list[tuple[Any, ...]]
) -> None:
    project = create_project_from_git(access, url=f"http://{served}/code")
    assert (project.status, project.name) == (Project.Status.PREPARING, "code")
    assert sent == [("sessions.prepare_project", project.pk, "", "sessions.local")]
    prepare(project)
    assert (project.status, project.status_detail) == (Project.Status.READY, "")
    worktree = Path(project.directory)
    assert (worktree / "src/a.py").read_text() == "print(1)"
    assert run_git("remote", "get-url", "origin", cwd=worktree) == f"http://{served}/code"
    assert sorted(path.name for path in worktree.parent.iterdir()) == ["clone.lock", "code"]


def test_a_credential_is_used_once_and_kept_nowhere(
    served: str, access: TeamAccess, sent: list[tuple[Any, ...]], tmp_path: Path
) -> None:
    project = create_project_from_git(
        access, url=f"http://{USER}:{PASSWORD.replace('/', '%2F')}@{served}/private/code"
    )
    assert project.git_url == f"http://{served}/private/code"
    (task, project_id, sealed, _queue) = sent[0]
    assert (task, project_id) == ("sessions.prepare_project", project.pk)
    assert PASSWORD not in str(sent)
    async_to_sync(clones.prepare_project)(project.pk, sealed_credential=sealed)
    project.refresh_from_db()
    assert project.status == Project.Status.READY
    for path in Path(project.directory).rglob("*"):
        assert not path.is_file() or PASSWORD.encode() not in path.read_bytes()
    everything = str(Project.objects.filter(pk=project.pk).values().get())
    assert PASSWORD not in everything


@pytest.mark.parametrize(
    ("path", "credential", "sentence"),
    [
        ("private/code", "", "requires a sign-in"),
        ("private/code", "robot:wrong", "rejected this user name"),
        ("nothing", "", "There is no repository at this address"),
    ],
)
def test_a_failed_clone_says_why_and_leaves_nothing(
    served: str,
    access: TeamAccess,
    sent: list[tuple[Any, ...]],
    path: str,
    credential: str,
    sentence: str,
) -> None:
    project = prepare(create_project_from_git(access, url=f"http://{served}/{path}"), credential)
    assert project.status == Project.Status.FAILED
    assert sentence in project.status_detail
    assert [entry.name for entry in managed_home(project.pk).iterdir()] == ["clone.lock"]


def test_a_host_that_does_not_answer_is_told(
    access: TeamAccess, sent: list[tuple[Any, ...]], settings: Settings, tmp_path: Path
) -> None:
    settings.WORKTREES_DIR = tmp_path
    project = prepare(create_project_from_git(access, url="http://127.0.0.1:9/code"))
    assert project.status_detail == UNREACHED


def test_a_clone_that_takes_too_long_is_ended(
    served: str, access: TeamAccess, sent: list[tuple[Any, ...]], settings: Settings
) -> None:
    settings.CLONE_TIMEOUT_S = 1
    project = prepare(create_project_from_git(access, url=f"http://{served}/stall/code"))
    assert project.status == Project.Status.FAILED
    assert "was stopped after" in project.status_detail
    assert git_processes(project) == []


def test_a_file_is_cloned_only_behind_the_switch(
    access: TeamAccess, sent: list[tuple[Any, ...]], settings: Settings, tmp_path: Path
) -> None:
    settings.WORKTREES_DIR = tmp_path / "worktrees"
    source = make_repository(tmp_path / "code", {"a": "a"})
    settings.GIT_ALLOW_FILE = True
    allowed = create_project_from_git(access, url=f"file://{source}")
    settings.GIT_ALLOW_FILE = False
    # The row is there, as if the switch had been on once: git itself refuses.
    said = "This kind of address is not supported."
    assert prepare(allowed).status_detail == said
    Project.objects.update(status=Project.Status.PREPARING)
    settings.GIT_ALLOW_FILE = True
    assert prepare(allowed).status == Project.Status.READY


def test_hooks_and_submodules_of_the_repository_do_not_run(
    access: TeamAccess, sent: list[tuple[Any, ...]], settings: Settings, tmp_path: Path
) -> None:
    settings.WORKTREES_DIR, settings.GIT_ALLOW_FILE = tmp_path / "worktrees", True
    inner = make_repository(tmp_path / "inner", {"i": "i"})
    outer = make_repository(tmp_path / "outer", {"o": "o"})
    run_git(
        *("-c", "protocol.file.allow=always", "submodule", "add", "--quiet", str(inner), "sub"),
        cwd=outer,
    )
    run_git("commit", "--quiet", "--message", "sub", cwd=outer)
    templates = tmp_path / "templates" / "hooks"
    templates.mkdir(parents=True)
    hook = templates / "post-checkout"
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    hook.chmod(0o755)
    project = prepare(create_project_from_git(access, url=f"file://{outer}"))
    assert project.status == Project.Status.READY
    assert list((Path(project.directory) / "sub").iterdir()) == []
    assert not (Path(project.directory) / ".git" / "hooks").exists()
    assert not (tmp_path / "ran").exists()


def test_a_message_that_comes_twice_clones_once(
    served: str, access: TeamAccess, sent: list[tuple[Any, ...]]
) -> None:
    project = create_project_from_git(access, url=f"http://{served}/code")

    async def twice() -> None:
        await asyncio.gather(*(clones.prepare_project(project.pk) for _ in range(3)))
        await clones.prepare_project(project.pk)

    async_to_sync(twice)()
    project.refresh_from_db()
    assert project.status == Project.Status.READY
    assert run_git("status", "--porcelain", cwd=Path(project.directory)) == ""


def test_a_worker_that_stops_leaves_the_clone_to_the_next(
    served: str, access: TeamAccess, sent: list[tuple[Any, ...]]
) -> None:
    project = create_project_from_git(access, url=f"http://{served}/stall/code")

    async def stop_in_between() -> None:
        task = asyncio.create_task(clones.prepare_project(project.pk))
        while not await asyncio.to_thread(git_processes, project):
            await asyncio.sleep(0.01)
        await clones._cancel_all()
        with pytest.raises(asyncio.CancelledError):
            await task

    async_to_sync(stop_in_between)()
    project.refresh_from_db()
    assert project.status == Project.Status.PREPARING
    assert git_processes(project) == []
    assert [path.name for path in managed_home(project.pk).iterdir()] == ["clone.lock"]
    Project.objects.update(created_at="2026-01-01T00:00Z", git_url=f"http://{served}/code")
    assert forgotten_projects() == [project]
    project.refresh_from_db()
    assert prepare(project).status == Project.Status.READY
    assert forgotten_projects() == []


def test_what_a_dead_clone_left_is_cleared(
    served: str, access: TeamAccess, sent: list[tuple[Any, ...]]
) -> None:
    project = create_project_from_git(access, url=f"http://{served}/code")
    left = managed_home(project.pk) / ".draft-abc"
    left.mkdir(parents=True)
    (left / "half").write_text("x")
    assert prepare(project).status == Project.Status.READY
    assert not left.exists()


@pytest.mark.parametrize("name", ["clone-detection", "draft-", ".draft-x", "clone.lock"])
def test_a_late_message_does_not_touch_a_worktree_whatever_its_name(
    served: str, access: TeamAccess, sent: list[tuple[Any, ...]], name: str
) -> None:
    project = create_project_from_git(access, url=f"http://{served}/code", name=name)
    assert prepare(project).status == Project.Status.READY
    work = Path(project.directory) / "work"
    work.write_text("of a day")
    prepare(project)
    Project.objects.update(status=Project.Status.PREPARING)
    prepare(project)
    assert work.read_text() == "of a day"


@pytest.mark.parametrize("credential", ["", TOKEN])
def test_a_redirect_is_not_followed_and_told(
    served: str,
    access: TeamAccess,
    sent: list[tuple[Any, ...]],
    tmp_path: Path,
    credential: str,
) -> None:
    seen: list[tuple[str, str | None]] = []
    with git_server(tmp_path / "served", seen=seen) as other:
        project = create_project_from_git(access, url=f"http://{served}/to/{other}/private/code")
        prepare(project, credential)
    assert project.status == Project.Status.FAILED
    assert "redirects to another address" in project.status_detail
    assert seen == []


def test_no_more_clones_run_than_a_process_can_bear(
    served: str, access: TeamAccess, sent: list[tuple[Any, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    running, most = 0, 0
    cloned = clones._clone

    async def counted(*args: Any) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        try:
            await asyncio.sleep(0.02)
            await cloned(*args)
        finally:
            running -= 1

    monkeypatch.setattr(clones, "_clone", counted)
    projects = [
        create_project_from_git(access, url=f"http://{served}/code", name=f"code {n}")
        for n in range(clones.MAX_RUNNING + 2)
    ]

    async def all_at_once() -> None:
        # Doubled messages meanwhile find the waiting ones claimed.
        await asyncio.gather(*(clones.prepare_project(project.pk) for project in projects * 2))

    async_to_sync(all_at_once)()
    assert most == clones.MAX_RUNNING
    assert set(Project.objects.values_list("status", flat=True)) == {Project.Status.READY}


def test_the_task_holds_no_thread_while_a_clone_runs(
    served: str, access: TeamAccess, sent: list[tuple[Any, ...]]
) -> None:
    project = create_project_from_git(access, url=f"http://{served}/stall/code")
    tasks.prepare_project(project.pk)
    while not git_processes(project):
        time.sleep(0.01)
    clones.cancel_clones()
    assert git_processes(project) == []


def test_a_clone_from_a_refused_address_is_told(
    served: str, access: TeamAccess, sent: list[tuple[Any, ...]], settings: Settings
) -> None:
    settings.ALLOWED_PRIVATE_ADDRESSES = []
    project = prepare(create_project_from_git(access, url=f"http://{served}/code"))
    assert project.status_detail == UNREACHED


def test_git_goes_to_the_address_that_was_judged(
    served: str, access: TeamAccess, sent: list[tuple[Any, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    port = served.rpartition(":")[2]

    async def known(host: str, port: int) -> list[str]:
        assert host == "code.invalid"
        return ["127.0.0.1"]

    monkeypatch.setattr("sessions.git.clone_address._resolve", known)
    url = f"http://code.invalid:{port}/code"
    assert prepare(create_project_from_git(access, url=url)).status == Project.Status.READY


def test_a_project_that_is_deleted_meanwhile_leaves_no_files(
    served: str, access: TeamAccess, sent: list[tuple[Any, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    project = create_project_from_git(access, url=f"http://{served}/code")
    cloned = clones._clone

    async def clone_then_delete(*args: Any) -> None:
        await cloned(*args)
        await in_db(Project.objects.filter(pk=project.pk).delete)

    monkeypatch.setattr(clones, "_clone", clone_then_delete)
    async_to_sync(clones.prepare_project)(project.pk)
    assert not managed_home(project.pk).exists()


def test_progress_is_told_in_words() -> None:
    said = b"remote: Counting objects:  50% (1/2)\rReceiving objects:  45% (9/20), 1.20 MiB | 1 M\r"
    assert clones._last_progress(said) == "Downloading 45 % (1.20 MiB)"
    assert clones._last_progress(b"Resolving deltas:   0% (0/3)\r") == "Unpacking 0 %"
    assert clones._last_progress(b"Cloning into 'x'...\n") is None


def test_git_gets_nothing_of_the_servers_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_KEY", "very-secret")
    monkeypatch.setenv("GIT_DIR", "/elsewhere")
    env = git_environment()
    assert "very-secret" not in str(env)
    assert "GIT_DIR" not in env
    assert env["HOME"] == os.devnull
