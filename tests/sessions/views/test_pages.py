from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from opencode_web.lib.ids import new_id
from sessions.events.parts import PartTime, ToolFailed
from sessions.models import Project, Session
from teams.models import Team, User
from tests.sessions.factories import make_session, prompt
from tests.sessions.story import T0, Story, tell_whole_turn

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]


@pytest.fixture
def page(client_for: ClientFor, alice: User, session: Session) -> Callable[..., str]:
    client = client_for(alice)

    def get(path: str = "", **headers: str) -> str:
        response = client.get(f"/t/acme/s/{session.pk}{path}", headers=headers)
        assert response.status_code == 200
        return str(response.content.decode())

    return get


def count_queries(client: Client, url: str) -> int:
    client.get(url)
    with CaptureQueriesContext(
        connection,
    ) as queries:
        assert client.get(url).status_code == 200
    return len(queries)


def test_a_session_page_costs_the_same_however_long_the_history_is(
    client_for: ClientFor, alice: User, session: Session
) -> None:
    client = client_for(alice)
    url = f"/t/acme/s/{session.pk}"
    tell_whole_turn(session, alice)
    short = count_queries(client, url)
    for _ in range(6):
        tell_whole_turn(session, alice)
    assert count_queries(client, url) == short
    assert short <= 33


def test_the_home_page_costs_the_same_however_many_sessions_there_are(
    client_for: ClientFor, alice: User, project: Project
) -> None:
    client = client_for(alice)
    Story(make_session(alice, project), alice).ask("one")
    short = count_queries(client, "/t/acme/")
    for number in range(5):
        Story(make_session(alice, project), alice).ask(f"more {number}")
    assert count_queries(client, "/t/acme/") == short
    assert short <= 25


def test_the_top_of_a_session_names_its_project_and_the_branch_it_works_on(
    session: Session, page: Callable[..., str]
) -> None:
    head = Path(session.project.directory, ".git", "HEAD")
    head.parent.mkdir(parents=True, exist_ok=True)
    head.write_text("ref: refs/heads/fix/1\n")
    crumbs = page().split('class="crumbs"')[1].split("</nav>")[0]
    assert f'href="/t/acme/p/{session.project_id}/"' in crumbs
    assert "</svg>fix/1</span>" in crumbs


def test_a_failed_call_marks_the_line_that_it_is_folded_into(
    alice: User, session: Session, page: Callable[..., str]
) -> None:
    told = Story(session, alice)
    told.ask("look")
    told.answer()
    told.done("read", {"filePath": "a.py"})
    part = told.running("read", {"filePath": "b.py"})
    failed = ToolFailed(
        input={"filePath": "b.py"}, error="It is not there.", time=PartTime(start=T0, end=T0)
    )
    told.call("read", failed, id=part)
    line = page().split('class="explored"')[1].split("</summary>")[0]
    assert "state-fail" in line
    assert "1 failed" in line


def test_a_page_shows_the_whole_turn_without_a_script(
    alice: User, session: Session, page: Callable[..., str]
) -> None:
    tell_whole_turn(session, alice, "please <b>add</b> a discount")
    html = page()
    assert "please &lt;b&gt;add&lt;/b&gt; a discount" in html
    assert "<strong>add</strong>" in html
    assert "1 read, 1 search" in html
    assert '<span class="added">+1</span>' in html
    assert "2 passed" in html
    assert "$0.14" in html
    assert "27 s" in html
    assert f'data-q="{Session.objects.get(pk=session.pk).seq}"' in html


def test_older_turns_come_by_a_link_and_by_htmx(
    alice: User, session: Session, page: Callable[..., str]
) -> None:
    for number in range(33):
        Story(session, alice).ask(f"prompt number {number}.")
    html = page()
    assert "prompt number 3." in html
    assert "prompt number 2." not in html
    link = html.split('id="earlier"')[1].split('href="')[1].split('"')[0]
    query = link.partition("?")[2]
    older = page(f"/turns?{query}", **{"HX-Request": "true"})
    assert "<html" not in older
    assert [f"prompt number {n}." in older for n in (0, 2, 3)] == [True, True, False]
    whole = page(f"/turns?{query}")
    assert "<html" in whole
    assert "prompt number 0." in whole


def test_later_turns_come_by_a_link_and_by_htmx(
    alice: User, session: Session, page: Callable[..., str]
) -> None:
    for number in range(72):
        Story(session, alice).ask(f"prompt number {number}.")

    def link(html: str, name: str) -> str:
        found = re.search(rf'id="{name}"[^>]* href="[^"?]*([^"]+)"', html)
        return found[1] if found else ""

    def numbers(html: str) -> list[int]:
        # The newest stands in the rail, too.
        log = html.partition('<div id="log"')[2] or html
        return [int(number) for number in re.findall(r"prompt number (\d+)\.</", log)]

    assert not link(page(), "later")
    middle = page(f"/turns{link(page(), 'earlier')}")
    start = link(middle, "later")
    first = page(f"/turns{link(middle, 'earlier')}")
    assert numbers(first) == list(range(12))
    later = page(f"/turns{link(first, 'later')}", **{"HX-Request": "true"})
    assert numbers(later) == list(range(12, 42))
    assert 'id="earlier"' not in later
    assert link(later, "later") == start
    last = page(f"/turns{start}", **{"HX-Request": "true"})
    assert numbers(last) == list(range(42, 72))
    assert not link(last, "later")
    # Without a script it is a page of its own, with the way to both sides.
    whole = page(f"/turns{link(first, 'later')}")
    assert numbers(whole) == list(range(12, 42))
    assert link(whole, "later") == start
    assert numbers(page(f"/turns{link(whole, 'earlier')}")) == list(range(12))


def test_a_waiting_permission_is_asked_on_the_page_and_shown_at_its_call(
    alice: User, session: Session, page: Callable[..., str]
) -> None:
    story = Story(session, alice)
    story.ask("hi")
    story.answer()
    request = story.waits("rm -r build")
    html = page()
    assert f'id="perm-{request}"' in html
    assert "Allow a shell command?" in html
    assert '<span class="mono">rm *</span>' in html
    assert html.count('data-needs="member">Waiting for you<') >= 2
    # Its row says that it waits, and neither what for nor that it runs.
    row = html.split('data-tool="bash"')[1].split("</summary>")[0]
    assert "state-ask" in row
    assert "rm -r build" not in row
    assert "data-clock" not in row
    assert html.count('data-only="viewer">Waiting for a member<') >= 2
    assert f"/t/acme/s/{session.pk}/permission/{request}" in html


def test_waiting_prompts_can_be_removed_in_place(
    alice: User, session: Session, page: Callable[..., str], client_for: ClientFor
) -> None:
    row = prompt(alice, session, "do this later", delivery="queue")
    assert "do this later" in page()
    url = f"/t/acme/s/{session.pk}/queue/{row.pk}/remove"
    response = client_for(alice).post(url, headers={"HX-Request": "true"})
    assert response.status_code == 200
    assert "do this later" not in response.content.decode()
    assert "do this later" not in page()


@pytest.mark.parametrize("scope", ["", "&source=session"])
def test_the_changes_panel_shows_the_diffs(
    alice: User, session: Session, page: Callable[..., str], scope: str
) -> None:
    tell_whole_turn(session, alice)
    html = page(f"?panel=changes{scope}")
    assert 'data-panel="open"' in html
    assert "return s * 2" in html.split('id="changes"')[1].replace("</span>", "").replace(
        '<span class="mi">', ""
    ).replace('<span class="k">', "").replace("<mark>", "").replace("</mark>", "")


def test_hostile_text_of_every_kind_is_inert(
    alice: User, session: Session, page: Callable[..., str]
) -> None:
    bad = "<script>alert(1)</script><img src=x onerror=alert(1)>"
    story = Story(session, alice)
    story.ask(bad)
    story.answer()
    story.text(f"{bad}\n\n[x](javascript:alert(1))\n\n```{bad}\n{bad}\n```", reasoning=True)
    story.text(f"{bad} [x](javascript:alert(1))")
    story.done("read", {"filePath": bad}, bad, display={"type": "file", "text": bad})
    story.done("edit", {"filePath": bad}, bad, diff=f"--- a\n+++ b\n@@ -1 +1 @@\n-{bad}\n+{bad}\n")
    story.done("bash", {"command": bad, "description": bad}, bad, output=f"\x1b[31m{bad}")
    story.done(bad, {bad: bad}, bad)
    story.running("bash", {"command": bad}, output=bad)
    story.waits(bad)
    prompt(alice, session, bad, delivery="queue")
    html = page("?panel=changes")
    assert "<script>" not in html
    assert "<img" not in html
    assert 'href="javascript' not in html
    assert "alert(1)" in html


def test_bodies_are_fetched_whole_on_demand(
    alice: User, session: Session, page: Callable[..., str]
) -> None:
    story = Story(session, alice)
    story.ask("hi")
    story.answer()
    output = "".join(f"line {n}.\n" for n in range(100))
    shell = story.done("bash", {"command": "make"}, output, output=output)
    text = "\n".join(f"row {n}." for n in range(50))
    read = story.done("read", {"filePath": "a.txt"}, "", display={"type": "file", "text": text})
    html = page()
    assert "line 99." in html
    assert "line 59." not in html
    assert "Show 60 earlier lines" in html
    assert "row 1." not in html
    assert "line 0." in page(f"/part/{shell}/body", **{"HX-Request": "true"})
    assert "row 49." in page(f"/part/{read}/body")


def test_an_interrupted_answer_says_so_and_keeps_its_text(
    alice: User, session: Session, page: Callable[..., str]
) -> None:
    story = Story(session, alice)
    story.ask("hi")
    message = story.answer()
    story.text("half of it")
    error = {"name": "MessageAbortedError", "data": {"message": "Stopped by Bob"}}
    story.answer(id=message, error=error)
    html = page()
    assert "half of it" in html
    assert "Stopped by Bob" in html


def test_the_rail_groups_by_what_needs_somebody(
    client_for: ClientFor, alice: User, bob: User, project: Project
) -> None:
    asks = Story(make_session(alice, project, title="Asks something"), alice)
    asks.ask("hi")
    asks.answer()
    asks.waits("make")
    Story(make_session(alice, project, title="Still running"), alice).ask("hi")
    make_session(bob, project, title="Idle one")
    html = client_for(alice).get("/t/acme/rail").content.decode()
    order = [
        html.index(text) for text in ("Needs you", "Asks something", "Running", "Still", "Today")
    ]
    assert order == sorted(order)
    assert "Permission: make" in html
    mine = client_for(bob).get("/t/acme/rail?who=mine").content.decode()
    assert "Idle one" in mine
    assert "Asks something" not in mine
    found = client_for(alice).get("/t/acme/rail?text=STILL").content.decode()
    assert "Still running" in found
    assert "Idle one" not in found


def test_a_team_without_projects_is_led_to_make_one(
    client_for: ClientFor, team: Team, alice: User
) -> None:
    html = client_for(alice).get("/t/acme/").content.decode()
    assert 'href="/t/acme/p/new"' in html
    assert 'id="composer"' not in html


def test_parts_and_bodies_of_other_sessions_are_not_found(
    client_for: ClientFor, alice: User, session: Session, project: Project
) -> None:
    story = Story(make_session(alice, project), alice)
    story.ask("hi")
    story.answer()
    part = story.done("read", {"filePath": "a"}, "x")
    client = client_for(alice)
    for path in (f"part/{part}", f"part/{part}/body", f"part/{new_id('prt')}"):
        assert client.get(f"/t/acme/s/{session.pk}/{path}").status_code == 404
