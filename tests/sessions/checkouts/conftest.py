from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from pytest_django import Settings

from sessions.checkouts.create import Made, Wanted, make_checkout
from sessions.checkouts.operations import Repositories
from sessions.checkouts.repository import Person, Repository, open_checkout, open_project
from sessions.git.places import checkout_folder, store_of

ALICE = Person("Alice", "alice@example.com")
SAMPLE = "printf 'one\\ntwo\\nthree\\n' >till.py; mkdir d; echo d >d/f; echo 'skip' >.gitignore"
INIT = f"git init -q -b main; {SAMPLE}; git add -A; git commit -qm First"


def run(script: str, cwd: Path) -> str:
    environment = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(cwd),
        "GIT_AUTHOR_NAME": "Bob",
        "GIT_AUTHOR_EMAIL": "bob@example.com",
        "GIT_COMMITTER_NAME": "Bob",
        "GIT_COMMITTER_EMAIL": "bob@example.com",
    }
    done = subprocess.run(
        ["/bin/sh", "-ec", script], cwd=cwd, env=environment, check=False, capture_output=True
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


async def silent(_: str) -> None:
    return


class Shop:
    """A project's folder with checkouts of sessions, without any row."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def wanted(self, session: str, **changes: object) -> Wanted:
        given: dict[str, object] = {
            "project_id": "prj_1",
            "session_id": session,
            "directory": str(self.folder),
            "folder": checkout_folder("prj_1", session, "Shop"),
            "branch": f"opencode/{session}",
            "base": "",
            "person": ALICE,
        }
        return Wanted(**{**given, **changes})  # type: ignore[arg-type]

    async def make(self, session: str = "ses_1", **changes: object) -> tuple[Path, Made]:
        wanted = self.wanted(session, **changes)
        return wanted.folder, await make_checkout(wanted, silent)

    async def repositories(self, session: str = "ses_1") -> Repositories:
        return Repositories(
            await open_project(str(self.folder)),
            Repository(store_of("prj_1")),
            open_checkout("prj_1", checkout_folder("prj_1", session, "Shop"), "sha1"),
        )


@pytest.fixture
def shop(tmp_path: Path, settings: Settings) -> Shop:
    settings.DATA_DIR = tmp_path / "data"
    folder = tmp_path / "shop"
    folder.mkdir()
    run(INIT, folder)
    return Shop(folder)
