from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from sessions.models import ServerProcess, State, WaitsFor
from teams.models import Role, Team, User
from tests.factories import add_member, make_usage
from tests.opencode_web.ops.conftest import Turn, make_process

pytestmark = pytest.mark.django_db
PAGES = (
    *("/ops/", "/ops/workers", "/ops/turns", "/ops/queues"),
    *(
        "/ops/events",
        "/ops/health",
        "/ops/audit",
        "/ops/folders",
        "/ops/addresses",
        "/ops/emergency",
    ),
)


def text_of(client: Client, path: str) -> str:
    response = client.get(path)
    assert response.status_code == 200
    return response.content.decode()


def ids(client: Client, query: str) -> set[str]:
    page = client.get(f"/ops/turns{query}").context["page"]
    return {turn.id for turn in page.turns}


@pytest.mark.parametrize("path", PAGES)
def test_it_does_not_exist_for_who_is_no_operator(path: str, client: Client, alice: User) -> None:
    assert client.get(path)["Location"] == f"/login?next={path}"
    client.force_login(alice)
    assert client.get(path).status_code == 404


@pytest.mark.parametrize("path", PAGES)
def test_an_operator_is_told_of_no_teams_content(path: str, console: Client, turn: Turn) -> None:
    turn(worker="host:1", silent_s=90)
    assert "Secret plans" not in text_of(console, path)


def test_turns_are_told_apart(console: Client, turn: Turn) -> None:
    moves, stuck = turn(worker="host:1").pk, turn(worker="host:1", silent_s=61).pk
    queued, asks = turn(silent_s=90).pk, turn(State.WAITING, silent_s=90).pk
    retries = turn(waits_for=WaitsFor.RETRY).pk
    unpaid = turn(waits_for=WaitsFor.FUNDS).pk
    turn(State.IDLE)

    assert ids(console, "") == {moves, stuck, queued, asks, retries, unpaid}
    assert ids(console, "?state=running") == {moves, stuck}
    assert ids(console, "?state=stuck") == {stuck}
    assert ids(console, "?state=queued") == {queued}
    assert ids(console, "?state=waiting") == {asks}
    assert ids(console, "?state=paused") == {retries, unpaid}
    assert ids(console, "?state=nonsense&page=x") == ids(console, "")


def test_a_turn_whose_text_grows_is_not_stuck(
    console: Client, turn: Turn, worker: ServerProcess
) -> None:
    session = turn(worker=worker.name, silent_s=600)
    assert ids(console, "?state=stuck") == {session.pk}
    worker.growing = [session.pk]
    worker.save()
    assert ids(console, "?state=stuck") == set()
    worker.seen_at -= timedelta(minutes=1)
    worker.save()
    assert ids(console, "?state=stuck") == {session.pk}


def test_a_session_is_opened_by_members_of_its_team_only(
    console: Client, turn: Turn, root: User, team: Team
) -> None:
    link = f"/t/acme/s/{turn().pk}"
    assert link not in text_of(console, "/ops/turns")
    membership = add_member(team, root, Role.BILLING)
    assert link not in text_of(console, "/ops/turns")
    membership.role = Role.VIEWER
    membership.save()
    assert link in text_of(console, "/ops/turns")


def test_the_turns_of_one_worker(console: Client, turn: Turn) -> None:
    one = turn(worker="host:1")
    turn(worker="host:2")
    assert ids(console, "?worker=host:1") == {one.pk}


def test_turns_have_pages(console: Client, turn: Turn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("opencode_web.ops.turns.PAGE_SIZE", 2)
    made = [turn(silent_s=age).pk for age in (30, 20, 10)]
    first = console.get("/ops/turns?state=queued").context["page"]
    assert [one.id for one in first.turns] == made[:2]
    assert (first.previous, first.next) == ("", "/ops/turns?state=queued&page=2")
    assert ids(console, "?state=queued&page=2") == {made[2]}


def test_the_overview_counts(
    console: Client, turn: Turn, worker: ServerProcess, team: Team, alice: User
) -> None:
    turn(worker=worker.name, silent_s=90)
    turn(silent_s=40)
    turn(State.WAITING)
    make_process("host:9", ServerProcess.Kind.WEB)
    make_process("host:8", seen_s=60)
    make_usage(team, alice, cost=Decimal("1.25"))
    make_usage(team, alice, cost=Decimal(9), time=timezone.now() - timedelta(days=2))
    shown = console.get("/ops/").context["overview"]
    counts = shown.counts
    assert (counts.running, counts.queued, counts.stuck, counts.waiting) == (1, 1, 1, 1)
    assert (shown.sockets, shown.spend, shown.answers, shown.workers) == (6, Decimal("1.25"), 1, 1)
    assert shown.is_late
    assert 40 <= shown.queued_s < 50


def test_the_overview_says_when_nobody_takes_up_sessions(
    console: Client, worker: ServerProcess
) -> None:
    sentence = "No worker accepts sessions"
    assert sentence not in text_of(console, "/ops/")
    worker.drain_since = timezone.now()
    worker.save()
    assert sentence in text_of(console, "/ops/")


def test_workers_have_states(console: Client, turn: Turn) -> None:
    now = timezone.now()
    make_process("a:working")
    turn(worker="a:working")
    make_process("b:idle")
    for name, heard in (("c:asked", False), ("d:drained", True), ("e:draining", True)):
        row = make_process(name)
        row.drain_since, row.drain_heard = now, heard
        row.save()
    turn(worker="e:draining")
    make_process("f:gone", seen_s=60)
    make_process("g:serving", ServerProcess.Kind.WEB)
    make_process("h:forgotten", seen_s=3000)
    shown = console.get("/ops/workers").context["processes"]
    assert {f"{one.row.name}={one.state}" for one in shown} == {
        *("a:working=working", "b:idle=idle", "c:asked=asked", "d:drained=drained"),
        *("e:draining=draining", "f:gone=gone", "g:serving=serving"),
    }


def test_a_worker_names_some_of_its_turns(console: Client, turn: Turn) -> None:
    make_process("a:busy")
    for age in range(7):
        turn(worker="a:busy", silent_s=age)
    (shown,) = console.get("/ops/workers").context["processes"]
    assert (len(shown.turns), shown.others) == (5, 2)
    assert "2 more turns" in text_of(console, "/ops/workers")


def test_queues_say_how_long_the_oldest_waits(
    console: Client, turn: Turn, team: Team, alice: User
) -> None:
    session = turn(silent_s=45)
    make_usage(team, alice, project=session.project_id)
    queues = {one.id: one for one in console.get("/ops/queues").context["queues"]}
    host = queues["host-local"]
    assert (host.depth, host.rate, host.is_late) == (1, 1, True)
    assert host.oldest_s is not None
    assert 45 <= host.oldest_s < 55
    assert queues["webhooks"].depth == 0
    assert queues["permissions"].oldest_s is None


@pytest.mark.parametrize("path", PAGES)
def test_the_number_of_queries_does_not_depend_on_the_rows(
    path: str, console: Client, turn: Turn, django_assert_max_num_queries: Any
) -> None:
    for number in range(8):
        make_process(f"host:{number}")
        turn(worker=f"host:{number}", silent_s=90)
        turn()
    fragment = {"HX-Request": "true"}
    console.get(path, headers=fragment)
    # Three of them are about who asks.
    with django_assert_max_num_queries(13):
        answer = console.get(path, headers=fragment)
    # The audit log does not move on by itself.
    assert ("<html" in answer.content.decode()) == (path == "/ops/audit")


def test_the_menu_of_operators_has_the_console(console: Client, client: Client, bob: User) -> None:
    assert "/ops/" in text_of(console, "/me/profile")
    client.force_login(bob)
    assert "/ops/" not in text_of(client, "/me/profile")


def test_the_palette_of_operators_has_the_console(
    console: Client, client: Client, root: User, bob: User, team: Team
) -> None:
    add_member(team, root, Role.VIEWER)
    assert 'href="/ops/"' in text_of(console, "/t/acme/search?q=operations")
    client.force_login(bob)
    assert 'href="/ops/"' not in text_of(client, "/t/acme/search?q=operations")


def test_what_nobody_knows_the_price_of_is_unknown(
    console: Client, alice: User, team: Team
) -> None:
    make_usage(team, alice, basis="unpriced")
    page = console.get("/ops/").content.decode()
    assert '<dd class="usage-value">unknown</dd>' in page
    assert "1 call without a price" in page
