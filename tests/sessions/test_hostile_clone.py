from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pytest_django import Settings

from sessions.actions.projects import create_project_from_git
from sessions.models import Project
from teams.access import TeamAccess
from tests.sessions.git_server import git_server, make_repository, run_git
from tests.sessions.test_clone import access as access
from tests.sessions.test_clone import prepare
from tests.sessions.test_clone import sent as sent
from tests.sessions.test_clone import served as served
from tools.sandbox.select import probe

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def ran_outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    # Inside of the sandbox the PATH is the system's.
    git, log = shutil.which("git"), tmp_path / "ran-outside"
    (tmp_path / "bin").mkdir()
    wrapper = tmp_path / "bin" / "git"
    wrapper.write_text(f'#!/bin/sh\necho "$*" >> {log}\nexec {git} "$@"\n')
    wrapper.chmod(0o755)
    monkeypatch.setenv("PATH", f"{wrapper.parent}:{os.environ['PATH']}")
    return log


def make_hostile(folder: Path, touch: str) -> Path:
    """A repository that asks for programs wherever one can."""
    driver = f'[filter "evil"]\n\tsmudge = {touch}\n\tclean = {touch}\n\tprocess = {touch}\n'
    config = f"{driver}[core]\n\tfsmonitor = {touch}\n\thooksPath = hooks\n"
    module = '[submodule "sub"]\n\tpath = sub\n'
    repository = make_repository(
        folder,
        {
            ".gitattributes": "* filter=evil diff=evil merge=evil\n*.bin filter=lfs -text\n",
            ".gitconfig": config,
            ".lfsconfig": f"[lfs]\n\turl = ext::sh -c {touch}\n",
            ".gitmodules": f"{module}\turl = -u{touch}\n\tupdate = !{touch}\n",
            "hooks/post-checkout": f"#!/bin/sh\n{touch}\n",
            "model.bin": "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n",
        },
    )
    (repository / "hooks/post-checkout").chmod(0o755)
    head = run_git("rev-parse", "HEAD", cwd=repository)
    run_git("update-index", "--add", "--cacheinfo", f"160000,{head},sub", cwd=repository)
    run_git("add", "hooks", cwd=repository)
    run_git("commit", "--quiet", "--message", "more", cwd=repository)
    return repository


def test_a_hostile_repository_is_written_inside_of_the_sandbox_only(
    access: TeamAccess,
    sent: list[tuple[Any, ...]],
    settings: Settings,
    tmp_path: Path,
    ran_outside: Path,
) -> None:
    settings.WORKTREES_DIR = tmp_path / "worktrees"
    make_hostile(tmp_path / "served" / "code", f"touch {tmp_path}/ran")
    ran_outside.unlink(missing_ok=True)
    with git_server(tmp_path / "served") as address:
        project = create_project_from_git(access, url=f"http://{address}/code")
        ran_outside.unlink(missing_ok=True)
        prepare(project)
    assert project.status == Project.Status.READY, project.status_detail
    files = Path(project.directory)
    assert (files / "model.bin").read_text().startswith("version https://git-lfs")
    assert list((files / "sub").iterdir()) == []
    assert not (tmp_path / "ran").exists()
    outside = [line for line in ran_outside.read_text().splitlines() if "http-backend" not in line]
    assert [line.split()[:2] for line in outside] == [["clone", "--no-checkout"]]


def test_a_tree_with_a_git_folder_of_its_own_is_not_written(
    access: TeamAccess,
    sent: list[tuple[Any, ...]],
    settings: Settings,
    tmp_path: Path,
) -> None:
    settings.WORKTREES_DIR, settings.GIT_ALLOW_FILE = tmp_path / "worktrees", True
    source = make_repository(
        tmp_path / "code", {"config": f"[core]\nfsmonitor = touch {tmp_path}/ran"}
    )
    inner = run_git("rev-parse", "HEAD^{tree}", cwd=source)
    made = subprocess.run(
        ["git", "mktree"],
        input=f"040000 tree {inner}\t.git\n",
        cwd=source,
        capture_output=True,
        text=True,
        check=True,
    )
    commit = run_git("commit-tree", made.stdout.strip(), "-m", "evil", cwd=source)
    run_git("update-ref", "HEAD", commit, cwd=source)
    project = prepare(create_project_from_git(access, url=f"file://{source}"))
    assert project.status == Project.Status.FAILED
    assert "could not be written" in project.status_detail
    assert not (tmp_path / "ran").exists()


def test_without_a_sandbox_no_file_of_a_clone_is_written(
    served: str,
    access: TeamAccess,
    sent: list[tuple[Any, ...]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    off = replace(probe(), bubblewrap=None, reason="bubblewrap does not work here.")
    monkeypatch.setattr("sessions.git.box.probe", lambda: off)
    project = prepare(create_project_from_git(access, url=f"http://{served}/code"))
    assert project.status == Project.Status.FAILED
    assert project.status_detail.endswith("bubblewrap does not work here.")
    assert not Path(project.directory).exists()


def test_a_repository_without_a_commit_is_cloned(
    access: TeamAccess, sent: list[tuple[Any, ...]], settings: Settings, tmp_path: Path
) -> None:
    settings.WORKTREES_DIR, settings.GIT_ALLOW_FILE = tmp_path / "worktrees", True
    run_git("init", "--quiet", "--bare", str(tmp_path / "empty"), cwd=tmp_path)
    project = prepare(create_project_from_git(access, url=f"file://{tmp_path}/empty"))
    assert project.status == Project.Status.READY, project.status_detail
