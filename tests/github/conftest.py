from __future__ import annotations

import json
import os
import sysconfig
import venv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.installation import ROOT
from tests.github.runner import Ran, Runner
from tests.github.server import REPOSITORY, TOKEN, FakeGitHub, fake_github
from tests.sessions.git_server import git_server, make_repository, run_git

ACTION = ROOT / "github"
# Git takes it for the name of a branch, and a shell for a command.
BRANCH = 'it\'s-"$(touch${IFS}pwned)"'


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with what the action installs: that of the tests, and the command line."""
    folder = tmp_path_factory.mktemp("installed")
    venv.EnvBuilder(symlinks=True).create(folder)
    (place,) = folder.glob("lib/python*/site-packages")
    paths = (sysconfig.get_path("purelib"), ROOT / "clients" / "python")
    (place / "tests.pth").write_text("".join(f"{path}\n" for path in paths))
    return folder


@dataclass(frozen=True)
class Repository:
    """`url` is where GitHub has it, and `folder` what a workflow has checked out."""

    url: str
    source: Path
    folder: Path

    def push(self, branch: str) -> str:
        """Make a commit on a new branch and check it out. Returns: the commit."""
        run_git("checkout", "--quiet", "-B", branch, "main", cwd=self.source)
        run_git("commit", "--quiet", "--allow-empty", "--message", "second", cwd=self.source)
        run_git("fetch", "--quiet", "origin", branch, cwd=self.folder)
        run_git("checkout", "--quiet", "--detach", "FETCH_HEAD", cwd=self.folder)
        return run_git("rev-parse", "HEAD", cwd=self.folder)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Repository]:
    root = tmp_path_factory.mktemp("github")
    source = make_repository(root / REPOSITORY, {"till.py": "tax = 1\n"})
    with git_server(root) as place:
        url = f"http://{place}"
        folder = tmp_path_factory.mktemp("job") / "till"
        run_git("clone", "--quiet", f"{url}/{REPOSITORY}", str(folder), cwd=root)
        yield Repository(url, source, folder)


@pytest.fixture
def github(repository: Repository) -> Iterator[FakeGitHub]:
    with fake_github() as made:
        made.commit = repository.push(BRANCH)
        made.diff = "diff --git a/till.py b/till.py\n+tax = 1\n"
        yield made


@dataclass
class Job:
    """A job of a workflow that runs for pull request 7 and uses the action."""

    folder: Path
    installed: Path
    repository: Repository
    github: FakeGitHub
    head_of: str = REPOSITORY
    title: str = "Add the tax"

    def use(self, *, env: dict[str, str] | None = None, **inputs: str) -> Ran:
        event = self.folder / "event.json"
        event.write_text(json.dumps(self._event()))
        for name in ("client", "server"):
            link = self.folder / f"opencode-web-{name}"
            if not link.exists():
                link.symlink_to(self.installed)
        machine = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        runner = Runner(
            self.folder,
            self.installed / "bin" / "python",
            {
                **machine,
                "HOME": str(self.folder),
                "RUNNER_TEMP": str(self.folder),
                "RUNNER_ENVIRONMENT": "self-hosted",
                "GITHUB_API_URL": self.github.url,
                "GITHUB_SERVER_URL": self.repository.url,
                "GITHUB_REPOSITORY": REPOSITORY,
                "GITHUB_SHA": "0" * 40,
                "GITHUB_REF": "refs/pull/7/merge",
                "GITHUB_HEAD_REF": BRANCH,
                "GITHUB_RUN_ID": "11",
                "GITHUB_WORKFLOW": "Review",
                "GITHUB_JOB": "review",
                "GITHUB_EVENT_PATH": str(event),
                **(env or {}),
            },
        )
        given = {name.replace("_", "-"): value for name, value in inputs.items()}
        return runner.use(ACTION, given, cwd=self.repository.folder, token=TOKEN)

    def _event(self) -> dict[str, Any]:
        head = {
            "sha": self.github.commit,
            "ref": BRANCH,
            "repo": {"full_name": self.head_of} if self.head_of else None,
        }
        pull = {"number": 7, "title": self.title, "body": None, "head": head}
        return {"action": "opened", "number": 7, "pull_request": pull}


@pytest.fixture
def job(tmp_path: Path, installed: Path, repository: Repository, github: FakeGitHub) -> Job:
    return Job(tmp_path, installed, repository, github)
