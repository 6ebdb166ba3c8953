from __future__ import annotations

import asyncio
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pytest
from django.test import Client

from opencode_web.lib.loop import submit
from sessions.models import Project, SavedRule, Session, State
from sessions.runner import run_session
from teams.models import AuditEntry, User
from tests.sessions.factories import make_session, prompt, script
from tests.sessions.views.reviewing import Repository, Review, hunks_of

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.any_database]
ClientFor = Callable[[User | None], Client]


class Story:
    """Two places of a file are changed: `first` and `last` are the forms at their hunks."""

    def __init__(self, review: Review, session: Session, repository: Repository) -> None:
        self.review, self.session, self.repository = review, session, repository
        self.file = repository.folder / "till.py"

    def write(self, **lines: str) -> None:
        text = [lines.get(f"line_{n}", f"line {n}") for n in range(40)]
        self.file.write_text("".join(f"{line}\n" for line in text))

    def hunks(self, file: str = "till.py", more: str = "") -> list[dict[str, str]]:
        return hunks_of(self.page(file, more))

    def page(self, file: str = "till.py", more: str = "") -> str:
        return self.review.get(f"/file?source=uncommitted&file={file}{more}")

    def stage(self, fields: dict[str, str]) -> int:
        return self.review.post("stage", **fields)

    def revert(self, fields: dict[str, str]) -> int:
        return self._done(self.review.post("revert", **fields))

    def undo(self, file: str = "till.py") -> int:
        url = f"{self.review.url}/file/undo"
        return self._done(self.review.client.post(url, {"file": file}).status_code)

    def staged(self) -> str:
        run = ["git", "-C", str(self.repository.folder), "diff", "--cached", "-U0"]
        return subprocess.run(run, check=True, capture_output=True, text=True).stdout

    def indexed(self, file: str) -> bytes:
        """What the next commit would have of a file; nothing where it is in no index."""
        run = ["git", "-C", str(self.repository.folder), "cat-file", "blob", f":0:{file}"]
        return subprocess.run(run, check=False, capture_output=True).stdout

    def _done(self, status: int) -> int:
        if status in (200, 302):
            submit(asyncio.wait_for(run_session(self.session.pk), 30)).result(60)
            self.session.refresh_from_db()
        return status


@pytest.fixture
def story(review: Review, session: Session, repository: Repository) -> Story:
    made = Story(review, session, repository)
    made.write(line_5="FIRST", line_30="LAST")
    return made


def test_each_hunk_is_staged_and_unstaged_by_itself(story: Story, alice: User) -> None:
    first, last = story.hunks()
    assert story.stage(last) == 204
    assert "+LAST" in story.staged()
    assert "FIRST" not in story.staged()
    page = story.page()
    assert page.count(">Staged<") == 1
    assert page.index(">Staged<") > page.index("FIRST")
    entry = AuditEntry.objects.get(action="file.staged")
    assert (entry.actor, entry.told["file"]) == (alice, "till.py")

    # Lines above it have moved what is staged: it is still that hunk.
    first, last = story.hunks()
    assert story.stage(first) == 204
    assert "FIRST" in story.staged()
    assert "LAST" in story.staged()
    first, last = story.hunks()
    assert (first["stage"], last["stage"]) == ("0", "0")
    assert story.stage(last) == 204
    assert "FIRST" in story.staged()
    assert "LAST" not in story.staged()
    assert story.file.read_text().count("LAST") == 1


def test_what_was_written_after_staging_makes_it_partly_staged(story: Story) -> None:
    assert story.stage(story.hunks()[0]) == 204
    story.write(line_5="FIRST", line_6="MORE", line_30="LAST")
    assert story.page().count(">Partly staged<") == 1
    fields = story.hunks()[0]
    assert fields["stage"] == "1"
    assert story.stage(fields) == 204
    assert "MORE" in story.staged()
    assert "LAST" not in story.staged()


def test_new_and_deleted_files_are_staged_too(story: Story) -> None:
    root = story.repository.folder
    (root / "new [1].txt").write_text("new\n")
    (root / "gone.txt").unlink()
    for file in ("new [1].txt", "gone.txt"):
        (fields,) = story.hunks(file)
        assert story.stage(fields) == 204
        assert file in story.staged()
        (fields,) = story.hunks(file)
        assert fields["stage"] == "0"
        assert story.stage(fields) == 204
        assert file not in story.staged()


def test_names_and_links_are_what_they_are(story: Story) -> None:
    root = story.repository.folder
    name, link = 'a "b" \\ [1] é.txt', root / "link"
    (root / name).write_text("1\n2\n")
    link.symlink_to("till.py")
    story.repository.commit()
    (root / name).write_text("1\nTWO\n")
    link.unlink()
    link.symlink_to("gone.txt")
    for file in (quote(name), "link"):
        (fields,) = story.hunks(file)
        assert story.stage(fields) == 204
        (fields,) = story.hunks(file)
        assert fields["stage"] == "0"
        assert story.revert(fields) == 200
        assert story.session.outcome_detail == ""
    assert (root / name).read_text() == "1\n2\n"
    assert link.readlink() == Path("till.py")
    assert story.staged() == ""


def test_one_hunk_goes_back_and_all_of_them_come_back_at_once(story: Story) -> None:
    changed = story.file.read_text()
    assert story.stage(story.hunks()[1]) == 204
    assert story.revert(story.hunks()[1]) == 200
    assert "FIRST" in story.file.read_text()
    assert "LAST" not in story.file.read_text()
    assert story.staged() == ""
    (fields,) = story.hunks()
    assert story.revert(fields) == 200
    assert story.file.read_text() == "".join(f"line {n}\n" for n in range(40))
    entries = AuditEntry.objects.filter(action="file.reverted").order_by("pk")
    assert [entry.data["lines"] for entry in entries] == [[28, 7], [3, 7]]
    assert "till.py was reverted." in story.review.pane("source=uncommitted")
    assert story.undo() == 302
    assert story.file.read_text() == changed


def test_a_file_counts_as_changed_until_its_last_hunk_is_reverted(
    story: Story, alice: User, project: Project
) -> None:
    SavedRule.objects.create(
        project=project, permission="bash", pattern="*", created_at=story.session.created_at
    )
    command = "echo new > new.txt && sed -i 's/FIRST/1ST/; s/LAST/LASTLY/' till.py"
    call = {"tool": "bash", "input": {"command": command}}
    prompt(alice, story.session, script([call], [{"text": "done"}]))
    assert story._done(200) == 200
    for files in (2, 2, 1):
        page = story.review.get("?panel=changes&source=uncommitted", htmx=False)
        assert set(re.findall(r"data-changes-count>(\d*)<", page)) == {str(files)}
        for source in ("uncommitted", "session"):
            total = f'changes-total meta">{files} file'
            assert total in story.review.pane(f"source={source}"), source
        if files == 2:
            assert story.revert(story.hunks()[0]) == 200
    assert story.undo() == 302
    assert len(story.hunks()) == 2


def test_a_hunk_without_a_line_end_and_with_other_line_ends_goes_back_exactly(
    story: Story,
) -> None:
    committed = b"a\r\nb\r\n" + b"same\r\n" * 20 + b"end"
    story.file.write_bytes(committed)
    story.repository.commit()
    story.file.write_bytes(b"A\r\nb\r\n" + b"same\r\n" * 20 + b"end\r\nmore")
    assert story.revert(story.hunks()[1]) == 200
    assert story.file.read_bytes() == committed.replace(b"a\r", b"A\r", 1)


def test_what_has_changed_since_the_page_was_drawn_stays(story: Story) -> None:
    fields = story.hunks()[0]
    story.write(line_5="FIRST", line_30="OTHER")
    assert story.revert(fields) == 409
    assert story.stage(fields) == 409
    assert "FIRST" in story.file.read_text()
    # Also when it changes after the form was accepted.
    fields = story.hunks()[0]
    assert story.review.post("revert", **fields) == 200
    story.write(line_5="FIRST", line_30="LATER")
    assert story._done(200) == 200
    assert story.session.outcome == "failed"
    assert "till.py has changed meanwhile" in story.session.outcome_detail
    assert "FIRST" in story.file.read_text()


def test_hunks_with_more_lines_around_them_are_the_same(story: Story) -> None:
    (fields,) = story.hunks(more="&context=25")
    assert story.revert({**fields, "hunk": "1,2,1,2"}) == 404
    assert story.revert(fields) == 200
    assert "FIRST" not in story.file.read_text()
    assert "LAST" not in story.file.read_text()


@pytest.mark.parametrize("hunk", ["", "1,2,3", "1,2,3,x", "1,2,3,-4", "1,2,3,99999999"])
def test_what_is_no_range_of_lines_is_refused(story: Story, hunk: str) -> None:
    fields = {**story.hunks()[0], "hunk": hunk}
    assert (story.stage(fields), story.review.post("revert", **fields)) == (404, 404)
    assert story.stage({**story.hunks()[0], "file": "../till.py"}) == 404
    assert story.stage({**story.hunks()[0], "source": "branch"}) == 404


def test_only_a_member_and_only_files_at_rest(
    client_for: ClientFor, vera: User, story: Story, alice: User
) -> None:
    fields = story.hunks()[0]
    viewer = Review(client_for(vera), story.session)
    assert (viewer.post("stage", **fields), viewer.post("revert", **fields)) == (403, 403)
    for busy in (story.session, make_session(alice, story.session.project)):
        Session.objects.filter(pk=busy.pk).update(state=State.BUSY)
        assert (story.stage(fields), story.review.post("revert", **fields)) == (409, 409)
        Session.objects.filter(pk=busy.pk).update(state=State.IDLE)
    assert story.staged() == ""


def hide_spaces(story: Story) -> None:
    assert story.review.post("look", spaces="0", source="uncommitted") == 200


def test_hunks_of_other_sources_are_only_commented_on(story: Story) -> None:
    story.repository.commit()
    page = story.review.get("/file?source=commit&file=till.py")
    assert page.count("data-hunk-comment") == 2
    assert "data-hunk-stage" not in page


# What the last commit has, what an agent made of it, and what stays of that once the only hunk
# that shows without whitespace is reverted. Both ends of each file have a change that is hidden.
HIDDEN = {
    "tabs": (b"\tone\n", b"\tONE\n        two\n", b"\tone\n"),
    "indented together": (b"one\ntwo\n", b"if x:\n    one\n    two\n", b"one\ntwo\n"),
    "trailing spaces": (b"one  \ntwo\n", b"ONE\ntwo  \n", b"one  \ntwo\n"),
    "line ends": (b"one\r\ntwo\r\n", b"ONE\ntwo\n", b"one\r\ntwo\r\n"),
    "no line end": (b"one\ntwo", b"one\ntwo\nthree\n", b"one\ntwo"),
    "no line end now": (b"one\ntwo\nthree\n", b"one\ntwo", b"one\ntwo\nthree\n"),
}


@pytest.mark.deep
@pytest.mark.parametrize("name", HIDDEN)
def test_hidden_whitespace_goes_with_the_hunk_it_touches_and_no_other_does(
    story: Story, name: str
) -> None:
    before, after, back = HIDDEN[name]
    same = b"".join(b"same %d\n" % n for n in range(20))
    story.file.write_bytes(b"first\n" + same + before)
    story.repository.commit()
    story.file.write_bytes(b"  first\n" + same + after)
    hide_spaces(story)
    (fields,) = story.hunks()
    assert story.stage(fields) == 204
    assert story.indexed("till.py") == b"first\n" + same + after
    (fields,) = story.hunks()
    assert fields["stage"] == "0"
    assert story.stage(fields) == 204
    assert story.staged() == ""
    (fields,) = story.hunks()
    assert story.revert(fields) == 200
    assert story.file.read_bytes() == b"  first\n" + same + back
    assert story.undo() == 302
    assert story.file.read_bytes() == b"  first\n" + same + after


def test_hidden_changes_of_other_lines_stay_out_of_what_is_reverted_and_staged(
    story: Story,
) -> None:
    story.write(line_5="FIRST", line_9="line 9  ", line_20="\tline 20", line_30="LAST")
    hide_spaces(story)
    assert story.stage(story.hunks()[0]) == 204
    assert "FIRST" in story.staged()
    assert "line 9  " not in story.staged()
    assert story.page().count(">Staged<") == 1
    assert story.revert(story.hunks()[0]) == 200
    lines = story.file.read_text().splitlines()
    assert (lines[5], lines[9], lines[20], lines[30]) == ("line 5", "line 9  ", "\tline 20", "LAST")


@pytest.mark.deep
@pytest.mark.parametrize("name", ["to.py", 'a "b" \\ [1] é\t.txt'])
@pytest.mark.parametrize("how", ["moved", "intended", "both", "added"])
def test_hunks_of_a_renamed_file_are_staged_with_its_name_and_reverted(
    story: Story, how: str, name: str
) -> None:
    story.repository.git("checkout", "-q", "till.py")
    committed, git = story.file.read_bytes(), story.repository.git
    git("mv", "till.py", name)
    story.file = story.repository.folder / name
    if how != "moved":
        git("reset", "-q")
    story.write(line_5="FIRST", line_30="LAST")
    if how == "intended":
        git("add", "--intent-to-add", name)
    elif how != "moved":
        git("add", name)
    if how == "added":
        git("rm", "-q", "--cached", "till.py")

    def hunks() -> list[dict[str, str]]:
        return story.hunks(quote(name), "&old=till.py")

    if how in ("both", "added"):
        assert [fields["stage"] for fields in hunks()] == ["0", "0"]
        for _ in range(2):
            assert story.stage(next(one for one in hunks() if one["stage"] == "0")) == 204
        assert story.indexed(name) == committed
    first, last = hunks()
    assert (first["old"], first["stage"], last["stage"]) == ("till.py", "1", "1")
    assert story.stage(last) == 204
    assert story.indexed(name) == committed.replace(b"line 30", b"LAST")
    assert story.indexed("till.py") == b""
    first, last = hunks()
    assert (first["stage"], last["stage"]) == ("1", "0")
    assert story.revert(last) == 200
    assert story.session.outcome_detail == ""
    assert story.file.read_bytes() == committed.replace(b"line 5", b"FIRST")
    assert story.indexed(name) == committed
    assert not (story.repository.folder / "till.py").exists()


def test_a_git_that_is_at_work_is_told(story: Story) -> None:
    lock: Path = story.repository.folder / ".git" / "index.lock"
    lock.touch()
    assert story.stage(story.hunks()[0]) == 409
