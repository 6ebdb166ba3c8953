from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.test import Client

from sessions.models import Session
from teams.models import User
from tests.sessions.story import tell_whole_turn
from tests.sessions.views.reviewing import Repository, Review, paths

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.any_database]
ClientFor = Callable[[User | None], Client]


def stamp_of(html: str, path: str) -> str:
    card = html.split(f'aria-label="{path}"')[1]
    return re.findall(r'name="looked" value="([^"]*)"', card)[0]


def test_a_file_stays_viewed_until_something_else_is_in_it(
    review: Review, client_for: ClientFor, bob: User, session: Session, repository: Repository
) -> None:
    repository.write(**{"a.txt": "a\n", "b.txt": "b\n"})
    html = review.pane("source=uncommitted")
    named = {"source": "uncommitted", "file": "a.txt", "looked": stamp_of(html, "a.txt")}
    assert review.post("viewed", viewed="1", **named) == 204
    html = review.pane("source=uncommitted")
    assert "1 of 2 viewed" in html
    assert html.count(" checked data-submit") == 1
    assert "0 of 2 viewed" in Review(client_for(bob), session).pane("source=uncommitted")
    # Written again, with the same in it.
    repository.write(**{"a.txt": "a\n"})
    html = review.pane("source=uncommitted")
    assert "1 of 2 viewed" in html
    repository.write(**{"a.txt": "other\n"})
    assert "0 of 2 viewed" in review.pane("source=uncommitted")
    # Nobody marks what they have not seen.
    assert review.post("viewed", viewed="1", **named) == 409
    repository.write(**{"a.txt": "a\n"})
    html = review.pane("source=uncommitted")
    assert "1 of 2 viewed" in html
    assert review.post("viewed", **{**named, "looked": stamp_of(html, "a.txt")}) == 204
    assert "0 of 2 viewed" in review.pane("source=uncommitted")


def test_changes_of_a_turn_can_be_viewed_too(review: Review, alice: User, session: Session) -> None:
    tell_whole_turn(session, alice)
    html = review.pane("source=turn")
    (path,) = paths(html)
    named = {"source": "turn", "file": path, "looked": stamp_of(html, path)}
    assert review.post("viewed", viewed="1", **named) == 204
    assert html.count(" checked data-submit") == 0
    assert review.pane("source=turn").count(" checked data-submit") == 1


@pytest.fixture
def commented(review: Review, repository: Repository) -> Review:
    lines = [f"line {n}\n" for n in range(40)]
    lines[20] = "line ``` twenty\n"
    repository.write(**{"till.py": "".join(lines)})
    named = {"source": "uncommitted", "file": "till.py"}
    assert (
        review.post("comment", **named, side="new", first="20", last="21", body="Why <b>?") == 204
    )
    assert (
        review.post("comment", **named, side="old", first="21", last="21", body="Keep it.") == 204
    )
    return review


def test_comments_stand_in_the_diff_until_they_are_sent_as_one_message(
    commented: Review, session: Session, alice: User, client_for: ClientFor, bob: User
) -> None:
    html = commented.get("/file?source=uncommitted&file=till.py")
    assert "Lines 20 to 21" in html
    assert "Why &lt;b&gt;?" in html
    assert "Line 21 before the change" in " ".join(html.split())
    # Also where the same lines are shown in two columns; nobody else sees them.
    theirs = Review(client_for(bob), session)
    assert "Why" not in theirs.get("/file?source=uncommitted&file=till.py")
    assert "Send 2 comments" not in theirs.pane("source=uncommitted")
    pane = commented.pane("source=uncommitted")
    assert "Send 2 comments" in pane
    key = re.findall(r'name="idempotency" value="([^"]*)"', pane)[0]
    assert commented.post("send", idempotency=key, delivery="queue") == 200
    # A second click sends nothing more.
    assert commented.post("send", idempotency=key, delivery="queue") == 200
    (sent,) = session.inputs.all()
    assert sent.data["parts"][0]["text"] == (
        "I have reviewed the changes. Please look at these comments.\n\n"
        "1. till.py, lines 20 to 21\n\n````\nline 19\nline ``` twenty\n````\n\nWhy <b>?\n\n"
        "2. till.py, line 21 before the change\n\n```\nline 20\n```\n\nKeep it."
    )
    assert sent.delivery == "queue"
    assert not session.review_comments.exists()
    assert "Send 2 comments" not in commented.pane("source=uncommitted")
    assert commented.post("send", idempotency="", delivery="steer") == 404


def test_a_comment_says_when_its_lines_have_changed(
    commented: Review, repository: Repository
) -> None:
    repository.write(**{"till.py": "all new\n"})
    html = commented.get("/file?source=uncommitted&file=till.py")
    assert html.count("These lines have changed since.") == 1
    assert "line ``` twenty" in html


def test_a_comment_is_changed_and_removed_by_who_wrote_it(
    commented: Review, session: Session, client_for: ClientFor, bob: User
) -> None:
    first, second = session.review_comments.order_by("pk")
    assert Review(client_for(bob), session).post(f"comment/{first.pk}/edit", body="Mine") == 404
    assert commented.post(f"comment/{first.pk}/edit", body="Better words") == 204
    assert commented.post(f"comment/{second.pk}/remove") == 204
    html = commented.get("/file?source=uncommitted&file=till.py")
    assert "Better words" in html
    assert "Keep it." not in html


@pytest.mark.parametrize(
    "wrong",
    [
        {"first": "41", "last": "42"},
        {"first": "30", "last": "20"},
        {"first": "x", "last": "1"},
        {"first": "20", "last": "21", "body": "  "},
        {"first": "20", "last": "21", "body": "x" * 10_001},
    ],
)
def test_a_comment_is_about_lines_that_are_shown(
    commented: Review, session: Session, wrong: dict[str, str]
) -> None:
    named = {"source": "uncommitted", "file": "till.py", "side": "new", "body": "Words"}
    assert commented.post("comment", **{**named, **wrong}) == 400
    assert session.review_comments.count() == 2


def test_a_viewer_writes_no_comments(
    client_for: ClientFor, vera: User, commented: Review, session: Session
) -> None:
    theirs = Review(client_for(vera), session)
    named = {"source": "uncommitted", "file": "till.py", "first": "20", "last": "20"}
    assert theirs.post("comment", **named, side="new", body="Words") == 403
    assert theirs.post("send") == 403
