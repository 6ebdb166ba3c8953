from __future__ import annotations

import asyncio
import html
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from django.test import Client

from sessions.checkouts.jobs import run_job
from sessions.models import Checkout, Session
from teams.models import AuditEntry, User
from tests.sessions.views.reviewing import PNG, Repository, Review, hunks_of, paths

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.any_database]
ClientFor = Callable[[User | None], Client]
PANE = "source=uncommitted"
DONE = f"{PANE}&committed=1"


class Story:
    def __init__(self, review: Review, session: Session, repository: Repository) -> None:
        self.review, self.session, self.repository = review, session, repository

    @property
    def row(self) -> Checkout:
        return Checkout.objects.get(pk=self.session.project_id)

    def pane(self, more: str = PANE) -> str:
        return html.unescape(self.review.pane(more))

    def commit(self, which: str, **fields: str) -> str:
        """Returns: what the pane says once a worker has done it."""
        fields = {"source": "uncommitted", "message": "Mend", "which": which, **fields}
        assert self.review.post("commit", **fields) == 200
        assert "Committing…" in self.pane(DONE)
        asyncio.run(run_job(self.row.pk))
        return self.pane(DONE)

    def git(self, *arguments: str) -> str:
        run = ["git", "-C", str(self.repository.folder), *arguments]
        return subprocess.run(run, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def story(review: Review, session: Session, repository: Repository) -> Story:
    Session.objects.filter(pk=session.pk).update(title="Mend the till")
    repository.write(**{"new.txt": "1\n"})
    lines = ["FIRST" if n == 5 else "LAST" if n == 30 else f"line {n}" for n in range(40)]
    (repository.folder / "till.py").write_text("".join(f"{line}\n" for line in lines))
    return Story(review, session, repository)


def test_everything_is_committed_where_nothing_is_staged(story: Story, alice: User) -> None:
    shown = story.pane()
    assert "Commit all 2 files" in shown
    assert "source=uncommitted&commit=1" in story.pane("source=session")
    form = 'class="review-commit-form" data-needs="member"'
    came_from_elsewhere = story.pane(f"{PANE}&commit=1")
    assert f"{form} open>" in came_from_elsewhere
    assert "These are all uncommitted changes, not only those" in came_from_elsewhere
    assert f"{form}>" in shown
    assert "These are all uncommitted changes" not in shown
    assert ">Mend the till</textarea>" in shown
    assert "These files may include changes of other people" in shown
    shown = story.commit("all")
    head = story.git("rev-parse", "HEAD").strip()
    assert f"Committed {head[:10]}." in shown
    assert "No uncommitted changes" in shown
    # Of what is committed only pushing is left, which is on the page that it leads to.
    assert "Push…</a>" in shown
    assert "Commit…" not in shown
    assert story.git("status", "--porcelain") == ""
    assert AuditEntry.objects.get(action="checkout.committed").actor == alice
    # It is on no other host yet, so its link leads to what we know of it.
    assert "panel=changes&source=commit" in shown
    kept = story.pane("source=commit")
    assert f"Commit {head[:10]}" in kept
    assert paths(kept) == ["new.txt", "till.py"]


def test_only_what_is_staged_is_committed_where_something_is(story: Story) -> None:
    page = story.review.get("/file?source=uncommitted&file=till.py")
    assert story.review.post("stage", **hunks_of(page)[1]) == 204
    shown = story.pane()
    assert "Commit staged changes in 1 file" in shown
    assert "changes of other people" not in shown
    shown = story.commit("staged")
    assert "Committed " in shown
    assert paths(shown) == ["new.txt", "till.py"]
    assert "Commit all 2 files" in shown
    said = story.git("show", "--format=", "HEAD")
    assert "+LAST" in said
    assert "FIRST" not in said


def test_a_file_whose_new_name_is_staged_counts_once(story: Story) -> None:
    story.git("mv", "till.py", "shop.py")
    assert "Commit staged changes in 1 file" in story.pane()


def test_what_is_no_longer_staged_is_not_committed(story: Story) -> None:
    before = story.git("rev-parse", "HEAD")
    shown = story.commit("staged")
    assert "Nothing is staged any more." in shown
    assert "Show the commit" not in shown
    assert story.git("rev-parse", "HEAD") == before


def test_the_link_leads_to_the_host_once_it_is_pushed(story: Story) -> None:
    story.session.project.git_url = "https://github.com/acme/till.git"
    story.session.project.save()
    story.commit("all")
    assert "github.com" not in story.pane("source=commit")
    head = story.row.head
    Checkout.objects.filter(pk=story.row.pk).update(pushed_head=head)
    shown = story.pane("source=commit")
    assert f'href="https://github.com/acme/till/commit/{head}"' in shown
    assert "View on GitHub" in shown


def test_the_last_commit_is_shown_as_it_was_made(story: Story) -> None:
    root = story.repository.folder
    (root / "logo.png").write_bytes(PNG + b"new")
    story.commit("all")
    (root / "till.py").write_text("later\n")
    (root / "logo.png").write_bytes(b"later")
    (root / "unknown.txt").write_text("later\n")
    assert paths(story.pane("source=commit")) == ["logo.png", "new.txt", "till.py"]
    rows = story.review.diff("source=commit&file=till.py")
    assert any("FIRST" in row for row in rows)
    assert not any("later" in row for row in rows)
    assert story.review.ask("/file?source=commit&file=unknown.txt").status_code == 404
    page = story.review.get("/file?source=commit&file=logo.png")
    assert "review/picture" in page.split("After")[1]
    after = story.review.ask("/review/picture?source=commit&file=logo.png&side=after")
    assert after.content == PNG + b"new"
    assert story.review.ask("/review/picture?source=commit&file=logo.png").content == PNG


def test_a_repository_without_a_commit_has_no_last_one(review: Review, session: Session) -> None:
    assert Path(session.project.directory, ".git").is_dir()
    assert "There is no commit yet." in review.pane("source=commit")


def test_a_form_is_sent_once_and_needs_a_message_and_a_member(
    client_for: ClientFor, vera: User, story: Story
) -> None:
    fields = {"source": "uncommitted", "which": "all", "key": "once"}
    assert story.review.post("commit", **fields) == 400
    assert Review(client_for(vera), story.session).post("commit", message="x", **fields) == 403
    story.commit("all", key="once")
    assert story.review.post("commit", message="Again", **fields) == 200
    assert story.row.job == ""


def test_a_long_title_is_cut_between_words(story: Story) -> None:
    for title, shown in (
        ("Mend our tills then " + "tell what it does " * 5, "tell what it does tell what it"),
        ("x" * 100, "x" * 72),
        # Cut already, and by one long word.
        ("Mend the till that…", ">Mend the till that"),
        ("Mend " + "x" * 70 + "…", ">Mend " + "x" * 67),
    ):
        Session.objects.filter(pk=story.session.pk).update(title=title)
        assert f"{shown}</textarea>" in story.pane()


def test_the_publish_page_suggests_the_same_message(story: Story) -> None:
    story.review.get("/publish")
    asyncio.run(run_job(story.row.pk))
    shown = story.review.get("/publish?poll=1")
    assert ">Mend the till</textarea>" in shown
