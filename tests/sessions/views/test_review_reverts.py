from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from django.test import Client

from opencode_web.lib.loop import submit
from sessions.models import Session, State
from sessions.runner import run_session
from teams.models import AuditEntry, User
from tests.sessions.factories import make_session
from tests.sessions.views.reviewing import Repository, Review, fields_of, paths

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.any_database]
ClientFor = Callable[[User | None], Client]
PANE = "source=uncommitted"


class Story:
    def __init__(self, review: Review, session: Session, root: Path) -> None:
        self.review, self.session, self.root = review, session, root

    def revert(self, file: str) -> int:
        fields = fields_of(self.review.pane(PANE), f"{self.review.url}/review/revert", file)
        return self._done(self.review.post("revert", **fields))

    def undo(self, file: str) -> int:
        url = f"{self.review.url}/file/undo"
        answer = self.review.client.post(url, {"file": file}, headers={"HX-Request": "true"})
        return self._done(answer.status_code)

    def _done(self, status: int) -> int:
        if status in (200, 204):
            submit(asyncio.wait_for(run_session(self.session.pk), 30)).result(60)
            self.session.refresh_from_db()
        return status

    def state(self) -> dict[str, tuple[int, bytes]]:
        found = {}
        for path in sorted(self.root.rglob("*")):
            name = path.relative_to(self.root).as_posix()
            if name.startswith(".git/") or (path.is_dir() and not path.is_symlink()):
                continue
            link = path.is_symlink()
            content = os.fsencode(path.readlink()) if link else path.read_bytes()
            found[name] = (path.lstat().st_mode, content)
        return found


@pytest.fixture
def story(review: Review, session: Session, repository: Repository) -> Story:
    return Story(review, session, repository.folder)


@pytest.mark.deep
def test_each_kind_of_change_goes_back_and_comes_back_exactly(
    story: Story, repository: Repository
) -> None:
    root = story.root
    repository.write(**{"run.sh": "#!/bin/sh\n"})
    (root / "link").symlink_to("till.py")
    repository.commit()
    committed = story.state()
    (root / "till.py").write_bytes(b"caf\xe9 \0 \r\n no end")
    (root / "gone.txt").unlink()
    (root / "old name.txt").rename(root / "renamed.txt")
    repository.git("add", "-A", "renamed.txt", "old name.txt")
    (root / "run.sh").chmod(0o755)
    (root / "link").unlink()
    (root / "link").symlink_to("gone.txt")
    (root / "new").mkdir()
    (root / "new/<b> big.bin").write_bytes(b"\1\0" * 1_500_000)
    (root / "new/<b> big.bin").chmod(0o755)
    changed = story.state()
    files = ["gone.txt", "link", "new/<b> big.bin", "renamed.txt", "run.sh", "till.py"]
    for file in files:
        assert story.revert(file) == 200
        assert story.session.outcome_detail == "", file
    assert story.state() == committed
    pane = story.review.pane(PANE)
    assert paths(pane) == []
    assert "new/&lt;b&gt; big.bin was reverted." in pane
    for file in files:
        assert story.undo(file) == 204
    assert story.state() == changed
    assert "was reverted" not in story.review.pane(PANE)


def test_the_form_says_what_becomes_of_a_file_and_who_did_it_is_written_down(
    story: Story, repository: Repository, alice: User
) -> None:
    repository.write(**{"new.txt": "1\n2\n", "till.py": "other\n"})
    pane = story.review.pane(PANE)
    assert (
        "The file is removed, because it is not in the last commit. The changes shown here" in pane
    )
    assert "(+2 -0) are discarded" in pane
    assert "The file is reset to the last commit." in pane
    story.revert("new.txt")
    entry = AuditEntry.objects.get(action="file.reverted")
    assert (entry.actor, entry.told["file"]) == (alice, "new.txt")


def test_what_nobody_has_looked_at_is_not_thrown_away(story: Story, repository: Repository) -> None:
    repository.write(**{"till.py": "shown\n"})
    fields = fields_of(story.review.pane(PANE), f"{story.review.url}/review/revert", "till.py")
    repository.write(**{"till.py": "written since\n"})
    assert story.review.post("revert", **fields) == 409
    assert (story.root / "till.py").read_text() == "written since\n"
    assert story.review.post("revert", **{**fields, "source": "branch"}) == 404
    assert story.review.post("revert", **{**fields, "file": "../till.py"}) == 404


def test_another_file_is_not_thrown_away_by_calling_it_the_old_name(
    story: Story, repository: Repository
) -> None:
    repository.write(**{"till.py": "mine\n", "gone.txt": "kept\n"})
    fields = fields_of(story.review.pane(PANE), f"{story.review.url}/review/revert", "till.py")
    assert story._done(story.review.post("revert", **{**fields, "old": "gone.txt"})) == 200
    assert (story.root / "gone.txt").read_text() == "kept\n"
    assert (story.root / "till.py").read_text() != "mine\n"


def test_nothing_is_thrown_away_while_somebody_works_on_the_files(
    story: Story, repository: Repository, alice: User
) -> None:
    repository.write(**{"till.py": "mine\n"})
    fields = fields_of(story.review.pane(PANE), f"{story.review.url}/review/revert", "till.py")
    other = make_session(alice, story.session.project)
    for busy in (story.session, other):
        Session.objects.filter(pk=busy.pk).update(state=State.BUSY)
        assert story.review.post("revert", **fields) == 409
        Session.objects.filter(pk=busy.pk).update(state=State.IDLE)
    assert (story.root / "till.py").read_text() == "mine\n"


def test_a_viewer_throws_nothing_away(
    client_for: ClientFor, vera: User, story: Story, repository: Repository
) -> None:
    repository.write(**{"till.py": "mine\n"})
    fields = fields_of(story.review.pane(PANE), f"{story.review.url}/review/revert", "till.py")
    assert Review(client_for(vera), story.session).post("revert", **fields) == 403


def test_a_repository_without_a_commit_loses_a_file_and_gets_it_back(
    review: Review, session: Session, bare: Path
) -> None:
    story = Story(review, session, bare)
    assert story.revert("first.txt") == 200
    assert story.state() == {}
    story.undo("first.txt")
    assert (bare / "first.txt").read_text() == "1\n"


@pytest.fixture
def bare(session: Session) -> Path:
    made = Repository(Path(session.project.directory))
    for path in made.folder.iterdir():
        assert path.name == ".git", path
    made.write(**{"first.txt": "1\n"})
    return made.folder
