from __future__ import annotations

import re
import subprocess
from collections.abc import Callable

import pytest
from django.test import Client

from sessions.models import Project, Session
from sessions.present.changes.review import PAGE_FILES
from teams.models import User
from tests.sessions.story import tell_whole_turn
from tests.sessions.views.reviewing import PNG, Repository, Review, letters, paths

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.any_database]
ClientFor = Callable[[User | None], Client]


def test_what_is_uncommitted_is_listed_with_a_letter_and_shown_file_by_file(
    review: Review, repository: Repository
) -> None:
    lines = [f"line {n}\n" for n in range(40)]
    lines[20] = "line twenty\n"
    repository.write(**{"till.py": "".join(lines), "<b>.txt": "<script>\n"})
    (repository.folder / "gone.txt").unlink()
    (repository.folder / "old name.txt").rename(repository.folder / "renamed.txt")
    repository.git("add", "-N", "renamed.txt")
    html = review.pane("source=uncommitted")
    assert paths(html) == ["&lt;b&gt;.txt", "gone.txt", "renamed.txt", "till.py"]
    assert letters(html) == "ADRM"
    assert "old name.txt → " in html
    assert review.diff("source=uncommitted&file=till.py") == [
        "17 unmodified lines",
        *("18 18 line 17", "19 19 line 18", "20 20 line 19"),
        "21 - line 20",
        "21 + line twenty",
        *("22 22 line 21", "23 23 line 22", "24 24 line 23"),
        "More lines below",
    ]
    assert review.diff("source=uncommitted&file=%3Cb%3E.txt") == ["1 + &lt;script&gt;"]
    moved = review.get("/file?source=uncommitted&file=renamed.txt&old=old+name.txt")
    assert "Only the name has changed." in moved


def test_a_branch_is_compared_with_where_it_began(review: Review, repository: Repository) -> None:
    assert "This is the main branch." in review.pane("source=branch")
    repository.git("switch", "-qc", "topic")
    assert "This branch has no changes yet." in review.pane("source=branch")
    repository.write(**{"a.txt": "a\n"})
    repository.commit()
    repository.write(**{"b.txt": "b\n"})
    assert paths(review.pane("source=branch")) == ["a.txt", "b.txt"]
    assert paths(review.pane("source=uncommitted")) == ["b.txt"]


def test_the_address_keeps_the_source_also_without_scripts(
    review: Review, repository: Repository
) -> None:
    repository.write(**{"b.txt": "b\n"})
    html = review.get("?panel=changes&source=uncommitted", htmx=False)
    assert paths(html) == ["b.txt"]
    assert '<option value="uncommitted" selected>' in html
    assert 'data-address="' in html
    assert "panel=changes&amp;source=uncommitted" in html
    assert "<h1>b.txt</h1>" in review.get("/file?source=uncommitted&file=b.txt", htmx=False)


def test_the_pane_says_why_nothing_is_there(
    review: Review, repository: Repository, project: Project
) -> None:
    assert "No uncommitted changes" in review.pane("source=uncommitted")
    assert "No files changed in this session yet." in review.pane("source=turn")
    subprocess.run(["rm", "-r", f"{project.directory}/.git"], check=True)
    assert "This folder is not a Git repository" in review.pane("source=branch")
    repository.folder.rename(repository.folder.with_name("away"))
    gone = review.pane("source=uncommitted")
    assert 'role="alert">The files of this session no longer exist.' in gone
    assert "Try again" in gone


def test_a_repository_cannot_have_the_review_run_a_program(
    review: Review, repository: Repository
) -> None:
    trap = repository.folder / "trap.sh"
    trap.write_text("#!/bin/sh\ntouch /tmp/trapped trapped\n")
    trap.chmod(0o755)
    for key in ("diff.external", "diff.x.textconv", "core.fsmonitor", "filter.x.clean"):
        repository.git("config", key, str(trap))
    repository.write(**{".gitattributes": "* diff=x filter=x\n", "till.py": "changed\n"})
    assert "till.py" in paths(review.pane("source=uncommitted"))
    assert "1 + changed" in review.diff("source=uncommitted&file=till.py")
    assert not (repository.folder / "trapped").exists()


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", ".git/config", "none.txt", ""])
def test_only_files_that_have_changed_are_shown(
    review: Review, repository: Repository, name: str
) -> None:
    answer = review.ask(f"/file?source=uncommitted&file={name}")
    assert answer.status_code in (403, 404)
    assert review.ask(f"/review/picture?source=uncommitted&file={name}").status_code in (403, 404)


def test_a_name_is_a_name_and_no_pattern(review: Review, repository: Repository) -> None:
    repository.write(**{"*": "a\n", "secret.txt": "a\n"})
    repository.commit()
    repository.write(**{"*": "b\n", "secret.txt": "hidden\n"})
    assert review.diff("source=uncommitted&file=*") == ["1 - a", "1 + b"]


def test_a_viewer_does_not_see_what_agents_have_to_ask_for(
    client_for: ClientFor, vera: User, session: Session, repository: Repository
) -> None:
    repository.write(**{".env": "KEY=hidden-value\n"})
    theirs = Review(client_for(vera), session)
    assert paths(theirs.pane("source=uncommitted")) == [".env"]
    assert theirs.ask("/file?source=uncommitted&file=.env").status_code == 403


def test_withheld_files_have_no_other_names(
    client_for: ClientFor, vera: User, session: Session, repository: Repository
) -> None:
    for folder in ("config", "place"):
        (repository.folder / folder).mkdir()
    repository.write(
        **{"config/.env": "KEY=withheld-old\n", "place/.env": "KEY=withheld-old\n", "cfg": "a\n"}
    )
    (repository.folder / ".env.png").write_bytes(PNG)
    repository.git("add", "-Af")
    repository.commit()
    (repository.folder / "cfg").unlink()
    (repository.folder / "cfg").mkdir()
    (repository.folder / "place/.env").unlink()
    (repository.folder / "place").rmdir()
    repository.write(
        **{"config/.env": "KEY=withheld-new\n", "cfg/.env": "KEY=withheld-new\n", "place": "a\n"}
    )
    repository.write(**{"till.py": "changed\n"})
    repository.git("add", "-Nf", "cfg/.env", "place")
    theirs = Review(client_for(vera), session)
    asked = [f"file=till.py&old={name}" for name in (".", "config", "./config/.env", "config/")]
    asked += [
        f"file={name}" for name in ("./config/.env", "config//.env", "config", "cfg", "place")
    ]
    asked += ["file=cfg&old=cfg/.env", "file=cfg/.env&old=cfg", "file=place&old=cfg"]
    for names in asked:
        shown = theirs.ask(f"/file?source=uncommitted&{names}")
        assert shown.status_code in (200, 403, 404), names
        assert b"withheld-" not in shown.content, names
    for name in ("./.env.png", "x/../.env.png", ".env.png"):
        picture = theirs.ask(f"/review/picture?source=uncommitted&file={name}")
        assert picture.status_code in (403, 404), name
    assert theirs.diff("source=uncommitted&file=cfg") == ["1 - a"]
    assert theirs.diff("source=uncommitted&file=place") == ["1 + a"]


def test_a_file_is_shown_alone_whatever_it_is_said_to_have_been(
    review: Review, repository: Repository
) -> None:
    repository.write(**{"till.py": "b\n", "old name.txt": "changed\n"})
    alone = review.diff("source=uncommitted&file=till.py")
    assert review.diff("source=uncommitted&file=till.py&old=old+name.txt") == alone


def test_pictures_are_shown_before_and_after(review: Review, repository: Repository) -> None:
    (repository.folder / "logo.png").write_bytes(PNG + b"more")
    html = review.get("/file?source=uncommitted&file=logo.png")
    assert "logo.png as it was" in html
    was = review.ask("/review/picture?source=uncommitted&file=logo.png")
    assert was.content == PNG
    assert was["Content-Type"] == "image/png"
    assert "sandbox" in was["Content-Security-Policy"]
    repository.write(**{"old name.txt": "\0"})
    binary = review.get("/file?source=uncommitted&file=old+name.txt")
    assert "Binary file, not shown." in binary
    assert review.ask("/review/picture?source=uncommitted&file=till.py").status_code == 404


def test_a_renamed_picture_is_shown_under_either_name(
    review: Review, repository: Repository
) -> None:
    before, after = PNG + b"line\n" * 50, PNG + b"line\n" * 51
    (repository.folder / "logo.png").write_bytes(before)
    repository.commit()
    (repository.folder / "logo.png").unlink()
    (repository.folder / "sign.png").write_bytes(after)
    repository.commit()
    html = review.get("/file?source=commit&file=sign.png&old=logo.png")
    urls = dict.fromkeys(re.findall(r'<img src="([^"]*)"', html))
    kept = [review.client.get(url.replace("&amp;", "&")).content for url in urls]
    assert kept == [before, after]


def test_a_large_diff_comes_when_it_is_asked_for(review: Review, repository: Repository) -> None:
    repository.write(**{"till.py": "new\n" * 1_600})
    html = review.get("/file?source=uncommitted&file=till.py")
    assert "Large diff, 1,640 lines. Show anyway" in html
    assert len(review.diff("source=uncommitted&file=till.py&all=1")) == 1_640


def test_more_lines_around_a_change_come_when_they_are_asked_for(
    review: Review, repository: Repository
) -> None:
    lines = [f"line {n}\n" for n in range(40)]
    lines[35] = "changed\n"
    repository.write(**{"till.py": "".join(lines)})
    url = "source=uncommitted&file=till.py"
    assert "context=25" in review.get(f"/file?{url}")
    wide = review.diff(f"{url}&context=25")
    assert wide[:2] == ["10 unmodified lines", "11 11 line 10"]
    whole = review.get(f"/file?{url}&context=1000")
    assert "unmodified" not in whole
    assert "Show more lines" not in whole
    # A comment can be about any line that can be shown.
    named = {"source": "uncommitted", "file": "till.py", "side": "new", "body": "Words"}
    assert review.post("comment", **named, first="2", last="2") == 204
    for context in ("", "&context=1000"):
        html = review.get(f"/file?{url}{context}")
        assert 'class="comment"' in html
        assert "These lines have changed" not in html


def test_a_person_sees_both_sides_beside_each_other_wherever_there_is_room(
    review: Review, repository: Repository, alice: User
) -> None:
    repository.write(**{"till.py": "  line 0\nline one\n"})
    sent = {"split": "1", "spaces": "0", "source": "uncommitted"}
    html = review.client.post(f"{review.url}/review/look", sent, headers={"HX-Request": "true"})
    assert 'value="uncommitted" selected' in html.content.decode()
    alice.refresh_from_db()
    assert alice.preferences["review"] == {
        "split": True,
        "spaces": False,
        "wrap": True,
        "tree": True,
    }
    rows = review.diff("source=uncommitted&file=till.py")
    assert rows[:2] == ["1 line 0 1 line 0", "2 - line 1 2 + line one"]
    narrow = review.diff("source=uncommitted&file=till.py&narrow=1")
    assert narrow[:2] == ["1 1 line 0", "2 - line 1"]


def test_many_files_are_a_tree_of_closed_folders_and_pages(
    review: Review, repository: Repository
) -> None:
    for number in range(300):
        folder = repository.folder / f"src/deep/{number % 3}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{number:03}.txt").write_text("x\n")
    html = review.pane("source=uncommitted")
    assert len(paths(html)) == PAGE_FILES
    assert "Files 1 to 50 of 300" in html
    assert 'title="src/deep/">src/deep<' in html
    rows = review.get("/review/folder?source=uncommitted&folder=src/deep/")
    assert [name for name in "012" if f'title="src/deep/{name}/">{name}<' in rows] == [*"012"]
    last = review.pane("source=uncommitted&file=src/deep/2/299.txt")
    assert paths(last)[-1] == "src/deep/2/299.txt"
    assert "Files 251 to 300 of 300" in last
    assert paths(review.pane("source=uncommitted&filter=2/29")) == [
        f"src/deep/2/{number}.txt" for number in (290, 293, 296, 299)
    ]
    assert "No changed file matches “nothing”" in review.pane("source=uncommitted&filter=nothing")


def test_changes_of_one_turn_have_an_address(review: Review, alice: User, session: Session) -> None:
    tell_whole_turn(session, alice)
    prompt = session.messages.filter(role="user").get()
    html = review.pane(f"turn={prompt.pk}")
    assert '<option value="" selected>One turn</option>' in html
    assert len(paths(html)) == len(paths(review.pane("source=turn"))) > 0
    assert paths(review.pane("turn=msg_none")) == []
    # The form of a turn sends it beside the source that is chosen there.
    chosen = review.pane("turn=msg_none&source=turn")
    assert "One turn" not in chosen
    assert paths(chosen) == paths(html)


def test_a_session_without_the_panel_draws_no_diff(
    review: Review, alice: User, session: Session
) -> None:
    tell_whole_turn(session, alice)
    closed = review.get("", htmx=False)
    assert 'id="changes"' not in closed
    assert 'data-panel-view="changes" data-src=' in closed
    assert 'id="changes-mark"' in closed


def test_another_team_learns_nothing(
    client_for: ClientFor, charlie: User, session: Session, repository: Repository
) -> None:
    theirs = Review(client_for(charlie), session)
    for path in ("?panel=changes&source=branch", "/file?source=branch&file=a", "/review/folder"):
        assert theirs.ask(path).status_code == 404


def test_what_lines_do_not_say_is_said(review: Review, repository: Repository) -> None:
    (repository.folder / "till.py").chmod(0o755)
    (repository.folder / "link").symlink_to("till.py")
    repository.write(**{"empty.txt": "", "large.txt": "x\n" * 300_000})
    (repository.folder / "data.bin").write_bytes(b"\0\1")
    (repository.folder / "old name.txt").rename(repository.folder / "renamed.txt")
    repository.git("add", "-N", "renamed.txt")
    said = {
        "till.py": "The file is now executable.",
        "empty.txt": "The file is empty.",
        "large.txt": "The file is too large to show.",
        "data.bin": "Binary file, not shown.",
        "renamed.txt&old=old+name.txt": "Only the name has changed.",
    }
    for file, text in said.items():
        html = review.get(f"/file?source=uncommitted&file={file}")
        assert text in html, file
        assert "No lines changed." not in html
    html = review.get("/file?source=uncommitted&file=link")
    assert "This is a symbolic link. The line shows its target." in html
    assert review.diff("source=uncommitted&file=link") == ["1 + till.py no newline at end of file"]
    repository.commit()
    (repository.folder / "link").unlink()
    repository.write(link="a file now\n")
    rows = review.diff("source=uncommitted&file=link")
    assert rows[0] == "1 - till.py no newline at end of file"
    assert rows[-1] == "1 + a file now"


def test_ends_of_lines_are_seen_where_they_differ(review: Review, repository: Repository) -> None:
    (repository.folder / "dos.txt").write_bytes(b"a\r\nb\r\nc\r\n")
    repository.write(**{"bare.txt": "a\nb"})
    repository.commit()
    (repository.folder / "dos.txt").write_bytes(b"a\r\nb\nc\r\n")
    repository.write(**{"bare.txt": "a\nb\n"})
    assert review.diff("source=uncommitted&file=dos.txt") == [
        *("1 1 a CR", "2 - b CR", "2 + b", "3 3 c CR"),
    ]
    assert review.diff("source=uncommitted&file=bare.txt") == [
        *("1 1 a", "2 - b no newline at end of file", "2 + b"),
    ]
