from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from opencode_web.lib.loop import submit
from sessions.actions.shares import create_share
from sessions.models import Project, SavedRule, Session, Share
from sessions.runner import run_session
from sessions.shares.links import share_token
from teams.models import User
from tests.sessions.factories import prompt, script, session_access
from tests.sessions.views.reviewing import Repository, Review

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.any_database]
ClientFor = Callable[[User | None], Client]
READ = {"tool": "read", "input": {"filePath": "till.py"}}
GONE = "The file is not stored as it was at this change, so its other lines cannot be shown."


def edit(old: str, new: str) -> dict[str, Any]:
    given = {"filePath": "till.py", "oldString": old, "newString": new}
    return {"tool": "edit", "input": given}


def bash(command: str) -> dict[str, Any]:
    return {"tool": "bash", "input": {"command": command}}


def play(user: User, session: Session, *steps: list[dict[str, Any]]) -> None:
    prompt(user, session, script([READ], *steps, [{"text": "done"}]))
    submit(asyncio.wait_for(run_session(session.pk), 30)).result(60)


@pytest.fixture(autouse=True)
def allowed(project: Project, session: Session, repository: Repository) -> None:
    for permission in ("bash", "edit"):
        SavedRule.objects.create(
            project=project, permission=permission, pattern="*", created_at=session.created_at
        )


def card(review: Review, tool: str, number: int = 0) -> str:
    """The table of a card on the page."""
    page = review.get("", htmx=False)
    return page.split(f'data-tool="{tool}"')[number + 1].split("</table>")[0]


def links(html: str) -> dict[str, str]:
    found = re.findall(r'<a id="(\w+)-gap-[\w-]+-(\d+)"[^>]* hx-get="([^"]*)"', html)
    return {f"{what} {line}": unescape(url) for what, line, url in found}


def lines_at(review: Review, url: str) -> list[str]:
    answer = review.client.get(url, headers={"HX-Request": "true"})
    assert answer.status_code == 200, answer.content
    rows = answer.content.decode().split("<tr")[1:]
    return [" ".join(re.sub(r"<[^>]*>", " ", f"<tr{row}").split()) for row in rows]


def same(*numbers: int) -> list[str]:
    return [f"{n} {n} line {n - 1}" for n in numbers]


def test_a_card_shows_more_lines_around_its_change_as_they_were(
    review: Review, alice: User, session: Session
) -> None:
    play(alice, session, [edit("line 30\n", "thirty\n")], [bash("sed -i s/line/row/ till.py")])
    offered = links(card(review, "edit"))
    assert sorted(offered) == ["all 1", "all 36", "down 36", "up 1"]
    assert lines_at(review, offered["up 1"]) == ["6 unmodified lines", *same(*range(7, 27))]
    assert lines_at(review, offered["all 1"]) == same(*range(1, 27))
    assert lines_at(review, offered["all 36"]) == same(*range(36, 41))


def test_by_itself_the_link_is_a_page_with_all_of_the_file(
    review: Review, alice: User, session: Session
) -> None:
    play(alice, session, [edit("line 30\n", "thirty\n")])
    href = re.findall(r'class="more" href="([^"]*)" hx-get', card(review, "edit"))[0]
    page = review.client.get(unescape(href)).content.decode()
    assert "<h1>till.py</h1>" in page
    assert page.count("<tr data-line") == 41
    assert "unmodified" not in page


def test_each_edit_of_a_step_has_the_lines_of_its_own_moment(
    review: Review, alice: User, session: Session
) -> None:
    play(alice, session, [edit("line 3\n", "three\n"), edit("line 30\n", "line 30\nmore\n")])
    first, second = (links(card(review, "edit", number)) for number in (0, 1))
    assert lines_at(review, first["all 9"])[:-1] == same(*range(9, 29))
    assert "4 4 three" in lines_at(review, second["all 1"])
    assert lines_at(review, second["all 37"])[0] == "36 37 line 35"


def test_the_files_of_a_patch_have_each_their_own(
    review: Review, alice: User, session: Session, project: Project, repository: Repository
) -> None:
    # A scripted model that its provider knows as one that was trained on patches.
    models = {"inline": {"id": "gpt-5.1-codex"}}
    project.config = {"provider": {"demo": {"models": models}}}
    project.save()
    added, changed = "*** Add File: a.txt\n+a", "*** Update File: till.py"
    change = "@@\n line 19\n-line 20\n+twenty\n line 21"
    text = "\n".join(["*** Begin Patch", added, changed, change, "*** End Patch"])
    play(alice, session, [{"tool": "apply_patch", "input": {"patchText": text}}])
    offered = links(review.get("", htmx=False).split('data-tool="apply_patch"')[1])
    assert sorted(offered) == ["all 1", "all 26", "down 26"]
    assert "file=1&" in offered["all 1"]
    assert lines_at(review, offered["all 1"]) == same(*range(1, 17))


def test_lines_that_nobody_knows_any_more_are_said_to_be_gone(
    review: Review, alice: User, session: Session
) -> None:
    # A command has changed the same file in the same step: what was there when is not known.
    play(alice, session, [edit("line 30\n", "thirty\n"), bash("sed -i 1d till.py")])
    offered = links(card(review, "edit"))
    assert lines_at(review, offered["all 1"]) == [GONE]
    page = review.client.get(offered["all 1"].partition("&")[0]).content.decode()
    assert GONE in page
    assert "thirty" in page


def test_snapshots_that_are_not_kept_any_more_have_no_lines(
    review: Review, alice: User, session: Session, settings: Settings
) -> None:
    play(alice, session, [edit("line 30\n", "thirty\n")])
    offered = links(card(review, "edit"))
    Path(settings.DATA_DIR, "snapshots").rename(Path(settings.DATA_DIR, session.pk))
    assert lines_at(review, offered["all 1"]) == [GONE]


def test_while_the_step_is_open_its_file_may_still_change(
    review: Review, alice: User, session: Session, project: Project
) -> None:
    SavedRule.objects.filter(permission="bash").delete()
    play(alice, session, [edit("line 30\n", "thirty\n"), bash("rm -r build")])
    offered = links(card(review, "edit"))
    said = "More lines can be shown when this step has ended."
    assert lines_at(review, offered["all 1"]) == [said]


def test_what_is_no_change_of_a_file_has_no_lines(
    review: Review, alice: User, session: Session
) -> None:
    play(alice, session, [edit("line 30\n", "thirty\n")])
    url = links(card(review, "edit"))["all 1"]
    for wrong in (
        url.replace("file=0", "file=1"),
        url.replace("file=0", "file=x"),
        url.replace("count=26", "count=-1"),
        url.replace("/part/", "/part/x"),
    ):
        assert wrong != url
        assert review.client.get(wrong, headers={"HX-Request": "true"}).status_code == 404
    read = session.parts.get(data__tool="read")
    assert review.ask(f"/part/{read.pk}/lines?file=0").status_code == 404


def test_what_a_viewer_may_not_read_is_not_shown_around_a_change(
    client_for: ClientFor, vera: User, alice: User, session: Session, repository: Repository
) -> None:
    repository.write(**{".env": "".join(f"KEY_{n}=hidden\n" for n in range(40))})
    given = {"filePath": ".env", "oldString": "KEY_30=hidden", "newString": "KEY_30=x"}
    SavedRule.objects.create(
        project=session.project, permission="read", pattern="*", created_at=session.created_at
    )
    read = {"tool": "read", "input": {"filePath": ".env"}}
    play(alice, session, [read], [{"tool": "edit", "input": given}])
    seen = Review(client_for(vera), session)
    answer = seen.client.get(links(card(seen, "edit"))["all 1"], headers={"HX-Request": "true"})
    assert answer.status_code == 403
    assert b"KEY_1" not in answer.content


def test_a_shared_link_leads_to_no_further_lines(
    review: Review, alice: User, session: Session
) -> None:
    play(alice, session, [edit("line 30\n", "thirty\n")])
    share = create_share(session_access(alice, session), scope=Share.Scope.TEAM, details=True)
    html = review.client.get(f"/share/{share_token(share.pk)}").content.decode()
    assert "thirty" in html
    assert "26 unmodified lines" in html
    assert "/lines?" not in html
