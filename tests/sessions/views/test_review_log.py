from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from django.test import Client
from pytest_django import Settings

from opencode_web.lib.loop import submit
from sessions.models import Project, SavedRule, Session
from sessions.present.changes.file_diff import file_id
from sessions.runner import run_session
from teams.models import User
from tests.sessions.factories import prompt, script
from tests.sessions.views.reviewing import PNG, Repository, Review, fields_of, letters, paths

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.any_database]
ClientFor = Callable[[User | None], Client]
SED = "sed -i '{}' till.py"


class Agent:
    def __init__(self, user: User, session: Session) -> None:
        self.user, self.session = user, session

    def run(self, command: str) -> str:
        call = {"tool": "bash", "input": {"command": command}}
        row = prompt(self.user, self.session, script([call], [{"text": "done"}]))
        submit(asyncio.wait_for(run_session(self.session.pk), 30)).result(60)
        self.session.refresh_from_db()
        return row.pk


@pytest.fixture
def agent(alice: User, session: Session, project: Project, repository: Repository) -> Agent:
    SavedRule.objects.create(
        project=project, permission="bash", pattern="*", created_at=session.created_at
    )
    return Agent(alice, session)


def links(html: str) -> dict[str, str]:
    found = re.findall(r'<a id="(\w+)-gap-\w+-(\d+)"[^>]* hx-get="([^"]*)"', html)
    return {f"{what} {line}": url.replace("&amp;", "&") for what, line, url in found}


def rows(html: str) -> list[str]:
    texts = [re.sub(r"<[^>]*>", " ", row).split() for row in html.split("<tr")[1:]]
    return [" ".join(words).partition(">")[2].strip() or " ".join(words) for words in texts]


def lines_of(review: Review, url: str) -> list[str]:
    part = review.client.get(url, headers={"HX-Request": "true"})
    assert part.status_code == 200, part.content
    found = re.findall(
        r"<tr data-line.*?</tr>|<tr class=\"diff-skip.*?</tr>", part.content.decode()
    )
    return [" ".join(re.sub(r"<[^>]*>", " ", row).split()) for row in found]


def test_several_turns_make_one_diff_of_a_file(review: Review, agent: Agent) -> None:
    agent.run(SED.format("5s/.*/first/"))
    agent.run(SED.format("5s/.*/second/; 30s/.*/third/"))
    pane = review.pane("source=session")
    assert paths(pane) == ["till.py"]
    assert '<span class="added">+2</span> <span class="removed">-2</span>' in pane
    assert review.diff("source=session&file=till.py") == [
        "1 unmodified line",
        *(f"{n} {n} line {n - 1}" for n in (2, 3, 4)),
        "5 - line 4",
        "5 + second",
        *(f"{n} {n} line {n - 1}" for n in (6, 7, 8)),
        "18 unmodified lines",
        *(f"{n} {n} line {n - 1}" for n in (27, 28, 29)),
        "30 - line 29",
        "30 + third",
        *(f"{n} {n} line {n - 1}" for n in (31, 32, 33)),
        "More lines below",
    ]


def test_it_says_how_long_ago_the_last_turn_with_changes_was(review: Review, agent: Agent) -> None:
    agent.run("echo one > one.txt")
    assert "turn ago" not in review.pane("source=turn")
    agent.run("true")
    assert "From 1 turn ago. No newer turn has changed files." in review.pane("source=turn")
    agent.run("true")
    assert "From 2 turns ago. No newer turn has changed files." in review.pane("source=turn")
    assert "turns ago" not in review.pane("source=session")


def test_what_was_changed_and_changed_back_has_no_lines(review: Review, agent: Agent) -> None:
    agent.run(SED.format("5s/.*/first/"))
    agent.run(SED.format("5s/.*/line 4/"))
    assert "No lines changed." in review.get("/file?source=session&file=till.py")


def test_edits_follow_each_other_once_snapshots_are_gone(
    review: Review, agent: Agent, settings: Settings
) -> None:
    agent.run(SED.format("5s/.*/first/"))
    agent.run(SED.format("5s/.*/second/"))
    Path(settings.DATA_DIR, "snapshots").rename(Path(settings.DATA_DIR, "away"))
    shown = review.diff("source=session&file=till.py")
    assert [row for row in shown if " + " in row] == ["5 + first", "5 + second"]
    assert "+2" in review.pane("source=session")


@pytest.mark.parametrize("source", ["source=turn", "source=uncommitted"])
def test_lines_that_are_left_out_come_from_either_end(
    review: Review, agent: Agent, source: str
) -> None:
    agent.run(SED.format("35s/.*/changed/"))
    found = links(review.get(f"/file?{source}&file=till.py"))
    assert sorted(found) == ["all 1", "all 39", "down 39", "up 1"]
    up = lines_of(review, found["up 1"])
    assert up[:2] == ["11 unmodified lines", "12 12 line 11"]
    assert up[-1] == "31 31 line 30"
    assert lines_of(review, found["all 1"]) == [f"{n} {n} line {n - 1}" for n in range(1, 32)]
    assert lines_of(review, found["all 39"]) == ["39 39 line 38", "40 40 line 39"]


def test_lines_come_from_above_and_below_a_gap_until_none_is_left(
    review: Review, agent: Agent
) -> None:
    agent.run("seq 200 >till.py")
    agent.run("sed -i '5s/.*/a/; 100s/.*/b/' till.py")
    found = links(review.get("/file?source=turn&file=till.py"))
    assert sorted(found) == ["all 1", "all 104", "all 9", "down 104", "down 9", "up 9"]
    url = found["down 9"]
    html = review.client.get(url, headers={"HX-Request": "true"}).content.decode()
    assert lines_of(review, url)[-1] == "68 unmodified lines"
    both = links(html)["up 9"]
    opened = lines_of(review, both)
    assert (opened[0], opened[20], opened[-1]) == ("9 9 9", "48 unmodified lines", "96 96 96")
    rest = links(review.client.get(both, headers={"HX-Request": "true"}).content.decode())
    assert lines_of(review, rest["all 9"]) == [f"{n} {n} {n}" for n in range(9, 97)]


def test_lines_of_another_file_than_was_shown_do_not_come(
    review: Review, agent: Agent, repository: Repository
) -> None:
    repository.write(**{"till.py": "".join(f"line {n}\n" for n in range(39)) + "x\n"})
    url = links(review.get("/file?source=uncommitted&file=till.py"))["all 1"]
    assert lines_of(review, url)
    repository.write(**{"till.py": "y\n" + "".join(f"line {n}\n" for n in range(39)) + "x\n"})
    assert review.client.get(url, headers={"HX-Request": "true"}).status_code == 409
    assert review.client.get(url.replace("count=36", "count=x")).status_code == 404
    page = review.client.get(url)
    assert "context=1000" in page["Location"]


def test_pictures_of_a_turn_are_those_of_the_turn(
    review: Review, agent: Agent, repository: Repository
) -> None:
    agent.run("printf more >>logo.png; head -c 9 /dev/zero >data.bin")
    repository.folder.joinpath("logo.png").write_bytes(b"something else")
    html = review.get("/file?source=turn&file=logo.png")
    before, after = dict.fromkeys(re.findall(r'<img src="([^"]*)"', html))
    kept = [review.client.get(url.replace("&amp;", "&")) for url in (before, after)]
    assert [answer.content for answer in kept] == [PNG, PNG + b"more"]
    assert all("sandbox" in answer["Content-Security-Policy"] for answer in kept)
    assert "Binary file, not shown." in review.get("/file?source=turn&file=data.bin")
    assert review.ask("/review/picture?source=turn&file=till.py").status_code == 404


def test_a_diff_that_the_log_has_no_room_for_comes_from_the_snapshots(
    review: Review, agent: Agent
) -> None:
    agent.run("yes 'a long line of some text, again and again' | head -n 6000 >till.py")
    assert "Large diff, 6,040 lines." in review.get("/file?source=turn&file=till.py")
    assert len(review.diff("source=turn&file=till.py&all=1")) == 6_040


def test_a_comment_can_be_about_lines_that_were_opened(review: Review, agent: Agent) -> None:
    agent.run(SED.format("35s/.*/changed/"))
    named = {"source": "turn", "file": "till.py", "side": "new", "body": "Words"}
    assert review.post("comment", **named, first="2", last="2") == 204
    for html in (review.pane("source=turn"), review.get("/file?source=turn&file=till.py")):
        assert "These lines have changed" not in html
        assert "Words" in html


def counts(review: Review, session: Session) -> tuple[list[str], set[str], str]:
    """The rows of the session's changes, and what the tab and the list of sessions count."""
    pane = review.pane("source=session")
    home = review.client.get("/t/acme/").content.decode()
    tab = set(re.findall(r"data-changes-count>(\d*)<", review.get("?panel=changes", htmx=False)))
    listed = re.search(r"(\d files? \+\d+ -\d+)", home)
    assert session.summary["files"] == len(paths(pane))
    return paths(pane), tab, listed[1] if listed else ""


def test_a_renamed_file_is_one_file_everywhere(review: Review, agent: Agent) -> None:
    turn = agent.run("mv till.py cash.py; sed -i '5s/.*/first/' cash.py; mv logo.png sign.png")
    assert counts(review, agent.session) == (["cash.py", "sign.png"], {"2"}, "2 files +1 -1")
    for source in ("source=turn", "source=session", f"turn={turn}"):
        pane = review.pane(source)
        assert paths(pane) == ["cash.py", "sign.png"]
        assert re.findall(r'data-status="(\w+)"', pane) == ["renamed"] * 4
        assert 'title="till.py → cash.py"' in pane
        rows = review.diff(f"{source}&file=cash.py")
        assert [row for row in rows if " + " in row or " - " in row] == ["5 - line 4", "5 + first"]
        assert rows[0] == "1 unmodified line"
        assert "Only the name has changed." in review.get(f"/file?{source}&file=sign.png")
    assert "<span>till.py → cash.py</span>" in review.get("", htmx=False)
    assert paths(review.pane("filter=till")) == ["cash.py"]
    up = lines_of(review, links(review.get("/file?source=turn&file=cash.py"))["all 1"])
    assert up == ["1 1 line 0"]
    # The protocol of OpenCode's clients knows of no renames.
    for query in ("", f"?messageID={turn}"):
        wire = review.client.get(f"/session/{agent.session.pk}/diff{query}").json()
        assert [(one["file"], one["status"]) for one in wire] == [
            ("cash.py", "added"),
            ("logo.png", "deleted"),
            ("sign.png", "added"),
            ("till.py", "deleted"),
        ]
        assert {*wire[0]} == {"file", "status", "additions", "deletions", "patch"}


def test_a_file_is_followed_through_turns_that_rename_it(
    review: Review, agent: Agent, settings: Settings
) -> None:
    agent.run(SED.format("5s/.*/first/"))
    agent.run("mv till.py cash.py")
    assert counts(review, agent.session) == (["cash.py"], {"1"}, "1 file +1 -1")
    # An edit of before links to its old name.
    assert f'id="file-{file_id("till.py")}"' in review.pane("source=session")
    agent.run("mv cash.py desk.py; sed -i '30s/.*/third/' desk.py")
    pane = review.pane("source=session")
    assert paths(pane) == ["desk.py"]
    assert "till.py →" in pane
    assert '<span class="added">+2</span> <span class="removed">-2</span>' in pane
    rows = review.diff("source=session&file=desk.py")
    assert [row for row in rows if " + " in row] == ["5 + first", "30 + third"]
    assert "cash.py →" in review.pane("source=turn")
    Path(settings.DATA_DIR, "snapshots").rename(Path(settings.DATA_DIR, "snapshots-gone"))
    rows = review.diff("source=session&file=desk.py")
    assert [row for row in rows if " + " in row] == ["5 + first", "30 + third"]


def test_a_renamed_file_can_end_as_any_other(review: Review, agent: Agent) -> None:
    agent.run("mv till.py cash.py; echo new >one.txt")
    agent.run("mv cash.py till.py; mv one.txt two.txt")
    pane = review.pane("source=session")
    assert (paths(pane), letters(pane)) == (["till.py", "two.txt"], "MA")
    assert "→" not in pane
    assert "No lines changed." in review.get("/file?source=session&file=till.py")
    assert review.diff("source=session&file=two.txt") == ["1 + new"]
    agent.run("mv gone.txt left.txt")
    agent.run("rm left.txt; echo other >'old name.txt'")
    pane = review.pane("source=session")
    assert (paths(pane), letters(pane)) == (
        ["gone.txt", "old name.txt", "till.py", "two.txt"],
        "DMMA",
    )
    # A file in the place of another one that was deleted is no renamed one.
    agent.run("rm 'old name.txt'")
    agent.run("mv till.py 'old name.txt'")
    assert counts(review, agent.session)[0] == ["gone.txt", "old name.txt", "till.py", "two.txt"]


def test_a_renamed_file_goes_back_and_comes_back_under_both_names(
    review: Review, agent: Agent, repository: Repository
) -> None:
    root = repository.folder
    agent.run(SED.format("5s/.*/first/"))
    agent.run("mv till.py cash.py; sed -i '30s/.*/third/' cash.py")
    changed = (root / "cash.py").read_text()

    def act(path: str, fields: dict[str, str]) -> int:
        url, headers = f"{review.url}/file/{path}", {"HX-Request": "true"}
        status = review.client.post(url, fields, headers=headers).status_code
        submit(asyncio.wait_for(run_session(agent.session.pk), 30)).result(60)
        return status

    for source, text in (
        ("source=turn", "this turn."),
        ("source=session", "this session changed it."),
    ):
        pane = review.pane(source)
        assert f"cash.py is removed, and till.py is restored to its state before {text}" in pane
        fields = fields_of(pane, f"{review.url}/file/revert", "cash.py")
        assert act("revert", {**fields, "old": "gone.txt"}) == 404
        assert act("revert", {**fields, "file": "gone.txt"}) == 404
        assert act("revert", fields) == 200
        assert not (root / "cash.py").exists()
        lines = (root / "till.py").read_text().splitlines()
        assert lines[29] == "line 29"
        assert lines[4] == ("first" if source == "source=turn" else "line 4")
        assert "reverted</span>" in review.pane("source=session")
        assert act("undo", {"file": "cash.py"}) == 204
        assert (root / "cash.py").read_text() == changed
        assert not (root / "till.py").exists()


def test_a_renamed_file_stays_viewed(review: Review, agent: Agent) -> None:
    agent.run("mv till.py cash.py; sed -i '5s/.*/first/' cash.py")
    fields = fields_of(review.pane("source=turn"), f"{review.url}/review/viewed", "cash.py")
    assert review.post("viewed", **fields) == 204
    for source in ("source=turn", "source=session"):
        assert "checked data-submit data-viewed" in review.pane(source)
